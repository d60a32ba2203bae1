"""The messages of a load as the events that a display shows."""

from __future__ import annotations

from mydyno.lab.load import messages
from mydyno.lab.results.records import Work
from mydyno.lab.trial.collect import Collector, interval_of
from mydyno.lab.trial.events import Event, Measured, PhaseFinished, PhaseStarted


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
            )
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
