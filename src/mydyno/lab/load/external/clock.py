"""One clock for the output of an external program and the samples of the engine."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Clock:
    """Counts ns from `zero_ns`, an instant of time.monotonic_ns() that was `started_unix_ns` on the wall."""

    zero_ns: int
    started_unix_ns: int

    @classmethod
    def start(cls) -> Clock:
        return cls(time.monotonic_ns(), time.time_ns())

    def at(self, monotonic_ns: int) -> int:
        return monotonic_ns - self.zero_ns

    def now(self) -> int:
        return self.at(time.monotonic_ns())

    def of_another(self, t_ns: int, its_started_unix_ns: int) -> int:
        """An instant of the clock of another process on this machine, on this clock."""
        return t_ns + its_started_unix_ns - self.started_unix_ns
