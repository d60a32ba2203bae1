"""Mounts as /proc/PID/mountinfo lists them (proc_pid_mountinfo(5))."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OWN = Path("/proc/self/mountinfo")


@dataclass(frozen=True)
class Mount:
    point: str
    kind: str
    """`ext4`."""
    source: str
    options: tuple[str, ...]
    """Of the mount, then of its file system, each once."""
    device: str
    """`8:1`."""
    root: str
    """What of the file system is mounted: `/`, or a folder in it."""


def mounts(text: str | None) -> Iterator[Mount]:
    """In the order in which they were mounted; of several on one point the last is seen."""
    for line in (text or "").splitlines():
        left, separator, right = line.partition(" - ")
        columns, system = left.split(" "), right.split(" ")
        if not separator or len(columns) < 6 or len(system) < 3:
            continue
        options = dict.fromkeys([*columns[5].split(","), *system[2].split(",")])
        yield Mount(
            point=_plain(columns[4]),
            kind=system[0],
            source=_plain(system[1]),
            options=tuple(options),
            device=columns[2],
            root=_plain(columns[3]),
        )


def own_mounts() -> tuple[Mount, ...]:
    """This process's."""
    return tuple(mounts(OWN.read_text(encoding="utf-8", errors="surrogateescape")))


def _plain(text: str) -> str:
    """Space, tab, newline and backslash are written as octal."""
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), text)
