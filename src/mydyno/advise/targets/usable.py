"""How much of the machine's memory the server may take."""

from __future__ import annotations

from dataclasses import dataclass

from mydyno.advise.targets.steps import MIB
from mydyno.core.units import format_bytes
from mydyno.facts import System

_SHARE = 0.1
_LEAST = 64 * MIB
_MOST = 8192 * MIB


@dataclass(frozen=True)
class Usable:
    bytes: int
    lines: tuple[str, ...]


def usable(system: System) -> Usable | None:
    """The machine's or the control group's memory, less what others have and a tenth for the kernel and
    its cache of files (64M to 8G): redo, binary logs and temporary files live in it. None: not known."""
    host = system.host
    if host is None:
        return None
    memory = host.memory
    whole = memory.usable
    lines = [f"memory: {format_bytes(whole)}" + (" (the control group's)" if whole < memory.total else "")]
    resident = host.process.resident_bytes if host.process else None
    kept = min(_MOST, max(_LEAST, int(whole * _SHARE)))
    if memory.available is None or resident is None:
        lines.append(f"- {format_bytes(kept)} for the kernel and its cache of files")
        lines.append("what other processes take is not known")
        return _left(whole - kept, lines)
    in_use = memory.total - memory.available
    others = max(0, in_use - resident)
    room = min(whole, memory.total - others)
    lines.append(
        f"- {format_bytes(others)} for other processes ({format_bytes(in_use)} in use,"
        f" {format_bytes(resident)} of them the server's)"
    )
    lines.append(f"- {format_bytes(kept)} for the kernel and its cache of files")
    return _left(room - kept, lines)


def _left(size: int, lines: list[str]) -> Usable:
    left = max(0, size)
    return Usable(left, (*lines, f"= {format_bytes(left)} that the server may take"))
