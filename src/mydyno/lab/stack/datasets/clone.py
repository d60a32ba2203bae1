"""A clone of a frozen dataset: it shares blocks where the file system can, else it is a copy that fits."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mydyno.core.errors import LabError
from mydyno.core.units import format_bytes
from mydyno.machine.local import LocalHost
from mydyno.machine.protocol import Host
from mydyno.machine.reflink import shares_blocks
from mydyno.machine.trees import copy_tree


@dataclass(frozen=True)
class Clone:
    """How the data of a trial came to be."""

    how: Literal["reflink", "copy", "overlay"]
    """`overlay`: it came with disks that are overlays of a base, which holds a copy."""
    seconds: float
    """Without the sync that follows."""


def clone_tree(host: Host, source: Path, target: Path, size_bytes: int) -> Clone:
    """Clones the folder `source`, whose files take `size_bytes`, as the new folder `target` on `host`.

    Raises LabError with numbers when a copy would not fit; whatever goes wrong, `target` is removed.
    """
    started = time.monotonic()
    # Volumes and guests have file systems of their own, with which this machine's shares nothing.
    shared = isinstance(host, LocalHost) and shares_blocks(source.parent, target.parent)
    if not shared:
        _check_room(host, source, target, size_bytes)
    try:
        copy_tree(host, source, target)
    except BaseException:
        host.remove_tree(target)
        raise
    return Clone("reflink" if shared else "copy", time.monotonic() - started)


def _check_room(host: Host, source: Path, target: Path, size_bytes: int) -> None:
    free = host.facts(target.parent).free_disk_bytes
    if free is None or free >= size_bytes:
        return
    raise LabError(
        f"the data does not fit: a copy of {source} takes {format_bytes(size_bytes)}, and "
        f"{target.parent} has {format_bytes(free)} free",
        "free some space (`mydyno datasets list` shows what the lab keeps), take fewer rows, or larger disks "
        "where it is a volume; a lab on xfs or btrfs shares the blocks and copies nothing: --lab FOLDER",
    )
