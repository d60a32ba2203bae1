"""The run over time, as values."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from lab.report.builders import MemoryRun, phase, point, thread_cache_run, trial
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.views.overview import MOST_STEPS, most_typical, overview


def intervals(*rows: tuple[int, float, float, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["phase", "from_s", "to_s", "queries"], orient="row")


def run_of(frame: pl.DataFrame, samples: pl.DataFrame | None = None) -> MemoryRun:
    """One trial that started its first phase at 100 s on the engine's clock."""
    base = thread_cache_run(repeats=1, levels=(8,), connections=(10,), invalid=())
    only = trial(0, point("p1", "8"), [phase(0, 10, 1000, started_s=100.0)])
    frames = {only.trial_id: pl.DataFrame() if samples is None else samples}
    return replace(base, records=(only,), interval_frames={only.trial_id: frame}, sample_frames=frames)


def shown_steps(frame: pl.DataFrame) -> list[tuple[float, float, int, float]]:
    (panel,) = overview(gather(run_of(frame))).panels
    assert panel.shown is not None
    return [(s.from_s, s.to_s, s.phase, s.queries_per_second) for s in panel.shown.steps]


def test_seconds_count_from_the_first_phase_and_rates_from_the_interval_itself():
    assert shown_steps(intervals((0, 100.0, 101.0, 500), (0, 101.0, 103.0, 500))) == [
        (0.0, 1.0, 0, 500.0),
        (1.0, 3.0, 0, 250.0),
    ]


def test_a_sliver_at_the_end_of_a_phase_is_joined_to_what_came_before_without_losing_a_query():
    steps = shown_steps(intervals((0, 100.0, 101.0, 500), (0, 101.0, 101.1, 100), (1, 105.0, 106.0, 7)))
    assert steps == [(0.0, pytest.approx(1.1), 0, pytest.approx(600 / 1.1)), (5.0, 6.0, 1, 7.0)]


def test_a_sliver_is_never_joined_across_phases():
    steps = shown_steps(intervals((0, 100.0, 101.0, 500), (1, 101.0, 101.1, 100), (1, 101.1, 102.1, 500)))
    assert [step[2] for step in steps] == [0, 1, 1]


def test_a_long_run_is_coarsened_and_keeps_its_sum_of_queries():
    rows = [(0, 100.0 + i, 101.0 + i, i) for i in range(5000)]
    steps = shown_steps(intervals(*rows))
    assert len(steps) <= MOST_STEPS
    assert sum((to - begin) * rate for begin, to, _, rate in steps) == pytest.approx(sum(range(5000)))


def test_threads_created_counts_from_the_start_and_a_high_water_mark_is_shown_as_it_is():
    samples = pl.DataFrame(
        {
            "t_s": [99.5, 100.5, 101.5],
            "status.Threads_created": [7, 17, 27],
            "status.Max_used_connections": [1, 10, 10],
        }
    )
    (panel,) = overview(gather(run_of(intervals((0, 100.0, 101.0, 5)), samples))).panels
    assert {line.name: line.points for line in panel.counters} == {
        "Threads_created": ((0.5, 10.0), (1.5, 20.0)),
        "Max_used_connections": ((0.5, 10.0), (1.5, 10.0)),
    }


def test_the_bold_trial_is_the_one_nearest_to_the_median_and_the_earlier_of_two():
    of = point("p1", "8")
    rates = [900.0, 1000.0, 1010.0, 2000.0]
    trials = [trial(i, of, [phase(0, 10, rate)]) for i, rate in enumerate(rates)]
    chosen = most_typical(trials)
    assert chosen is not None
    assert chosen.trial_id == "t002"
    assert most_typical([]) is None


def test_invalid_trials_are_not_drawn_beside_valid_ones():
    run = thread_cache_run(invalid=(4,))
    drawn = {
        line.trial_id
        for panel in overview(gather(run)).panels
        for line in (panel.shown, *panel.others)
        if line is not None
    }
    assert drawn == {each.trial_id for each in run.records} - {"t005"}


def test_a_setting_without_a_valid_trial_shows_an_invalid_one_and_says_so():
    run = thread_cache_run(repeats=1, invalid=(0,))
    marks = {panel.shown.trial_id: panel.invalid for panel in overview(gather(run)).panels if panel.shown}
    assert marks == {"t001": True, "t002": False}


def test_the_scales_are_shared_by_all_panels():
    view = overview(gather(thread_cache_run()))
    steps = [
        step for panel in view.panels for line in (panel.shown, *panel.others) if line for step in line.steps
    ]
    assert view.most_queries_per_second == max(step.queries_per_second for step in steps)
    assert view.longest_s == max(step.to_s for step in steps)
    assert view.most_counted == max(v for p in view.panels for c in p.counters for _, v in c.points)


def test_a_run_whose_series_are_lost_has_an_empty_overview():
    run = replace(thread_cache_run(repeats=1), interval_frames={}, sample_frames={})
    view = overview(gather(run))
    assert view.empty
    assert len(view.panels) == 2


def test_of_very_many_trials_as_many_stand_behind_as_can_be_distinguished():
    view = overview(gather(thread_cache_run(repeats=30, connections=(10,), invalid=())))
    for panel in view.panels:
        assert (len(panel.others), panel.not_drawn) == (20, 9)
        assert len({line.trial_id for line in panel.others}) == 20
