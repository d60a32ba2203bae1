"""One run of fio on a host: started, watched, ended, its report read."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from mydyno.core.errors import HostError
from mydyno.machine.protocol import Host

_DIES_WITHIN_S = 10.0


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
        # A lost host ends the output; `returncode` tells of it.
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
        """The first thing that it said is wrong, on one line."""
        lines = [line.strip() for line in (self.errors + self.output.partition("\n{")[0]).splitlines()]
        told = [line for line in lines if line and not line.startswith("{")]
        first = next((line for line in told if "error" in line or line.startswith("fio:")), None)
        return (first or (told[0] if told else f"exit code {self.code}"))[:300]
