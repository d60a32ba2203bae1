"""The files that virtual disks are: sparse, private, and refused where they could not all become full."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from mydyno.core.errors import StorageError
from mydyno.core.units import format_bytes
from mydyno.core.writing import writing
from mydyno.lab.spec.disks import Disks
from mydyno.machine.environment import read_facts


def refuse_without_room(lab: Path, volumes: Mapping[str, Disks]) -> None:
    """A file system whose disk runs full while it is measured is damaged, not slow. Raises StorageError."""
    most = sum(disks.count * disks.size for disks in volumes.values() if not disks.devices)
    free = read_facts(lab).free_disk_bytes
    if free is not None and most > free:
        raise StorageError(
            f"the disks can grow to {format_bytes(most)}, and {format_bytes(free)} are free on "
            f"the file system of the lab {lab}",
            "make the disks smaller, or choose another place with --lab",
        )


def disk_file(folder: Path, volume: str, index: int) -> Path:
    """Where in `folder` the file of a disk is."""
    return folder / f"{volume}-{index}.img"


def make_disk_files(folder: Path, volumes: Mapping[str, Disks]) -> dict[Path, tuple[str, int, int]]:
    """Sparse files in `folder`: each with its volume, its position in it and its size. Raises LabError."""
    files = {}
    for volume, disks in volumes.items():
        for index in range(0 if disks.devices else disks.count):
            path = disk_file(folder, volume, index)
            with writing(path), path.open("xb") as file:
                # By its descriptor: the folder is the server's user's, who could put a link in its place.
                os.fchmod(file.fileno(), 0o600)
                file.truncate(disks.size)
            files[path] = (volume, index, disks.size)
    return files
