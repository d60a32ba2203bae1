"""fio on a host: that it is there, where its files are, and one run of it, sampled while it goes on;
and what a phase comes to, from fio's report.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mydyno.core.errors import HostError, MissingToolError, UsageError
from mydyno.lab.load import messages
from mydyno.lab.load.fio.jobfile import Place
from mydyno.lab.load.fio.report import Report, histogram, together
from mydyno.lab.workload.external_program import FioOptions
from mydyno.lab.workload.external_program.fio_jobs import Stretch, seconds_of
from mydyno.machine import proc
from mydyno.machine.protocol import Host

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


FOLDER = "mydyno-fio"
"""On the volume; all files are in it."""


_DIES_WITHIN_S = 10.0


def version(host: Host) -> str:
    """`fio-3.33`. Raises MissingToolError, which names the package."""
    hint = "install it: apt-get install fio (Debian, Ubuntu)"
    try:
        answer = host.run(["fio", "--version"])
    except MissingToolError as error:
        raise MissingToolError(error.message, hint) from None
    if answer.returncode or not answer.stdout.startswith("fio-3."):
        raise MissingToolError(f"fio --version said {answer.stdout.strip()[:100]!r}; mydyno runs fio 3", hint)
    return answer.stdout.strip()


def place_of(options: FioOptions, path: Path, host: Host) -> Place:
    """Raises UsageError for a place that is not there, or not made for these files."""
    kind = host.run(["stat", "--dereference", "--format=%F", str(path)])
    answer = kind.stdout.strip()
    if answer == "directory":
        return Place(path / FOLDER, is_device=False)
    if answer != "block special file":
        what = answer or kind.stderr.strip()
        raise UsageError(f"fio cannot work in {path}: {what}", "name a folder on the volume")
    for stretch in options.stretches:
        for section in stretch.sections:
            if len(section.files) != 1 or section.options.get("nrfiles", "1") != "1":
                raise UsageError(
                    f"{path} is a raw volume, which is one file, and job {section.name} has several",
                    "files: shared, or a file system on the volume",
                )
    return Place(path, is_device=True)


@dataclass
class Run:
    """A running fio. Its output is read by a thread, so that a long report never blocks it."""

    host: Host
    job_file: str
    _said: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.started = time.monotonic()
        self._child = self.host.open(["fio", "--output-format=json+", "--eta=never", self.job_file])
        self._child.stdin.close()
        self._reader = threading.Thread(target=self._read, name="mydyno-fio-output", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        # A lost host ends the output; `returncode` raises it.
        while block := self._child.stdout.read(65536):
            self._said.append(block)

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def elapsed(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self.started

    def turns(self, every_s: float) -> Iterator[float]:
        """The seconds since its start, about each `every_s`, until it has ended."""
        while self._child.wait(every_s) is None:
            yield self.elapsed

    def terminate(self) -> None:
        """fio then waits for what is under way, and reports."""
        self._child.terminate()

    def kill(self) -> None:
        """Ends it at once, without a report."""
        self._child.kill()
        self._child.wait(_DIES_WITHIN_S)

    def end(self) -> Ended:
        """What it said, once it has ended."""
        code = self._child.returncode()
        if code is None:
            raise HostError("fio did not end")
        self._reader.join()
        ended = Ended(code, b"".join(self._said).decode(errors="replace"), self._child.errors())
        self._child.close()
        return ended

    def close(self, patience_s: float) -> None:
        """Ends it, if need be by force."""
        if self._child.returncode() is None:
            self._child.terminate()
            self._child.wait(patience_s)
        self._child.close()


@dataclass(frozen=True)
class Ended:
    """A run that is over: 0 is success, 128 an end by request, 1 an error of an I/O or of an option."""

    code: int
    output: str
    errors: str

    @property
    def complaint(self) -> str:
        """Its first error message, on one line."""
        lines = [line.strip() for line in (self.errors + self.output.partition("\n{")[0]).splitlines()]
        texts = [line for line in lines if line and not line.startswith("{")]
        first = next((line for line in texts if "error" in line or line.startswith("fio:")), None)
        return (first or (texts[0] if texts else f"exit code {self.code}"))[:300]


def sample(host: Host, pid: int, t_ns: int) -> messages.Sample | None:
    """None when fio, process `pid`, has just ended."""

    def read(path: str) -> str | None:
        return host.read_text(Path(path))

    stat, diskstats = read("/proc/stat"), read("/proc/diskstats")
    status, own = read(f"/proc/{pid}/status"), read(f"/proc/{pid}/stat")
    if not stat or not status or not own:
        return None
    return messages.Sample(
        status=None,
        server=None,
        client=proc.process(status, own, read(f"/proc/{pid}/io")),
        host=messages.HostCounters(
            cpu=proc.cpu_seconds(stat),
            context_switches=proc.context_switches(stat),
            disks=proc.disks(diskstats or ""),
        ),
        t_ns=t_ns,
    )
