"""From the engine's messages to the records and series of one trial. Pure: it sees messages only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mydyno.load import messages
from mydyno.results.records import Latency, PhaseRecord, StatementRecord


def seconds(ns: int) -> float:
    return ns / 1e9


def latency(histogram: messages.Histogram) -> Latency:
    """The figures of a histogram, without its buckets."""
    return Latency(**histogram.model_dump(exclude={"histogram"}))


def phase_record(end: messages.PhaseEnd) -> PhaseRecord:
    """One finished phase. Rates are over the measured window; None when none was measured."""
    window = None
    if end.measured_from_ns is not None and end.measured_to_ns is not None:
        window = seconds(end.measured_to_ns - end.measured_from_ns) or None
    return PhaseRecord(
        index=end.phase,
        connections_asked=end.connections_asked,
        connections_reached=end.connections_reached,
        started_s=seconds(end.started_ns),
        measured_from_s=None if end.measured_from_ns is None else seconds(end.measured_from_ns),
        measured_to_s=None if end.measured_to_ns is None else seconds(end.measured_to_ns),
        ended_s=seconds(end.ended_ns),
        queries=end.queries.count,
        transactions=end.transactions.count,
        queries_per_second=end.queries.count / window if window else None,
        transactions_per_second=end.transactions.count / window if window else None,
        latency=latency(end.queries.latency),
        connect=latency(end.connects.latency),
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
        errors=end.errors,
        client_cpu_user_s=end.client_cpu.user_s,
        client_cpu_system_s=end.client_cpu.system_s,
        latency_kind=end.latency_kind,
        aborted=end.aborted,
        transaction_latency=latency(end.transactions.latency),
        error_examples=end.error_examples,
        backlog_max=end.backlog_max,
    )


def histograms(end: messages.PhaseEnd) -> dict[str, str]:
    """The raw histograms of a phase by what they time, still encoded; empty ones left out."""
    named = {
        "queries": end.queries.latency,
        "transactions": end.transactions.latency,
        "connects": end.connects.latency,
        **{f"statement:{kind}": statement.latency for kind, statement in end.statements.items()},
    }
    return {name: one.histogram for name, one in named.items() if one.histogram is not None}


def interval_row(message: messages.Interval) -> dict[str, Any]:
    """One row of the trial's `intervals` series."""
    row = message.model_dump(exclude={"type", "t_ns", "from_ns", "to_ns"})
    return {"from_s": seconds(message.from_ns), "to_s": seconds(message.to_ns), **row}


@dataclass
class Collector:
    """Hears every message of one engine run and keeps what the lab stores."""

    hello: messages.Hello | None = None
    done: messages.Done | None = None
    prepared: messages.Prepared | None = None
    phase_ends: list[messages.PhaseEnd] = field(default_factory=list)
    intervals: list[dict[str, Any]] = field(default_factory=list)
    samples: list[messages.Sample] = field(default_factory=list)

    def hear(self, message: messages.Message) -> None:
        match message:
            case messages.Hello():
                self.hello = message
            case messages.Prepared():
                self.prepared = message
            case messages.Interval():
                self.intervals.append(interval_row(message))
            case messages.Sample():
                self.samples.append(message)
            case messages.PhaseEnd():
                self.phase_ends.append(message)
            case messages.Done():
                self.done = message
            case _:
                pass  # progress, phase_start, connected and measuring are for displays

    def phases(self) -> tuple[PhaseRecord, ...]:
        return tuple(phase_record(end) for end in self.phase_ends)

    def histograms(self) -> dict[str, dict[str, str]]:
        """Phase index as text -> name -> base64 of the raw histogram."""
        return {str(end.phase): histograms(end) for end in self.phase_ends}
