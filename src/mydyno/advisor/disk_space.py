"""Free space under the server's files, and how soon what grows there fills it. None: not known."""

from mydyno.advisor.counts import DAY
from mydyno.survey.facts import Server, System

ENTRY_BYTES = 1024
"""A slow statement in the slow log with its header: an estimate, as statements differ in length."""


def free_bytes(system: System, *files: str) -> int | None:
    """Of the file system under the first of these kinds of files (see `Use`) whose place is known."""
    storage = system.host.storage if system.host else None
    if storage is None:
        return None
    place = next((filesystem for name in files if (filesystem := storage.of(name)) is not None), None)
    return place.free_bytes if place else None


def usual_rate(server: Server, name: str) -> float | None:
    """How much a counter grows each second: the mean since the start once the server is up for a day, since
    a minute that was watched says little of one; the larger of both before."""
    seen, mean = server.rate(name), server.average(name)
    if mean is not None and (server.uptime_seconds or 0) >= DAY:
        return mean
    return max((rate for rate in (seen, mean) if rate is not None), default=None)


def days_until_full(free: int | None, bytes_per_second: float | None) -> float | None:
    """None too for what does not grow."""
    return None if free is None or not bytes_per_second else free / (bytes_per_second * DAY)
