"""How large a temporary table in memory may become.

Several sessions may hold one at a time; a tenth of the connections that were in use at most is taken to do
so (the budget's stated share), and together they get a twentieth of the memory. What is larger goes to disk
(MySQL Reference Manual, "Internal Temporary Table Use in MySQL").
"""

from __future__ import annotations

from dataclasses import dataclass

from mydyno.advise.targets.steps import MIB, ladder
from mydyno.core.units import format_bytes
from mydyno.facts import Server

_SHARE = 0.05
_LEAST = 16 * MIB
_MOST_WANTED = 128 * MIB
_MANY_ON_DISK = 0.25
_OFTEN = 0.1
"""On-disk tables a second below which they are no matter."""


@dataclass(frozen=True)
class Temporary:
    bytes: int
    lines: tuple[str, ...]


def at_a_time(server: Server) -> int:
    """How many temporary tables in memory the budget counts at a time."""
    return max(1, round((server.counter("Max_used_connections") or 0) / 10))


def size_now(server: Server) -> int | None:
    """The smaller of the two limits counts."""
    sizes = [server.number(name) for name in ("tmp_table_size", "max_heap_table_size")]
    known = [size for size in sizes if size is not None]
    return min(known) if known else None


def temporary(server: Server, usable: int | None) -> Temporary | None:
    """Raised where many go to disk, lowered where those at a time could take more than their share twice."""
    now = size_now(server)
    if now is None or usable is None:
        return None
    tables = at_a_time(server)
    allowed = max(_LEAST, _floor_power(usable * _SHARE / tables))
    lines = [
        f"{tables} at a time (a tenth of the connections used at most) may take"
        f" {format_bytes(int(usable * _SHARE))} (5 % of the usable memory)"
    ]
    made, on_disk = server.counter("Created_tmp_tables"), server.counter("Created_tmp_disk_tables")
    often = server.average("Created_tmp_disk_tables")
    busy = bool(made and on_disk is not None and on_disk / made > _MANY_ON_DISK and often and often > _OFTEN)
    if made and on_disk is not None:
        lines.append(f"{on_disk:.0f} of {made:.0f} temporary tables went to disk ({on_disk / made:.0%})")
    if now > 2 * allowed:
        return Temporary(allowed, (*lines, f"{format_bytes(now)} each is too much"))
    wanted = min(_MOST_WANTED, allowed)
    if busy and wanted > now:
        return Temporary(wanted, (*lines, f"only {format_bytes(now)} each stay in memory"))
    return Temporary(now, tuple(lines))


def _floor_power(size: float) -> int:
    step = ladder(max(1.0, size / MIB))
    while step > 1 and (step * MIB > size or step & (step - 1)):
        step = 1 << ((step - 1).bit_length() - 1)
    return step * MIB
