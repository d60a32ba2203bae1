"""How much of the machine's memory the server may take."""

from mydyno.advisor.targets.record import Sized
from mydyno.advisor.targets.steps import MIB
from mydyno.core.units import format_bytes
from mydyno.survey.facts import System

MEMORY = "the machine's memory, and how much of it the server's process has"
"""What is missing where `usable` is None."""
_SHARE = 0.1
_LEAST = 64 * MIB
_MOST = 8192 * MIB


def usable(system: System) -> Sized | None:
    """The machine's or the control group's memory, less what others have and a tenth for the kernel and
    its page cache (64M to 8G), which holds redo, binary logs and temporary files.

    None: the memory is not known, or not what of it the server's own process has.
    """
    host = system.host
    resident = host.process.resident_bytes if host and host.process else None
    if host is None or host.memory.available is None or resident is None:
        return None
    memory = host.memory
    whole = memory.usable
    lines = [f"memory: {format_bytes(whole)}" + (" (the control group's)" if whole < memory.total else "")]
    kept = min(_MOST, max(_LEAST, int(whole * _SHARE)))
    in_use = memory.total - host.memory.available
    others = max(0, in_use - resident)
    room = min(whole, memory.total - others)
    lines.append(
        f"- {format_bytes(others)} for other processes ({format_bytes(in_use)} in use,"
        f" {format_bytes(resident)} of them the server's)"
    )
    lines.append(f"- {format_bytes(kept)} for the kernel and its page cache")
    return _left(room - kept, lines)


def _left(size: int, lines: list[str]) -> Sized:
    left = max(0, size)
    return Sized(left, (*lines, f"= {format_bytes(left)} for the server"))
