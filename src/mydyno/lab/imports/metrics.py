"""Which metrics a column can be, in which units, and where in a phase each belongs.

The names are those of `analysis.metrics`; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mydyno.lab.results.records import Latency, PhaseRecord

SECONDS: Mapping[str, float] = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
RATES: Mapping[str, float] = {"1/s": 1.0, "1/min": 1 / 60, "1/h": 1 / 3600}

_LATENCIES = {
    "latency_mean": ("latency", "mean_ns"),
    "latency_p50": ("latency", "p50_ns"),
    "latency_p95": ("latency", "p95_ns"),
    "latency_p99": ("latency", "p99_ns"),
    "connect_mean": ("connect", "mean_ns"),
    "connect_p95": ("connect", "p95_ns"),
}
RUNNING_TIME = "running_time"
IOS_PER_SECOND = "ios_per_second"
UNITS: Mapping[str, Mapping[str, float]] = {
    "queries_per_second": RATES,
    "transactions_per_second": RATES,
    IOS_PER_SECOND: RATES,
    RUNNING_TIME: SECONDS,
    **dict.fromkeys(_LATENCIES, SECONDS),
}
"""Metric -> its units, each with how many seconds, or how many a second, one of it is."""


def with_metric(phase: PhaseRecord, name: str, value: float) -> PhaseRecord:
    """`phase` with the metric `name`: seconds of a time, events a second of a rate."""
    if name == RUNNING_TIME:
        return replace(phase, measured_from_s=0.0, measured_to_s=value, ended_s=value)
    if name in _LATENCIES:
        kind, field = _LATENCIES[name]
        latency: Latency = getattr(phase, kind)
        ns = value * 1e9
        number = ns if field == "mean_ns" else round(ns)
        changed = replace(latency, **{field: number})  # type: ignore[arg-type]  # one of two kinds of number
        return replace(phase, latency=changed) if kind == "latency" else replace(phase, connect=changed)
    if name == "transactions_per_second":
        return replace(phase, transactions_per_second=value)
    return replace(phase, queries_per_second=value)
