"""Reading what sysbench 1.0.20 really printed (golden/, recorded by record_golden.py)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mydyno.core.errors import EngineError
from mydyno.lab.load.external.sysbench_report import (
    CheckpointBegins,
    ErrorLine,
    IntervalLine,
    Item,
    QueueLine,
    Report,
    ReportReader,
    Started,
)

GOLDEN = Path(__file__).parent / "golden"
WHOLE = ["point-select", "warm-up", "rate", "events", "nothing-done", "ignored-errors"]


def lines(name: str) -> list[str]:
    return (GOLDEN / f"sysbench-1.0.20-{name}.txt").read_text().splitlines()


def read(text: list[str]) -> list[Item]:
    reader = ReportReader()
    return [item for line in text if (item := reader.read(line)) is not None]


def reports(name: str) -> list[Report]:
    return [item for item in read(lines(name)) if isinstance(item, Report)]


@pytest.mark.parametrize("name", WHOLE)
def test_every_report_adds_up(name: str) -> None:
    for report in reports(name):
        assert report.read + report.write + report.other == report.queries
        low, high = report.latency.min_ms * report.events, report.latency.max_ms * report.events
        assert low <= report.latency.sum_ms <= high


@pytest.mark.parametrize("name", WHOLE)
def test_the_histogram_holds_every_event_and_gives_the_percentile_that_sysbench_prints(name: str) -> None:
    latency = reports(name)[-1].latency
    assert sum(count for _, count in latency.buckets) == reports(name)[-1].events
    if latency.buckets:
        [printed] = [line.split() for line in lines(name)[-20:] if "th percentile:" in line]
        share = int(printed[0].removesuffix("th")) / 100
        assert latency.at(share) == pytest.approx(float(printed[-1]), abs=0.0051)


def test_a_report_is_read_to_its_last_figure() -> None:
    text = lines("events")
    [report] = reports("events")
    assert (report.events, report.read, report.write, report.other, report.queries) == (
        *(1000, 0),
        *(report.write, report.other, report.write + report.other),
    )
    # Six statements an event, and those of events that met a deadlock and began again.
    assert report.queries >= 6 * 1000
    assert f"{report.total_time_s:.4f}s" in "\n".join(text)
    assert f"{report.latency.max_ms:.2f}" in "\n".join(text)


def test_the_rates_are_over_the_time_that_the_report_states() -> None:
    [report] = reports("point-select")
    assert report.seconds == pytest.approx(report.total_time_s, rel=0.01)
    assert report.queries / (report.seconds or 0) == pytest.approx(report.queries_per_second, rel=1e-9)
    assert reports("nothing-done")[0].seconds is None


def test_a_checkpoint_parts_the_warm_up_from_the_rest() -> None:
    items = read(lines("warm-up"))
    kinds = [type(item) for item in items]
    assert kinds.index(Started) < kinds.index(CheckpointBegins) < kinds.index(Report)
    warm, measured = reports("warm-up")
    assert warm.latency.buckets == ()
    assert warm.total_time_s == pytest.approx(2.0, abs=0.1)
    assert measured.total_time_s == pytest.approx(4.0, abs=0.1)
    assert measured.seconds == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("name", ["warm-up", "rate"])
def test_the_lines_of_each_second_sum_up_to_the_reports(name: str) -> None:
    seconds = [item for item in read(lines(name)) if isinstance(item, IntervalLine)]
    assert [item.second for item in seconds] == list(range(1, len(seconds) + 1))
    result = sum(item.transactions_per_second for item in seconds)
    # The last events end after the last line.
    assert result == pytest.approx(sum(report.events for report in reports(name)), rel=0.01, abs=5)


def test_with_a_rate_the_queue_is_reported_and_the_percentile_is_the_one_asked_for() -> None:
    items = read(lines("rate"))
    assert QueueLine(0, 0) in items
    assert {item.percentile for item in items if isinstance(item, IntervalLine)} == {99}


def test_ignored_errors_are_counted() -> None:
    [report] = reports("ignored-errors")
    assert report.ignored_errors > 0


@pytest.mark.parametrize(
    ("name", "code", "text"),
    [
        ("too-many-connections", 1040, "Too many connections"),
        ("no-table", 1146, "Table 'mysql.sbtest1' doesn't exist"),
        ("duplicate-key", 1062, "Duplicate entry"),
    ],
)
def test_a_fatal_error_has_the_code_and_the_text_of_the_server(name: str, code: int, text: str) -> None:
    items = read(lines(name))
    errors = [item for item in items if isinstance(item, ErrorLine) and item.code is not None]
    assert errors
    assert {error.code for error in errors} == {code}
    assert text in errors[0].text
    assert not any(isinstance(item, Report) for item in items)


def test_a_line_that_was_repeated_counts_as_often() -> None:
    reader = ReportReader()
    reader.read("FATAL: error 1040: Too many connections")
    assert reader.read("(last message repeated 3 times)") == ErrorLine(1040, "Too many connections", 3)


def test_a_run_that_was_cut_off_has_seconds_and_no_report() -> None:
    items = read(lines("cut-off"))
    assert [item.second for item in items if isinstance(item, IntervalLine)] == [1, 2]
    assert not any(isinstance(item, Report) for item in items)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (r"^\[ 1s \] thds: 4 tps: \S+", "[ 1s ] thds: 4 tps: many"),
        (r"^\s+read:\s+\d+", "        read:           some"),
        (r"^    reconnects:.*", "    connects again:  0"),
        (r"^General statistics:", "Throughput:"),
        (r"^\s+[\d.]+ \|\*+ +\d+$", "   1.0 | 7"),
        (r"^\s+\d+th percentile:.*", "         95th percentile:  fast"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_with_its_number(was: str, becomes: str) -> None:
    text = lines("point-select")
    at = next(index for index, line in enumerate(text) if re.search(was, line))
    text[at] = re.sub(was, becomes, text[at])
    if text[at] == "   1.0 | 7":
        text[at] = "   1.0 | seven"
    with pytest.raises(EngineError, match=rf"line {at + 1} {re.escape(repr(text[at]))[:30]}"):
        read(text)


def test_a_report_without_one_of_its_figures_is_refused() -> None:
    text = [line for line in lines("point-select") if "total number of events" not in line]
    with pytest.raises(EngineError, match="ends without events"):
        read(text)


@pytest.mark.parametrize("name", WHOLE)
def test_a_report_may_end_at_any_line_without_an_error(name: str) -> None:
    text = lines(name)
    complete = read(text)
    for end in range(len(text)):
        assert read(text[:end]) == complete[: len(read(text[:end]))]
