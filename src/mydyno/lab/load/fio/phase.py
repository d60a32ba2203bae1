"""What a phase comes to, from fio's report. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from mydyno.lab.load import messages
from mydyno.lab.load.fio.report import Report, histogram, together
from mydyno.lab.workload.external_program.fio_jobs import Stretch, seconds_of

SHORT_RUN = 0.9
"""Share of the configured runtime below which a remark says that the size ran out first."""
_NOTHING = messages.Timed(count=0, latency=messages.NOT_TIMED)
_NS = 1e9


@dataclass(frozen=True)
class Phase:
    """One phase that is over. Instants count from the driver's start, in ns."""

    index: int
    stretch: Stretch
    started_ns: int
    ended_ns: int
    interrupted: bool
    aborted: str | None
    """Why it was stopped, or what ended fio."""
    complaint: str
    """fio's own words, in case of an error."""

    def measured_from_ns(self, report: Report) -> int:
        """fio reports how long it measured, not since when: up to its end."""
        return max(self.started_ns, self.ended_ns - round(report.seconds * _NS))

    def end(self, report: Report | None) -> messages.PhaseEnd:
        """`report` is None when fio reported nothing."""
        measured_from = None if report is None else self.measured_from_ns(report)
        measured_to = None
        if report is not None and measured_from is not None:
            measured_to = measured_from + round(report.seconds * _NS)
        whole = _NOTHING if report is None else _all_ios(report)
        errors = {} if report is None else _errors(report)
        return messages.foreign_end(
            phase=self.index,
            connections_asked=self.stretch.depth,
            connections_reached=self.stretch.depth,
            started_ns=self.started_ns,
            measured_from_ns=measured_from,
            measured_to_ns=measured_to,
            ended_ns=max(self.ended_ns, measured_to or 0),
            interrupted=self.interrupted,
            aborted=self.aborted,
            latency_kind="service",
            queries=whole,
            statements={} if report is None else _statements(report),
            transactions=whole,
            errors=errors,
            error_examples={code: self.complaint for code in errors if code.isdigit()},
            client_cpu=messages.CpuSeconds(
                user_s=0.0 if report is None else report.cpu_user_s,
                system_s=0.0 if report is None else report.cpu_system_s,
            ),
            t_ns=self.ended_ns,
        )

    def ended_early(self, report: Report) -> str | None:
        """The remark on a run that was shorter than configured."""
        asked = max(seconds_of(section, warmup=False) for section in self.stretch.sections)
        if self.interrupted or report.error or report.seconds >= SHORT_RUN * asked:
            return None
        return (
            f"fio had read or written its whole size after {report.seconds:.3g} s of {asked:g} s: "
            "a larger size, or time_based, measures longer"
        )


def _all_ios(report: Report) -> messages.Timed:
    timed = [
        kind.latencies
        for name, kind in report.kinds.items()
        if name != "fsync" and kind.latencies is not None
    ]
    return messages.Timed(count=report.ios, latency=histogram(together(timed) if timed else None))


def _statements(report: Report) -> dict[str, messages.Statement]:
    return {
        name: messages.Statement(
            count=kind.count, errors=kind.dropped, rows=None, latency=histogram(kind.latencies)
        )
        for name, kind in report.kinds.items()
    }


def _errors(report: Report) -> dict[str, int]:
    """By errno; I/Os that were done in part, or dropped, under a word."""
    lost = {
        "short": sum(kind.short for kind in report.kinds.values()),
        "dropped": sum(kind.dropped for kind in report.kinds.values()),
        str(report.error): 1 if report.error else 0,
    }
    return {code: count for code, count in lost.items() if count}
