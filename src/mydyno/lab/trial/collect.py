"""From the engine's messages to what the lab keeps of one trial. Pure: it sees messages only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from mydyno.lab.load import messages
from mydyno.lab.results.records import (
    SYNTHETIC_TRACE,
    CheckRecord,
    Latency,
    OperationRecord,
    PhaseRecord,
    Remark,
    ShareRecord,
    StatementRecord,
    Work,
)
from mydyno.lab.trial.events import Event, Measured, PhaseFinished, PhaseStarted, Sampled

_LEAST_STEP_NS = 500_000_000
"""Below lies what a thread that lost its CPU between two clocks can make; NTP slews both clocks alike."""
_MOST_A_SECOND = 200
"""Samples that are looked back over."""


@dataclass
class Collector:
    """Takes every message of one engine run and keeps what outlives it."""

    hello: messages.Hello | None = None
    done: messages.Done | None = None
    ends: list[messages.PhaseEnd] = field(default_factory=list)
    intervals: list[messages.Interval] = field(default_factory=list)
    slices: list[messages.Slice] = field(default_factory=list)
    samples: list[messages.Sample] = field(default_factory=list)
    phases: list[PhaseRecord] = field(default_factory=list)
    labels: dict[int, str] = field(default_factory=dict)
    operations: list[tuple[int, OperationRecord]] = field(default_factory=list)
    """With the phase of each."""
    run: list[messages.PhaseStart | messages.Operation] = field(default_factory=list)
    """What the report of sql-bench is made of."""
    replays: list[messages.Replay] = field(default_factory=list)
    shares: list[messages.Share] = field(default_factory=list)
    checks: list[CheckRecord] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    histograms: dict[str, dict[str, str]] = field(default_factory=dict)
    """Phase index as text -> series -> base64 of the raw histogram."""

    def hear(self, message: messages.Message) -> None:
        match message:
            case messages.Hello():
                self.hello = message
            case messages.Interval():
                self.intervals.append(message)
            case messages.Slice():
                self.slices.append(message)
                self.intervals.append(interval_of(message))
            case messages.Sample():
                self.samples.append(message)
            case messages.PhaseStart():
                self.run.append(message)
                if message.label is not None:
                    self.labels[message.phase] = message.label
            case messages.Operation():
                self.run.append(message)
                self.operations.append((message.phase, operation_record(message)))
            case messages.Replay():
                self.replays.append(message)
                check = SYNTHETIC_TRACE if message.synthetic else "replay"
                self.remarks.append(Remark(check=check, message=message.fidelity))
            case messages.Share():
                self.shares.append(message)
            case messages.Check():
                self.checks.append(CheckRecord(name=message.name, holds=message.holds, detail=message.detail))
            case messages.Remark():
                self.remarks.append(Remark(check=message.check, message=message.message, phase=message.phase))
            case messages.Done():
                self.done = message
            case messages.PhaseEnd():
                self.ends.append(message)
                if sentence := wall_clock_step(message):
                    self.remarks.append(Remark(check="clock", message=sentence, phase=message.phase))
                done = tuple(operation for phase, operation in self.operations if phase == message.phase)
                shares = tuple(share_record(share) for share in self.shares if share.phase == message.phase)
                self.phases.append(
                    replace(
                        phase_record(message),
                        label=self.labels.get(message.phase),
                        operations=done,
                        shares=shares,
                    )
                )
                self.histograms[str(message.phase)] = _histograms(message)
            case _:
                pass  # The rest is for displays.


def wall_clock_step(end: messages.PhaseEnd) -> str | None:
    """That the wall clock was set during a phase, or the machine suspended; None when neither was.

    Rates and latencies are of the monotonic clock, which is not set. What suffers is whatever is matched
    to them by the time of day, such as a server's log, and everything while the machine was suspended.
    """
    if end.wall_clock_step_ns is None or abs(end.wall_clock_step_ns) < _LEAST_STEP_NS:
        return None
    seconds = end.wall_clock_step_ns / 1e9
    return (
        f"the clock of the machine went {'ahead' if seconds > 0 else 'back'} by"
        f" {abs(seconds):.1f} s: it was adjusted"
        + (", or the machine was suspended" if seconds > 0 else "")
        + "; the measured times are from the monotonic clock"
    )


def _seconds(ns: int) -> float:
    return ns / 1e9


def _latency(histogram: messages.Histogram) -> Latency:
    """The figures of a histogram, without its buckets."""
    return Latency(**histogram.model_dump(exclude={"histogram"}))


def interval_of(one: messages.Slice) -> messages.Interval:
    """A slice as the interval that series and pictures are made of."""
    shared = one.model_dump(include=messages.Interval.model_fields.keys() - {"type"})
    return messages.Interval(**shared)


def phase_record(end: messages.PhaseEnd) -> PhaseRecord:
    """One finished phase. Rates are over the measured window; None when none was measured."""
    window = end.measured_s or None
    if end.measured_s is None and end.measured_from_ns is not None and end.measured_to_ns is not None:
        window = _seconds(end.measured_to_ns - end.measured_from_ns) or None
    return PhaseRecord(
        index=end.phase,
        connections_asked=end.connections_asked,
        connections_reached=end.connections_reached,
        started_s=_seconds(end.started_ns),
        measured_from_s=None if end.measured_from_ns is None else _seconds(end.measured_from_ns),
        measured_to_s=None if end.measured_to_ns is None else _seconds(end.measured_to_ns),
        ended_s=_seconds(end.ended_ns),
        queries=end.queries.count,
        transactions=end.transactions.count,
        queries_per_second=end.queries.count / window if window else None,
        transactions_per_second=end.transactions.count / window if window else None,
        latency=_latency(end.queries.latency),
        connect=_latency(end.connects.latency),
        statements=tuple(
            StatementRecord(
                kind=kind,
                count=statement.count,
                errors=statement.errors,
                rows=statement.rows,
                latency=_latency(statement.latency),
            )
            for kind, statement in end.statements.items()
        ),
        errors=end.errors,
        client_cpu_user_s=end.client_cpu.user_s,
        client_cpu_system_s=end.client_cpu.system_s,
        latency_kind=end.latency_kind,
        aborted=end.aborted,
        transaction_latency=_latency(end.transactions.latency),
        transactions_by_name={
            name: _latency(timed.latency) for name, timed in end.transactions_by_name.items()
        },
        error_examples=end.error_examples,
        backlog_max=end.backlog_max,
        retries=end.retries,
        reconnects=end.reconnects,
    )


def share_record(share: messages.Share) -> ShareRecord:
    """What one generator did of a phase."""
    return ShareRecord(**share.model_dump(exclude={"type", "t_ns", "phase"}))


def operation_record(operation: messages.Operation) -> OperationRecord:
    """One finished operation of sql-bench."""
    server = operation.server_cpu
    return OperationRecord(
        **operation.model_dump(exclude={"type", "t_ns", "phase", "program", "client_cpu", "server_cpu"}),
        client_cpu_user_s=operation.client_cpu.user_s,
        client_cpu_system_s=operation.client_cpu.system_s,
        server_cpu_user_s=None if server is None else server.user_s,
        server_cpu_system_s=None if server is None else server.system_s,
    )


def _histograms(end: messages.PhaseEnd) -> dict[str, str]:
    """The raw histograms of a phase by what they time, still encoded; empty ones left out."""
    named = {
        "queries": end.queries.latency,
        "transactions": end.transactions.latency,
        "connects": end.connects.latency,
        **{f"transaction:{name}": timed.latency for name, timed in end.transactions_by_name.items()},
        **{f"statement:{kind}": statement.latency for kind, statement in end.statements.items()},
    }
    return {name: one.histogram for name, one in named.items() if one.count and one.histogram}


def progress_of(message: messages.Message, collector: Collector, work: Work, point: str = "") -> Event | None:
    """The event that shows `message`, which `collector` has taken already; None for those not shown.

    `point` is the title of the point, where several are measured at the same time.
    """
    match message:
        case messages.PhaseStart():
            return PhaseStarted(message.phase, message.connections, message.label, work)
        case messages.Slice():
            return progress_of(interval_of(message), collector, work, point)
        case messages.Interval():
            return Measured(
                phase=message.phase,
                connections=message.connections,
                queries_per_second=message.queries / ((message.to_ns - message.from_ns) / 1e9),
                p95_ns=message.p95_ns,
                errors=message.errors,
                work=work,
                transaction_p95_ns=message.transaction_p95_ns,
                point=point,
                p50_ns=message.p50_ns,
                p99_ns=message.p99_ns,
            )
        case messages.Sample():
            return _sampled(collector.samples, point)
        case messages.PhaseEnd():
            phase = collector.phases[-1]
            return PhaseFinished(
                phase=phase.index,
                connections=phase.connections_reached,
                queries_per_second=phase.queries_per_second,
                p95_ns=phase.latency.p95_ns,
                label=phase.label,
                work=work,
                transaction_p95_ns=phase.transaction_latency.p95_ns,
                point=point,
            )
        case _:
            return None


def _sampled(samples: Sequence[messages.Sample], point: str) -> Sampled | None:
    """What grew from the first sample of the last second before to the newest one; None within a second."""
    newest = samples[-1]
    earlier = [one for one in samples[-_MOST_A_SECOND:-1] if _second(one) < _second(newest)]
    if not earlier or _second(samples[-2]) == _second(newest):
        return None
    before = next(one for one in earlier if _second(one) == _second(earlier[-1]))
    seconds = _seconds(newest.t_ns - before.t_ns)

    def rate(value: Callable[[messages.Sample], float | None]) -> float | None:
        first, last = value(before), value(newest)
        # A server that was started again counts from 0.
        return None if first is None or last is None or last < first else (last - first) / seconds

    return Sampled(
        server_cpu=rate(lambda one: _server(one, "cpu_user_s", "cpu_system_s")),
        read_bytes_per_second=rate(lambda one: _server(one, "read_bytes")),
        write_bytes_per_second=rate(lambda one: _server(one, "write_bytes")),
        threads_created_per_second=rate(lambda one: _status(one, "Threads_created")),
        threads_connected=_status(newest, "Threads_connected"),
        point=point,
    )


def _server(sample: messages.Sample, *counters: str) -> float | None:
    """The sum of these counters of the server's process; None where one is not known."""
    values: list[float | None] = [getattr(sample.server, name, None) for name in counters]
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _second(sample: messages.Sample) -> int:
    return sample.t_ns // 1_000_000_000


def _status(sample: messages.Sample, name: str) -> int | None:
    value = (sample.status or {}).get(name, "")
    return int(value) if value.isdecimal() else None
