"""What the report says of steadiness, and the distribution of a point over its trials."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.report.builders import MemoryRun, thread_cache_run
from lab.sampling.builders import histogram
from mydyno.lab.report.csv import points_frame, pooled
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.views.method import method
from mydyno.lab.report.views.overview import overall_rate
from mydyno.lab.results.records import PhaseRecord


def judged(run: MemoryRun, *, cut: int) -> MemoryRun:
    """Every phase steady from its start, but the first of so many trials, of which some was left out."""

    def steady(phase: PhaseRecord, late: bool) -> PhaseRecord:
        assert phase.measured_from_s is not None
        return replace(phase, steady_from_s=phase.measured_from_s + (1.0 if late else 0.0))

    return replace(
        run,
        records=tuple(
            replace(
                trial,
                phases=tuple(steady(phase, at < cut and not phase.index) for phase in trial.phases),
            )
            for at, trial in enumerate(run.records)
        ),
    )


def test_the_method_reports_how_many_phases_were_steady_and_how_many_were_cut() -> None:
    run = judged(thread_cache_run(repeats=3, invalid=()), cut=2)
    phases = sum(len(trial.phases) for trial in run.records)
    assert method(gather(run)).steady == (
        f"{phases} of {phases} phases are steady (MSER-5); the beginning of 2 of them was left "
        "out as warm-up.",
    )
    assert "left out" not in method(gather(judged(run, cut=0))).steady[0]


def test_that_nothing_was_judged_is_said() -> None:
    assert method(gather(thread_cache_run(invalid=()))).steady[0].startswith("Steadiness was not judged")


def test_a_drift_over_the_run_is_reported_with_its_size_and_no_drift_is_not() -> None:
    run = thread_cache_run(repeats=8, invalid=())
    slower = replace(
        run,
        records=tuple(
            replace(
                trial,
                phases=tuple(
                    replace(phase, queries_per_second=(phase.queries_per_second or 0) * 0.98**trial.index)
                    for phase in trial.phases
                ),
            )
            for trial in run.records
        ),
    )
    [drift] = [each for each in method(gather(slower)).remarks if "from the first trial to the last" in each]
    assert drift.startswith("The queries per second fell by 2")
    assert not any("first trial" in each for each in method(gather(run)).remarks)


def test_percentiles_of_a_point_come_from_all_queries_of_its_trials() -> None:
    run = thread_cache_run(repeats=3, invalid=())
    first = run.records[0]
    own = [trial.trial_id for trial in run.records if trial.point_id == first.point_id]
    # Nine of ten queries in two trials, one in ten in the third: the mean of their p99 would be 4 ms.
    latencies = dict(zip(own, [(1_000_000, 450), (1_000_000, 450), (10_000_000, 100)], strict=True))
    result = {
        trial: {str(phase.index): {"queries": histogram(of[0], times=of[1])} for phase in first.phases}
        for trial, of in latencies.items()
    }
    evidence = gather(replace(run, encoded_histograms=result))
    place = (first.point_id, first.phases[0].connections_asked)
    found = pooled(evidence)[place]
    assert found.count == 1000
    assert found.p50_ns == pytest.approx(1_000_000, rel=0.001)
    assert found.p95_ns == found.p99_ns == pytest.approx(10_000_000, rel=0.001)
    rows = points_frame(evidence)
    own_rows = rows.filter(rows["point"] == first.point_id)
    assert own_rows["pooled_p50_ns"][0] == found.p50_ns
    others = rows.filter(rows["point"] != first.point_id)
    assert set(others["pooled_p99_ns"]) == {None}


@pytest.mark.parametrize("broken", [{}, {"0": {"queries": "no histogram"}}, {"0": {"connects": "x"}}])
def test_a_trial_whose_histogram_is_lost_leaves_its_point_without_a_distribution(
    broken: dict[str, dict[str, str]],
) -> None:
    run = thread_cache_run(repeats=3, invalid=())
    place = (run.records[0].point_id, run.records[0].phases[0].connections_asked)
    result = {trial.trial_id: {"0": {"queries": histogram(1000, times=5)}} for trial in run.records}
    assert place in pooled(gather(replace(run, encoded_histograms=result)))
    damaged = result | {run.records[0].trial_id: broken}
    assert place not in pooled(gather(replace(run, encoded_histograms=damaged)))


def test_the_rate_of_a_trial_is_that_of_what_counts() -> None:
    [trial, *_] = thread_cache_run(repeats=3, invalid=()).records
    first, *others = trial.phases
    assert first.measured_from_s is not None
    assert first.measured_to_s is not None
    half = (first.measured_to_s - first.measured_from_s) / 2
    cut = replace(first, steady_from_s=first.measured_from_s + half, queries_per_second=5000.0)
    alone = replace(trial, phases=(cut,))
    assert overall_rate(alone) == pytest.approx(5000.0)
    both = overall_rate(replace(trial, phases=(cut, replace(first, queries_per_second=2000.0))))
    assert both == pytest.approx((5000 * half + 2000 * 2 * half) / (3 * half))
    assert overall_rate(replace(trial, phases=(replace(first, queries_per_second=None), *others))) is None
