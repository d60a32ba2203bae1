"""What several engines say of one load, as if one had said it. Pure.

Counts are added, latencies come from histograms that are added up; percentiles are never averaged. Instants
are on one clock, whose zero is given: `shifted` takes each engine's there first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from mydyno.lab.load import messages
from mydyno.lab.load.messages import (
    NOT_TIMED,
    CpuSeconds,
    Fairness,
    Histogram,
    Interval,
    PhaseEnd,
    QueryClasses,
    Statement,
    Timed,
)
from mydyno.lab.sampling.histograms import merged

_INSTANTS = ("t_ns", "from_ns", "to_ns", "started_ns", "measured_from_ns", "measured_to_ns", "ended_ns")


def shifted(message: messages.Message, by_ns: int) -> messages.Message:
    """The same on a clock that shows `by_ns` more."""
    instants = {
        name: value + by_ns for name in _INSTANTS if (value := getattr(message, name, None)) is not None
    }
    return message.model_copy(update=instants)


def merged_histogram(parts: Iterable[Histogram]) -> Histogram:
    """The distribution of all latencies. Raises ValueError for what is not a histogram."""
    whole = merged(part.histogram for part in parts if part.histogram is not None)
    return NOT_TIMED if whole is None else Histogram(**vars(whole.latency()), histogram=whole.encoded())


def merged_interval(parts: Sequence[Interval]) -> Interval:
    """The same interval of several engines, at least one."""
    first = parts[0]
    whole = merged(part.histogram for part in parts if part.histogram is not None)
    percentile = whole.quantile_ns if whole is not None else lambda _: None
    return Interval(
        t_ns=max(part.t_ns for part in parts),
        phase=first.phase,
        from_ns=min(part.from_ns for part in parts),
        to_ns=max(part.to_ns for part in parts),
        queries=sum(part.queries for part in parts),
        transactions=sum(part.transactions for part in parts),
        errors=sum(part.errors for part in parts),
        connections=sum(part.connections for part in parts),
        p50_ns=percentile(0.5),
        p95_ns=percentile(0.95),
        p99_ns=percentile(0.99),
        max_ns=max((part.max_ns for part in parts if part.max_ns is not None), default=None),
        warmup=first.warmup,
        histogram=whole.encoded() if whole is not None else None,
        reconnects=sum(part.reconnects or 0 for part in parts),
        queries_by_class=_classes([part.queries_by_class for part in parts]),
    )


def merged_end(parts: Mapping[str, PhaseEnd]) -> PhaseEnd:
    """The end of a phase of all engines, by the names of their hosts."""
    ends = list(parts.values())
    first = ends[0]
    return PhaseEnd(
        t_ns=max(end.t_ns for end in ends),
        phase=first.phase,
        connections_asked=sum(end.connections_asked for end in ends),
        connections_reached=sum(end.connections_reached for end in ends),
        started_ns=min(end.started_ns for end in ends),
        measured_from_ns=min(_known(end.measured_from_ns for end in ends), default=None),
        measured_to_ns=max(_known(end.measured_to_ns for end in ends), default=None),
        # All start together: the longest is as long as all of them.
        measured_s=max(_known(end.measured_s for end in ends), default=None),
        ended_ns=max(end.ended_ns for end in ends),
        interrupted=any(end.interrupted for end in ends),
        aborted="; ".join(f"{name}: {end.aborted}" for name, end in parts.items() if end.aborted) or None,
        latency_kind=first.latency_kind,
        queries=merged_timed(end.queries for end in ends),
        queries_by_class=_classes([end.queries_by_class for end in ends]),
        statements=_by_name([end.statements for end in ends], _statement),
        transactions=merged_timed(end.transactions for end in ends),
        transactions_by_name=_by_name([end.transactions_by_name for end in ends], merged_timed),
        fairness=merged_fairness(end.fairness for end in ends),
        connects=merged_timed(end.connects for end in ends),
        errors=_added(end.errors for end in ends),
        error_examples=_first_of_each(end.error_examples for end in ends),
        retries=sum(end.retries for end in ends),
        reconnects=sum(end.reconnects for end in ends),
        unanswered=sum(end.unanswered for end in ends),
        client_cpu=added_cpu(end.client_cpu for end in ends),
        # Backlogs of different engines need not peak together: an upper bound, as over reactors.
        backlog_max=sum(_known(end.backlog_max for end in ends)) if first.backlog_max is not None else None,
        wall_clock_step_ns=max(_known(end.wall_clock_step_ns for end in ends), key=abs, default=None),
    )


def merged_timed(parts: Iterable[Timed]) -> Timed:
    given = list(parts)
    return Timed(
        count=sum(part.count for part in given), latency=merged_histogram(part.latency for part in given)
    )


def merged_fairness(parts: Iterable[Fairness | None]) -> Fairness | None:
    """Over the connections of all: means and deviations of populations are put together exactly."""
    given = _known(parts)
    if not given:
        return None
    counts = [part.connections for part in given]
    events_mean, events_stddev = _pooled(counts, [(one.events_mean, one.events_stddev) for one in given])
    busy_mean, busy_stddev = _pooled(counts, [(one.busy_mean_s, one.busy_stddev_s) for one in given])
    return Fairness(
        connections=sum(counts),
        events_mean=events_mean,
        events_stddev=events_stddev,
        busy_mean_s=busy_mean,
        busy_stddev_s=busy_stddev,
    )


def _pooled(counts: Sequence[int], spreads: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Mean and standard deviation of a population from those of its parts."""
    both = list(zip(counts, spreads, strict=True))
    mean = sum(count * own for count, (own, _) in both) / sum(counts)
    squares = sum(count * (stddev**2 + (own - mean) ** 2) for count, (own, stddev) in both)
    return mean, (squares / sum(counts)) ** 0.5


def added_cpu(parts: Iterable[CpuSeconds]) -> CpuSeconds:
    given = list(parts)
    return CpuSeconds(
        user_s=sum(part.user_s for part in given), system_s=sum(part.system_s for part in given)
    )


def _statement(parts: Sequence[Statement]) -> Statement:
    return Statement(
        count=sum(part.count for part in parts),
        errors=sum(part.errors or 0 for part in parts),
        rows=sum(part.rows or 0 for part in parts),
        latency=merged_histogram(part.latency for part in parts),
    )


def _classes(parts: Sequence[QueryClasses | None]) -> QueryClasses | None:
    given = _known(parts)
    if len(given) < len(parts):
        return None
    return QueryClasses(**_added(part.model_dump() for part in given))


def _by_name(parts: Sequence[Mapping[str, Any]], merge: Any) -> dict[str, Any]:
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: merge([part[name] for part in parts if name in part]) for name in names}


def _added(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return dict(total)


def _first_of_each(parts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    first: dict[str, str] = {}
    for part in parts:
        first = {**part, **first}
    return first


_Value = TypeVar("_Value")


def _known(values: Iterable[_Value | None]) -> list[_Value]:
    return [value for value in values if value is not None]
