"""How large a temporary table in memory may become.

Several sessions may hold one at a time; a tenth of the connections that were in use at most is taken to do
so (the budget's stated share), and together they get a twentieth of the memory. What is larger goes to disk
(MySQL Reference Manual, "Internal Temporary Table Use in MySQL").
"""

from mydyno.advisor.targets.record import Sized
from mydyno.advisor.targets.steps import MIB, ladder_down, ramp
from mydyno.core.units import format_bytes
from mydyno.survey.facts import Server

_SHARE = 0.05
_LEAST = 16 * MIB
_TIMES = 8
"""Times the least that is enough for all, where most temporary tables go to disk."""
_MANY_ON_DISK = (0.25, 0.5)
"""The part of them from which on more memory is wanted, and from which on all of it."""
_OFTEN = (0.1, 0.2)
"""On-disk tables a second, in the same way: below the first they do not matter."""
_TOO_MUCH = 1.5
_WORTH = 1.25


def at_a_time(server: Server) -> float:
    """How many temporary tables in memory the budget counts at a time, on average."""
    used = server.counter("Max_used_connections")
    most = server.number("max_connections") if used is None else used
    return max(1.0, (most or 0) / 10)


def size_now(server: Server) -> int | None:
    """The smaller of the two limits counts."""
    sizes = [server.number(name) for name in ("tmp_table_size", "max_heap_table_size")]
    known = [size for size in sizes if size is not None]
    return min(known) if known else None


def temporary(server: Server, usable: int | None) -> Sized | None:
    """Raised where many go to disk, lowered where those at a time could take 1.5 times their share."""
    now = size_now(server)
    if now is None or usable is None:
        return None
    tables = at_a_time(server)
    allowed = max(_LEAST, ladder_down(usable * _SHARE / tables / MIB) * MIB)
    lines = [
        f"{tables:g} at a time (a tenth of the connections used at most) may take"
        f" {format_bytes(int(usable * _SHARE))} (5% of the usable memory)"
    ]
    made, on_disk = server.counter("Created_tmp_tables"), server.counter("Created_tmp_disk_tables")
    if made and on_disk is not None:
        lines.append(f"{on_disk:.0f} of {made:.0f} temporary tables went to disk ({on_disk / made:.0%})")
    if now > _TOO_MUCH * allowed:
        return Sized(allowed, (*lines, f"{format_bytes(now)} each is too much"))
    wanted = min(allowed, _wanted(server))
    if wanted >= _WORTH * now:
        return Sized(wanted, (*lines, f"only {format_bytes(now)} of each stays in memory"))
    return Sized(now, tuple(lines))


def _wanted(server: Server) -> int:
    """What use calls for: the more of them go to disk and the more often, the more."""
    made, on_disk = server.counter("Created_tmp_tables"), server.counter("Created_tmp_disk_tables")
    often = server.average("Created_tmp_disk_tables")
    if not made or on_disk is None or often is None:
        return 0
    pressed = ramp(on_disk / made, *_MANY_ON_DISK) * ramp(often, *_OFTEN)
    return ladder_down(_LEAST / MIB * _TIMES**pressed) * MIB if pressed else 0
