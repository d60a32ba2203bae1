"""How far the clock of another host is from this machine's."""

from __future__ import annotations

import time
from dataclasses import dataclass

from mydyno.machine.agent import AgentHost

ROUNDS = 10


@dataclass(frozen=True)
class ClockOffset:
    """Seconds that the clock there is ahead, give or take `error`."""

    seconds: float
    error: float

    @property
    def round_trip(self) -> float:
        """Seconds of the quickest question and answer."""
        return 2 * self.error


def clock_offset(host: AgentHost, rounds: int = ROUNDS) -> ClockOffset:
    """Of several questions the one with the quickest answer counts, since least of it is waiting.

    The answer was given at some moment of the round trip; its middle is wrong by half of it at most.
    """
    return min((_once(host) for _ in range(rounds)), key=lambda each: each.error)


def _once(host: AgentHost) -> ClockOffset:
    began, started = time.time_ns(), time.monotonic_ns()
    there = host.clock()
    half = (time.monotonic_ns() - started) / 2
    return ClockOffset((there - began - half) / 1e9, half / 1e9)
