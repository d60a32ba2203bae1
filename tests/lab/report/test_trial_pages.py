"""The pages of single trials: what they say, what is drawn on them, and what they cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.report.browser import browser
from lab.report.builders import MemoryRun, one_point_run, sampled, sql_bench_run, thread_cache_run
from lab.report.disks import disks_run
from lab.report.reading import Element, parse
from lab.results.builders import generators_trial
from mydyno.lab.analysis.words import QUERIES
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.html import html
from mydyno.lab.report.trial_data import COUNTED, MACHINE, SPEED, TIME, charts_of, trial_sets
from mydyno.lab.report.trial_tables import (
    busy_table,
    generators_table,
    notes,
    phases_table,
    statements_table,
    time_table,
)
from mydyno.lab.report.views.page import page
from mydyno.lab.report.views.settings import settings_view
from mydyno.lab.report.views.trial_pages import TrialPage, trial_pages
from mydyno.lab.report.views.trial_series import kept_of_phases, points_for, thinned
from mydyno.lab.report.views.trials import trial_table

pytestmark = pytest.mark.usefixtures("checked_charts")


def test_what_each_generator_did_is_a_row_for_each_phase_and_host() -> None:
    run = one_point_run()
    shares = generators_trial().phases[0].shares
    first = run.records[0]
    phases = tuple(replace(phase, shares=shares) for phase in first.phases[:1])
    [shown, *_] = pages(replace(run, records=(replace(first, phases=phases), *run.records[1:])))
    table = generators_table(shown, QUERIES)
    assert table is not None
    assert [row[1:3] for row in table.rows] == [("c1", "5"), ("c2", "5")]
    assert [row[5] for row in table.rows] == ["25.0%", "25.0%"]
    assert [row[6] for row in table.rows] == ["40.0%", "–"]
    assert generators_table(pages(run)[0], QUERIES) is None


def pages(run: MemoryRun) -> tuple[TrialPage, ...]:
    evidence = gather(run)
    return trial_pages(evidence, trial_table(evidence), settings_view(evidence))


def written(run: MemoryRun) -> str:
    """The page with its trials and without its figures."""
    evidence = gather(run)
    view = page(evidence)
    return html(view, (), trial_pages(evidence, view.trials, view.settings))


@pytest.fixture(scope="module")
def run() -> MemoryRun:
    return sampled(thread_cache_run())


@pytest.fixture(scope="module")
def tree(run: MemoryRun) -> Element:
    return parse(written(run))


def test_every_trial_of_the_table_links_to_a_page_of_its_own(tree: Element) -> None:
    links = [link.attributes["href"] for link in tree.by_id("validity").all("a")]
    assert links == [f"#trial-t{number:03d}" for number in range(1, 9)]
    articles = tree.by_id("trials").all("article")
    assert [f"#{article.attributes['id']}" for article in articles] == links


def test_a_trial_links_back_and_to_its_neighbours(tree: Element) -> None:
    ways = [link.attributes["href"] for link in tree.by_id("trial-t002").all("a")]
    assert ways == ["#validity", "#trial-t001", "#trial-t003"]
    assert [link.attributes["href"] for link in tree.by_id("trial-t001").all("a")] == [
        "#validity",
        "#trial-t002",
    ]


def test_pages_are_folded_and_can_be_read_without_script(tree: Element) -> None:
    folded = tree.by_id("trials").all("details", "trial")
    assert len(folded) == 8
    assert all("open" not in one.attributes for one in folded)
    text = tree.by_id("trial-t001").words
    for words in (
        "thread_cache_size",
        "p99.9",
        "Where the time went",
        "not accounted for",
        "10.11.19-MariaDB",
    ):
        assert words in text


def test_an_invalid_trial_says_why_on_its_page(tree: Element) -> None:
    text = tree.by_id("trial-t005").words
    assert "Invalid, and left out of every verdict: connections-reached at 400 connections" in text


def test_a_second_attempt_has_a_page_beside_the_first(run: MemoryRun) -> None:
    again = replace(run.records[4], attempt=2, status="valid", invalidities=())
    anchors = [one.anchor for one in pages(replace(run, records=(*run.records, again)))]
    assert anchors[4:6] == ["trial-t005", "trial-t005.2"]


def test_phases_are_reported_with_their_percentiles_and_without_what_never_happened(run: MemoryRun) -> None:
    table = phases_table(pages(run)[0], gather(run).words)
    assert table.columns == (
        "connections configured", "reached", "queries/s", "measured", "p50", "p95", "p99", "p99.9", "errors",
    )  # fmt: skip
    assert [row[0] for row in table.rows] == ["10", "50", "100", "150", "200", "250", "300", "400"]


def test_the_table_of_time_has_the_shares_that_are_drawn(run: MemoryRun) -> None:
    first, words = pages(run)[0], gather(run).words
    table = time_table(first, words)
    assert table is not None
    assert table.columns[:2] == ("part of the time", "10 connections")
    shares = {row[0].strip(): row[1] for row in table.rows}
    drawn = trial_sets(first, words, ())["time"]
    assert drawn["name"][0] == "10 connections × 5 s"
    widths = [to - left for left, to in zip(drawn["from"], drawn["to"], strict=True)]  # type: ignore[operator]
    assert widths[0] == 1
    assert shares["statements"] == f"{widths[1] * 100:.1f}%"


def test_cpus_that_were_full_are_reported_beside_what_nobody_timed(run: MemoryRun) -> None:
    words = gather(run).words
    (line,) = notes(pages(run)[0], words)
    assert line.startswith(
        "The machine's CPUs were over 90% busy: much of the time that is not accounted for"
    )
    busy = busy_table(pages(run)[0], words)
    assert busy is not None
    assert {row[0]: row[1] for row in busy.rows}["disk vda busy"] == "25.0%"


def test_a_trial_without_series_says_so_and_keeps_its_numbers() -> None:
    bare = replace(thread_cache_run(), sample_frames={}, interval_frames={})
    assert charts_of(pages(bare)[0]) == (TIME,)
    text = parse(written(bare)).by_id("trial-t001").words
    assert "No series of this trial is in the lab" in text
    assert "Phases" in text


def test_a_server_that_could_not_be_seen_has_no_cpu_and_no_machine() -> None:
    seen = thread_cache_run()
    blind = replace(
        seen,
        sample_frames={name: f.select("t_s", "status.Questions") for name, f in seen.sample_frames.items()},
    )
    first, words = pages(blind)[0], gather(blind).words
    table = time_table(first, words)
    assert table is not None
    assert [row[0].strip() for row in table.rows] == ["statements", "client"]
    assert busy_table(first, words) is None
    assert MACHINE not in charts_of(first)


def test_test_programs_are_phases_with_names() -> None:
    run = sql_bench_run(repeats=1)
    table = phases_table(pages(run)[0], gather(run).words)
    assert table.columns[0] == "test program"
    assert table.rows[0][0] == "alter-table"
    assert "alter-table: 1 connection" in str(
        trial_sets(pages(run)[0], gather(run).words, ())["time"]["name"]
    )


def test_a_disk_is_reported_in_reads_writes_and_queue_depth() -> None:
    run = disks_run()
    first, words = pages(run)[0], gather(run).words
    table = time_table(first, words)
    assert table is not None
    assert {row[0] for row in table.rows} <= {"reads", "writes", "fsyncs", "client"}
    text = parse(written(run)).by_id(first.anchor).words
    assert "By kind of I/O" in text


def test_kinds_of_statement_have_their_share_of_the_time(run: MemoryRun) -> None:
    first, words = pages(run)[0], gather(run).words
    table = statements_table(first, words, all_phases=True)
    fewer = statements_table(first, words, all_phases=False)
    assert table is not None
    assert fewer is not None
    assert table.columns[:4] == ("connections", "kind", "count", "of the time")
    assert (len(table.rows), len(fewer.rows)) == (8, 1)


@given(st.lists(st.floats(0, 1e9, allow_nan=False), min_size=1, max_size=400), st.integers(4, 60))
def test_thinning_keeps_every_extreme_and_the_order(values: list[float], most: int) -> None:
    line = [(float(at), value) for at, value in enumerate(values)]
    kept = thinned((np.arange(len(values), dtype=float), np.array(values)), most)
    assert len(kept) <= most or len(kept) == len(line)
    assert list(kept) == sorted(kept)
    assert set(kept) <= set(line)
    for extreme in (min, max):
        assert extreme(value for _, value in kept) == extreme(values)


def test_thinning_intervals_keeps_a_spike_of_either_and_the_edges_of_phases() -> None:
    phase, rate, p99 = np.arange(600.0) // 300, np.full(600, 1000.0), np.full(600, 2.0)
    p99[123], rate[456] = 900.0, 3.0
    kept = kept_of_phases(phase, [rate, p99], 24)
    assert len(kept) <= 24 + 4
    assert {0, 123, 299, 300, 456, 599} <= set(kept)


def test_many_trials_share_a_budget_of_points() -> None:
    assert points_for(8) > points_for(100) > points_for(400) == points_for(10_000)


def test_names_and_messages_with_markup_in_them_are_inert(run: MemoryRun) -> None:
    bad = "<script>alert(1)</script>"
    evil = replace(
        run.records[0],
        server_version=bad,
        phases=tuple(replace(one, label=bad) for one in run.records[0].phases[:1]),
    )
    text = written(replace(run, records=(evil, *run.records[1:])))
    assert "<script>alert" not in text


@pytest.mark.slow
def test_two_hundred_trials_take_under_three_megabytes() -> None:
    evidence = gather(sampled(thread_cache_run(repeats=100, invalid=())))
    view = page(evidence)
    made = trial_pages(evidence, view.trials, view.settings)
    assert set(charts_of(made[0])) == {TIME, SPEED, COUNTED, MACHINE}
    assert len(html(view, (), made).encode()) - len(html(view, ()).encode()) < 3_000_000


def test_a_link_opens_a_trials_page_which_then_draws(
    run: MemoryRun, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(written(run))
    with browser() as chromium, chromium.page() as shown:
        shown.open(path)
        assert shown.ask("document.querySelectorAll('.is-live').length") == 0
        shown.ask("document.querySelector('a[href=\"#trial-t003\"]').click()")
        shown.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert shown.ask("document.getElementById('trial-t003').closest('details').open") is True
        assert shown.ask("document.activeElement.id") == "trial-t003"
        shown.draw_all()
        drawn = "[...document.querySelectorAll('.is-live')].map((box) => box.dataset.chart).sort().join(' ')"
        assert shown.ask(drawn) == " ".join(sorted([TIME, SPEED, COUNTED, MACHINE]))
        bars = "document.querySelectorAll('#trial-t003 [data-chart=trial-time] .live svg path').length"
        assert shown.ask(bars) >= 3 * 8
        assert shown.messages() == []


def test_one_point_alone_has_pages_too() -> None:
    assert [one.settings for one in pages(one_point_run())] == [(), (), ()]
