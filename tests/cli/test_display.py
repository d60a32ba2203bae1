import io

import pytest

from mydyno.cli.display import LiveDisplay, PlainDisplay, describe, sparkline
from mydyno.lab.trial import events

STORY = (
    events.RunStarted(
        experiment="demo", folder="lab/runs/demo", planned=8, completed=1, expected_seconds=200
    ),
    events.TrialStarted(trial="t002", number=2, planned=8, block=1, point="cache = 8", phases=2),
    events.Step("starting the server"),
    events.Step("loading the dataset: rows", 50, 200),
    events.PhaseStarted(0, 40),
    events.Measured(phase=0, connections=40, queries_per_second=41234.5, p95_ns=1_500_000, errors=0),
    events.PhaseFinished(
        phase=0, connections=40, queries_per_second=41000.0, p95_ns=1_400_000, transaction_p95_ns=9_876_000
    ),
    events.TrialFinished(trial="t002", status="invalid", reasons=("3 statements failed",), seconds=21.0),
    events.RunFinished(valid=7, invalid=1),
)


def test_plain_lines_report_the_run_without_the_live_figures() -> None:
    stream = io.StringIO()
    with PlainDisplay(stream) as display:
        for event in STORY:
            display(event)
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("demo: 8 trials, 1 of them measured already, about 3m 20s")
    assert lines[1:4] == [
        "trial 2/8  block 1  cache = 8",
        "  starting the server",
        "     40 connections      41,000 queries/s  transaction p95 9.876 ms",
    ]
    assert lines[4].startswith("  t002 INVALID after 21s: 3 statements failed; about ")
    assert lines[5] == "finished: 7 valid trials, 1 invalid"


def test_the_live_display_shows_phase_figures_and_time_left() -> None:
    from rich.console import Console

    console = Console(file=io.StringIO(), force_terminal=True, width=100, record=True)
    display = LiveDisplay(console)
    for event in STORY[:6]:
        display(event)
    console.print(display._render())
    shown = console.export_text()
    assert "trial 2 of 8 · block 1 · cache = 8" in shown
    assert "phase 1 of 2: 40 connections" in shown
    assert "41,234 queries/s" in shown or "41,235 queries/s" in shown
    assert "statement p95 1.500 ms" in shown
    assert "1/8 trials" in shown
    assert "left" in shown


def test_no_number_of_trials_is_shown_before_the_run_has_said_it() -> None:
    from rich.console import Console

    console = Console(file=io.StringIO(), force_terminal=True, width=100, record=True)
    display = LiveDisplay(console)
    display(events.Step("starting the server"))
    console.print(display._render())
    shown = console.export_text()
    assert "starting the server" in shown
    assert "trials" not in shown


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        (events.Measured(0, 4, 900.0, 420_000, 0, transaction_p95_ns=840_000), "transaction p95 0.840 ms"),
        (events.Measured(0, 4, 900.0, 420_000, 0), "statement p95 0.420 ms"),
        (events.Measured(0, 4, 900.0, 420_000, 0, work="ios"), "IOPS · p95 0.420 ms"),
        (events.Measured(0, 4, 900.0, None, 0), "p95 –"),
    ],
)
def test_the_live_p95_is_of_transactions_where_they_are_timed_and_says_of_what_it_is(event, wanted) -> None:
    from rich.console import Console

    console = Console(file=io.StringIO(), force_terminal=True, width=100, record=True)
    display = LiveDisplay(console)
    display(event)
    console.print(display._render())
    assert wanted in console.export_text()


def test_an_interrupted_run_says_what_is_safe_and_how_to_go_on() -> None:
    result = describe(events.RunInterrupted(completed=3, planned=8))
    assert result is not None
    assert "3 of 8 trials are safe" in result
    assert "the same command goes on" in result


@pytest.mark.parametrize(
    ("values", "shown"), [([], ""), ([0.0], "▁"), ([1.0, 2.0, 4.0], "▃▅█"), ([7.0, 0.0], "█▁")]
)
def test_a_sparkline_is_scaled_to_its_largest_value(values: list[float], shown: str) -> None:
    assert sparkline(values) == shown


def test_the_time_left_is_given_once_the_trials_that_ran_together_have_ended() -> None:
    stream = io.StringIO()
    with PlainDisplay(stream) as display:
        display(STORY[0])
        for number in (1, 2):
            display(events.TrialStarted(f"t00{number}", number, 8, 1, "cache = 8", 1))
        for number in (1, 2):
            display(events.TrialFinished(trial=f"t00{number}", status="valid", reasons=(), seconds=4.0))
    first, second = [line for line in stream.getvalue().splitlines() if " valid" in line]
    assert "left" not in first
    assert "left" in second


def test_the_last_trial_has_no_time_left_and_numbers_agree_with_their_nouns() -> None:
    stream = io.StringIO()
    with PlainDisplay(stream) as display:
        display(events.RunStarted("demo", "lab/runs/demo", 1, 0, 20.0))
        display(events.TrialFinished("t001", "valid", (), 21.0))
        display(events.RunFinished(1, 0))
    text = stream.getvalue()
    assert "demo: 1 trial, about 20s" in text
    assert "left" not in text
    assert "finished: 1 valid trial, 0 invalid" in text


def test_every_line_of_a_fleet_names_its_host_and_controls_count_as_no_trial() -> None:
    stream = io.StringIO()
    show = PlainDisplay(stream)
    started = events.TrialStarted("db1-aa1", 1, 2, -1, "cache = 8", 1, control=True, host="db1")
    for event in (
        started,
        events.TrialFinished("db1-aa1", "valid", (), 3.0, control=True, host="db1"),
        events.HostsCompared("A/A over 2 hosts: equal"),
        events.TrialStarted("t001", 1, 4, 1, "cache = 8", 1, host="db2"),
        events.HostLost("the channel broke", "t001", 1, host="db2"),
        events.HostReturned(host="db2"),
    ):
        show(event)
    assert stream.getvalue().splitlines() == [
        "db1: A/A over hosts 1/2  cache = 8",
        "db1: db1-aa1 valid, 3s",
        "A/A over 2 hosts: equal",
        "db2: trial 1/4  block 1  cache = 8",
        "db2: LOST, 1 host left; t001 is measured again: the channel broke",
        "db2: answers again",
    ]
