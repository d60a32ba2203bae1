"""Phases with the rates and latencies of their steady parts, from their intervals."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from lab.results.builders import phase
from lab.sampling.builders import histogram, interval
from mydyno.lab.load.messages import Interval
from mydyno.lab.results.records import PhaseRecord
from mydyno.lab.sampling.histograms import merged
from mydyno.lab.trial.measurement import Judged, judge_phases

NOTHING = pl.DataFrame()


def intervals(queries: list[int], *, with_latency: bool = True, warmup: int = 0) -> list[Interval]:
    """Intervals of 100 ms from 1 s on; a query takes as much longer as there are fewer."""
    return [
        interval(1 + at / 10, 1 + (at + 1) / 10, count).model_copy(
            update={
                "warmup": at < warmup,
                "histogram": histogram(1_000_000_000 // count, times=count)
                if with_latency and count
                else None,
            }
        )
        for at, count in enumerate(queries)
    ]


def measured(parts: list[Interval]) -> PhaseRecord:
    of_it = [one for one in parts if not one.warmup]
    return replace(
        phase(0, 10, 1.0),
        measured_from_s=of_it[0].from_ns / 1e9,
        measured_to_s=of_it[-1].to_ns / 1e9,
        aborted=None,
    )


def judge(parts: list[Interval], record: PhaseRecord | None = None, *, timed: bool = True) -> Judged:
    return judge_phases(
        [record or measured(parts)],
        parts,
        NOTHING,
        {"0": {"queries": "whole", "connects": "kept"}},
        timed=timed,
    )


STEADY = [100, 101, 99, 100] * 15
WARMING = [20, 40, 60, 80] * 3 + [100, 101, 99, 100] * 22


def test_a_phase_that_is_steady_from_its_start_keeps_every_number() -> None:
    parts = intervals(STEADY)
    record = measured(parts)
    judged = judge(parts)
    assert judged.phases == (replace(record, steady_from_s=record.measured_from_s),)
    assert judged.histograms == {"0": {"queries": "whole", "connects": "kept"}}
    assert judged.remarks == ()


def test_rate_and_latency_are_those_after_the_warm_up_and_counts_are_of_all() -> None:
    parts = intervals(WARMING)
    judged = judge(parts)
    [found] = judged.phases
    assert found.steady_from_s is not None
    first = round((found.steady_from_s - 1) * 10)
    assert 10 <= first <= 20
    steady = merged(one.histogram for one in parts[first:] if one.histogram)
    assert steady is not None
    assert found.latency == steady.latency()
    assert found.latency.p99_ns == pytest.approx(10_101_010, rel=0.001)
    assert found.queries_per_second == pytest.approx(1000, rel=0.01)
    assert found.transactions_per_second == pytest.approx(500, rel=0.01)
    assert found.queries == measured(parts).queries
    assert judged.histograms == {"0": {"queries": steady.encoded(), "connects": "kept"}}
    [remark] = judged.remarks
    assert (remark.check, remark.phase) == ("steady", 0)
    assert remark.message == f"the first {first / 10:.1f} of 10.0 s are warm-up, excluded"


def test_the_warm_up_that_was_asked_for_is_not_looked_at() -> None:
    judged = judge(intervals([10] * 20 + STEADY, warmup=20))
    assert judged.remarks == ()
    assert judged.phases[0].steady_from_s == 3.0


def test_a_load_that_reports_no_latencies_of_parts_keeps_its_warm_up_and_says_so() -> None:
    parts = intervals(WARMING, with_latency=False)
    judged = judge(parts)
    assert judged.phases == (measured(parts),)
    assert "they are counted, since the load reports latencies" in judged.remarks[0].message


def test_a_phase_that_changes_in_its_middle_never_became_steady_and_counts_whole() -> None:
    parts = intervals([100, 101, 99, 100] * 15 + [50, 51, 49, 50] * 10)
    judged = judge(parts)
    assert judged.phases == (measured(parts),)
    assert judged.remarks[0].message.startswith("never became steady in 10.0 s")


def test_a_drift_is_reported_with_its_size() -> None:
    parts = intervals([round(1000 - 2.5 * at + 8 * (at % 3)) for at in range(100)])
    [drifting] = [remark for remark in judge(parts).remarks if remark.check == "drift"]
    assert drifting.message == "throughput falls by 25% over 10.0 s"


def test_stalls_with_a_rhythm_are_reported_with_period_and_number() -> None:
    judged = judge(intervals([5 if at % 10 == 7 else 100 + at % 3 for at in range(80)]))
    [remark] = judged.remarks
    assert remark.message == "stalls every 1 s (8 times), the samples do not show why"


@pytest.mark.parametrize(
    "queries",
    [[], [100], [0] * 100, [100] * 100, [100] * 20],
    ids=["none", "one", "zeros", "constant", "few"],
)
def test_odd_phases_keep_their_numbers(queries: list[int]) -> None:
    parts = intervals(queries)
    record = measured(parts) if parts else phase(0, 10, 1.0)
    judged = judge(parts, record)
    assert replace(judged.phases[0], steady_from_s=None) == record
    assert judged.remarks == ()


def test_a_clock_that_stands_still_leaves_a_phase_unjudged() -> None:
    parts = intervals(STEADY)
    parts[30] = parts[30].model_copy(update={"to_ns": parts[30].from_ns})
    judged = judge(parts)
    assert (judged.phases[0].steady_from_s, judged.remarks) == (None, ())


def test_given_work_programs_and_phases_that_ended_early_are_not_judged() -> None:
    parts = intervals(WARMING)
    record = measured(parts)
    assert judge(parts, timed=False).phases == (record,)
    for other in (replace(record, label="insert"), replace(record, aborted="the server is gone")):
        assert judge(parts, other).phases == (other,)
        assert judge(parts, other).remarks == ()
