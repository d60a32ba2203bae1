"""Redo capacity by the rate of writes, and the buffer before it.

When the redo log is full, InnoDB must write pages until it may reuse it, and everybody waits; a log that
takes an hour of the busiest writes lets it write pages in its own time (MySQL Reference Manual, "Redo Log",
"Configuring Redo Log Capacity"; MariaDB Documentation, "InnoDB Redo Log"). A larger log makes recovery after
a crash longer, so it stays below the buffer pool's size, from which the pages to recover come.
"""

from mydyno.advisor.targets.record import Sized
from mydyno.advisor.targets.steps import MIB, ladder, ladder_down
from mydyno.core.units import format_bytes
from mydyno.survey.facts import System

_HOUR = 3600
_YOUNG = 600
"""Seconds: a server that is up for less has mostly written what its own start needs."""
_PEAK = 2.0
"""How much busier than the average a busy hour is taken to be, where it was not seen."""
_LEAST = 128 * MIB
_MOST = 128 * 1024 * MIB
"""What innodb_redo_log_capacity takes."""
_ROOM = 1024 * MIB
"""So much is never too large, however small the pool is."""
_OF_FREE_DISK = 0.2
_ENOUGH = 2 / 3
"""A log of two thirds of the size is left as it is: it lasts 40 minutes."""
_ONE_SECOND = 2.0
_LEAST_BUFFER = 64 * MIB
_MOST_BUFFER = 256 * MIB


def redo_now(system: System) -> int | None:
    """The whole capacity in force: innodb_redo_log_capacity, or the files together."""
    server = system.server
    whole, one = server.number("innodb_redo_log_capacity"), server.number("innodb_log_file_size")
    if whole is not None:
        return whole
    return None if one is None else one * (server.number("innodb_log_files_in_group") or 1)


def write_rate(system: System) -> tuple[float, tuple[str, ...]] | None:
    """Bytes of redo a second in a busy hour, and how they were calculated. None: the server does not count
    them."""
    server, name = system.server, "Innodb_os_log_written"
    seen = server.rate(name)
    busy = usual_write_rate(system)
    usual = None if busy is None else busy / _PEAK
    lines = []
    if seen is not None:
        lines.append(f"{name}: {_rate(seen)} in the {server.status.seconds:.0f} s watched")
    if usual is not None:
        lines.append(f"{name}: {_rate(usual)} since the start, a busy hour taken as {_PEAK:g} x that")
    rates = [rate for rate in (seen, usual * _PEAK if usual is not None else None) if rate is not None]
    return (max(rates), tuple(lines)) if rates else None


def usual_write_rate(system: System) -> float | None:
    """The same by the mean since the start alone, which two intervals of one load agree on.

    None: not counted, or the server is up for too short a time to have a mean.
    """
    server = system.server
    usual = server.average("Innodb_os_log_written")
    return None if usual is None or (server.uptime_seconds or 0) < _YOUNG else usual * _PEAK


def redo(system: System, pool_bytes: int | None) -> Sized | None:
    """The capacity that an hour of writes needs; what is there when that is at least two thirds of it."""
    now, writing = redo_now(system), write_rate(system)
    if now is None or writing is None:
        return None
    rate, lines = writing
    hour = rate * _HOUR
    bounds = {"what the server takes": _MOST}
    arithmetic = [*lines, f"{_rate(rate)} x {_HOUR} s = {format_bytes(int(hour))} in an hour"]
    if pool_bytes is not None:
        bounds["the size of the buffer pool, or 1G,"] = max(_ROOM, pool_bytes)
    place = system.host.storage.of("redo log") or system.host.storage.of("data") if system.host else None
    if place is not None and place.free_bytes is not None:
        bounds["a fifth of the free disk"] = max(now, int(place.free_bytes * _OF_FREE_DISK))
    wanted = max(_LEAST, ladder(hour / MIB) * MIB)
    narrowest = min(bounds, key=lambda name: bounds[name])
    most = ladder_down(bounds[narrowest] / MIB) * MIB
    if wanted > most:
        arithmetic.append(f"no more than {format_bytes(most)}: limited by {narrowest}")
    target = min(wanted, most)
    if now >= _ENOUGH * target:
        return Sized(now, (*arithmetic, f"the capacity of {format_bytes(now)} is enough"))
    return Sized(target, (*arithmetic, f"the capacity is {format_bytes(now)}"))


def log_buffer(system: System) -> Sized | None:
    """Raised where transactions have waited for it (Innodb_log_waits, MySQL Reference Manual,
    "Optimizing InnoDB Redo Logging"), to two seconds of the writes seen."""
    server = system.server
    now, waits = server.number("innodb_log_buffer_size"), server.counter("Innodb_log_waits")
    if now is None or waits is None:
        return None
    line = f"Innodb_log_waits = {waits:.0f} since the start, with a buffer of {format_bytes(now)}"
    if not waits:
        return Sized(now, (line,))
    writing = write_rate(system)
    two_seconds = ladder(_ONE_SECOND * writing[0] / MIB) * MIB if writing else 0
    enough = min(_MOST_BUFFER, max(_LEAST_BUFFER, two_seconds))
    return Sized(max(now, enough), (line, f"enough for the redo of two seconds: {format_bytes(enough)}"))


def _rate(bytes_per_second: float) -> str:
    return f"{format_bytes(int(bytes_per_second))}/s"
