"""What the advised server's load was like when the advice was made: the condition that findings saw. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from mydyno.advisor.excerpt import POOL_READS, POOL_REQUESTS, READING, WRITING
from mydyno.survey.facts import Server, System

_LEAST_REQUESTS = 1_000
"""Page requests that a ratio needs at least."""
_LEAST_STATEMENTS = 100
_READS_ONLY, _WRITES_ONLY = 0.95, 0.05
_MOST_CONNECTIONS = 64
DEFAULT_CONNECTIONS = 8


@dataclass(frozen=True)
class Condition:
    """None: not known."""

    misses: float | None = None
    """Share of page requests that went to the disk."""
    reading: float | None = None
    """Share of SELECT among the statements that read or change rows."""
    running: int | None = None
    """Connections that ran a statement at the busier end of the interval, without mydyno's own."""

    @property
    def workload(self) -> str:
        """The built-in workload that is most like it."""
        if self.reading is None or _WRITES_ONLY < self.reading < _READS_ONLY:
            return "oltp-read-write"
        return "oltp-read-only" if self.reading >= _READS_ONLY else "oltp-write-only"

    @property
    def connections(self) -> int:
        return min(self.running or DEFAULT_CONNECTIONS, _MOST_CONNECTIONS)


def condition_of(system: System | None) -> Condition:
    """As far as the facts have it."""
    if system is None:
        return Condition()
    server = system.server
    return Condition(misses(server), _reading(server), _running(server))


def misses(server: Server) -> float | None:
    """Of the interval that was watched; where that was a quiet one, since the server's start."""
    for number in (server.grown, server.counter):
        reads, requests = number(POOL_READS), number(POOL_REQUESTS)
        if reads is not None and requests is not None and requests >= _LEAST_REQUESTS:
            return reads / requests
    return None


def _reading(server: Server) -> float | None:
    for number in (server.grown, server.counter):
        reads = _sum(number(name) for name in READING)
        writes = _sum(number(name) for name in WRITING)
        if reads + writes >= _LEAST_STATEMENTS:
            return reads / (reads + writes)
    return None


def _sum(numbers: Iterable[float | None]) -> float:
    return sum(number for number in numbers if number is not None)


def _running(server: Server) -> int | None:
    seen = (server.status.before.get("Threads_running"), server.status.after.get("Threads_running"))
    counts = [int(text) - 1 for text in seen if text is not None and text.isdigit()]
    most = max(counts, default=0)
    return most if most > 0 else None
