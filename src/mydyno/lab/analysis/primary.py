"""Which number an experiment is about when nobody says: that of its first comparison."""

from __future__ import annotations

from collections.abc import Sequence

from mydyno.lab.analysis.metrics import LATENCY_P95, LATENCY_P99, RUNNING_TIME, Metric
from mydyno.lab.analysis.places import by_program
from mydyno.lab.analysis.words import words_of
from mydyno.lab.results.records import TrialRecord, Work


def primary_metric(trials: Sequence[TrialRecord], work: Work) -> Metric:
    """Queries/s, or I/Os per second; but where the load came at a given rate, that rate is no result, and its
    latency is; and where the work is given, it is the time that it takes."""
    if work == "queries" and by_program(trials):
        return RUNNING_TIME
    kinds = {phase.latency_kind for trial in trials for phase in trial.phases}
    return tail_latency(trials) if kinds == {"response"} else words_of(work).rate


def tail_latency(trials: Sequence[TrialRecord]) -> Metric:
    """p99; p95 where more points have that: foreign programs tell fewer percentiles than our engine."""

    def points_with(metric: Metric) -> int:
        return len(
            {
                trial.point_id
                for trial in trials
                if trial.status == "valid" and any(metric.value(phase) is not None for phase in trial.phases)
            }
        )

    return LATENCY_P95 if points_with(LATENCY_P95) > points_with(LATENCY_P99) else LATENCY_P99
