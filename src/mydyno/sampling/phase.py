"""A phase as the engine sums it up -> the record that the lab keeps."""

from __future__ import annotations

import math
from collections.abc import Iterable

from mydyno.results.records import Latency, PhaseRecord, StatementRecord
from mydyno.sampling.histogram import Histogram, merge
from mydyno.sampling.readings import HistogramReading, PhaseEndReading

_QUANTILES = {"p50_ns": 0.5, "p75_ns": 0.75, "p90_ns": 0.9, "p95_ns": 0.95, "p99_ns": 0.99, "p999_ns": 0.999}
_NS = 1e9


def phase_record(end: PhaseEndReading) -> PhaseRecord:
    """The record of one phase. Rates are over the measured window; None when there was none."""
    queries = sum(statement.count for statement in end.statements.values())
    seconds = None
    if end.measured_from_ns is not None and end.measured_to_ns is not None:
        seconds = (end.measured_to_ns - end.measured_from_ns) / _NS
    return PhaseRecord(
        index=end.phase,
        connections_asked=end.connections_asked,
        connections_reached=end.connections_reached,
        started_s=end.started_ns / _NS,
        measured_from_s=None if end.measured_from_ns is None else end.measured_from_ns / _NS,
        measured_to_s=None if end.measured_to_ns is None else end.measured_to_ns / _NS,
        ended_s=end.ended_ns / _NS,
        queries=queries,
        transactions=end.transactions.count,
        queries_per_second=queries / seconds if seconds else None,
        transactions_per_second=end.transactions.count / seconds if seconds else None,
        latency=merged_latency(statement.latency for statement in end.statements.values()),
        connect=latency(end.connects.latency),
        transaction_latency=latency(end.transactions.latency),
        statements=tuple(
            StatementRecord(
                kind=kind,
                count=statement.count,
                errors=statement.errors,
                rows=statement.rows,
                latency=latency(statement.latency),
            )
            for kind, statement in end.statements.items()
        ),
        errors=dict(end.errors),
        error_examples=dict(end.error_examples),
        client_cpu_user_s=end.client_cpu.user_s,
        client_cpu_system_s=end.client_cpu.system_s,
        latency_kind=end.latency_kind,
        aborted=end.aborted or ("interrupted" if end.interrupted else None),
        backlog_max=end.backlog_max,
    )


def phase_histograms(end: PhaseEndReading) -> dict[str, str]:
    """Every histogram of a phase, for the lab: `statement.KIND`, `transactions` and `connects` -> base64."""
    series = {f"statement.{kind}": statement.latency for kind, statement in end.statements.items()}
    series |= {"transactions": end.transactions.latency, "connects": end.connects.latency}
    return {name: found.histogram for name, found in series.items() if found.histogram is not None}


def latency(reading: HistogramReading) -> Latency:
    """The engine's own numbers."""
    return Latency(
        count=reading.count,
        min_ns=reading.min_ns,
        mean_ns=reading.mean_ns,
        max_ns=reading.max_ns,
        p50_ns=reading.p50_ns,
        p75_ns=reading.p75_ns,
        p90_ns=reading.p90_ns,
        p95_ns=reading.p95_ns,
        p99_ns=reading.p99_ns,
        p999_ns=reading.p999_ns,
    )


def merged_latency(readings: Iterable[HistogramReading]) -> Latency:
    """Several distributions as one: count, least, most and mean from the engine's numbers, quantiles from the
    merged histograms (means and quantiles of quantiles would be wrong)."""
    full = [reading for reading in readings if reading.count > 0]
    if len(full) < 2:
        return latency(full[0]) if full else Latency(count=0)
    merged = merge(Histogram.decode(reading.histogram or "") for reading in full)
    count = sum(reading.count for reading in full)
    most = max(reading.max_ns or 0 for reading in full)
    # The upper end of the last bucket may lie above the largest value in it.
    quantiles = {name: min(merged.quantile(share) or 0, most) for name, share in _QUANTILES.items()}
    return Latency(
        count=count,
        min_ns=min(reading.min_ns or 0 for reading in full),
        mean_ns=math.fsum((reading.mean_ns or 0) * reading.count for reading in full) / count,
        max_ns=most,
        **quantiles,
    )
