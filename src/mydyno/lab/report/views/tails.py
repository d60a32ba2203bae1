"""Which percentiles are shown of a run."""

from __future__ import annotations

from mydyno.lab.analysis.metrics import FSYNC_P99, LATENCY_P95, LATENCY_P99, READ_P99, WRITE_P99, Metric
from mydyno.lab.analysis.primary import tail_latency
from mydyno.lab.report.evidence import Evidence


def tails(evidence: Evidence) -> tuple[Metric, ...]:
    """Of I/Os each kind that there is, since a write that a cache takes is no read; else of all together."""
    kinds = {each.kind for trial in evidence.valid for phase in trial.phases for each in phase.statements}
    of_kinds = (("read", READ_P99), ("write", WRITE_P99), ("fsync", FSYNC_P99))
    found = tuple(metric for kind, metric in of_kinds if kind in kinds)
    return found if evidence.experiment.work == "ios" and found else (tail_latency(evidence.trials),)


def latencies(evidence: Evidence) -> tuple[Metric, ...]:
    """Those that the report draws."""
    return tails(evidence) if evidence.experiment.work == "ios" else (LATENCY_P95, LATENCY_P99)
