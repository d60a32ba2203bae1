"""From the slices of all servers of a block to the numbers of each one's phases. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mydyno.lab.analysis.slices import Slice, SliceFit, fit
from mydyno.lab.analysis.soundness import Idle, Usage, soundness
from mydyno.lab.load import messages
from mydyno.lab.results.records import PhaseRecord, SlicesRecord
from mydyno.lab.trial.collect import Collector

_NS = 1e9


def fit_phases(collectors: Sequence[Collector], names: Sequence[str]) -> None:
    """Gives each finished phase of each server the rates of the fit over the slices of all of them.

    `collectors` and `names`: one for each server of the block, in the order of their numbers in the job.
    """
    everything = [one for collector in collectors for one in collector.slices if not one.warmup]
    for phase in sorted({one.phase for one in everything}):
        slices = sorted((one for one in everything if one.phase == phase), key=lambda one: one.from_ns)
        fitted = fit([_slice(one) for one in slices], len(collectors))
        idle = [_idle(slices, server) for server in range(len(collectors))]
        remarks = [
            replace(remark, message=f"phase {phase + 1}: {remark.message}")
            for remark in soundness(fitted, idle, names)
        ]
        for server, collector in enumerate(collectors):
            collector.remarks += remarks
            own = [one for one in slices if one.server == server]
            collector.phases = [
                _with_slices(record, own, fitted, idle[server], server) if record.index == phase else record
                for record in collector.phases
            ]


def _with_slices(
    record: PhaseRecord, slices: Sequence[messages.Slice], fitted: SliceFit, idle: Idle, server: int
) -> PhaseRecord:
    rate = fitted.rates[server]
    if rate is None or not slices:
        return record
    per_query = record.transactions / record.queries if record.queries and record.transactions else 0.0
    return replace(
        record,
        queries_per_second=rate,
        transactions_per_second=rate * per_query,
        slices=SlicesRecord(
            seconds=_seconds(slices[0]),
            cut_s=fitted.cut_s,
            rounds=tuple(one.round for one in slices),
            queries_per_second=tuple(_rate(one, fitted.cut_s) for one in slices),
            error=fitted.errors[server],
            autocorrelation=fitted.autocorrelation,
            idle_cpu=_per_second(idle.idle.cpu_s, idle.idle),
            idle_write_bytes_per_second=_per_second(idle.idle.write_bytes, idle.idle),
        ),
    )


def _slice(one: messages.Slice) -> Slice:
    return Slice(one.server, one.round, one.after, _seconds(one), one.parts)


def _seconds(one: messages.Slice) -> float:
    return (one.to_ns - one.from_ns) / _NS


def _rate(one: messages.Slice, cut_s: float) -> float:
    seconds = _seconds(one)
    left_out = round(cut_s / seconds * len(one.parts))
    return sum(one.parts[left_out:]) / (seconds * (1 - left_out / len(one.parts)))


def _idle(slices: Sequence[messages.Slice], server: int) -> Idle:
    """What the server's process used in its own slices, and in those of the others."""
    own = [one for one in slices if one.server == server]
    return Idle(server, _usage(own, server), _usage([one for one in slices if one.server != server], server))


def _usage(slices: Sequence[messages.Slice], server: int) -> Usage:
    seen = [(one, used) for one in slices if (used := one.usage[server]) is not None]
    return Usage(
        seconds=sum((one.drained_ns - one.from_ns) / _NS for one, _ in seen),
        cpu_s=sum(used.cpu_user_s + used.cpu_system_s for _, used in seen),
        read_bytes=sum(used.read_bytes or 0 for _, used in seen),
        write_bytes=sum(used.write_bytes or 0 for _, used in seen),
    )


def _per_second(amount: float, usage: Usage) -> float | None:
    return amount / usage.seconds if usage.seconds else None
