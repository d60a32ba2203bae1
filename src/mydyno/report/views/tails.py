"""Which percentile can be shown of a run: foreign programs tell fewer than our engine."""

from __future__ import annotations

from mydyno.analysis.metrics import LATENCY_P95, LATENCY_P99, Metric
from mydyno.report.evidence import Evidence


def tail_latency(evidence: Evidence) -> Metric:
    """p99; p95 where more points have that."""

    def points_with(metric: Metric) -> int:
        return len(
            {
                trial.point_id
                for trial in evidence.valid
                if any(metric.value(phase) is not None for phase in trial.phases)
            }
        )

    return LATENCY_P95 if points_with(LATENCY_P95) > points_with(LATENCY_P99) else LATENCY_P99
