"""The advised server's disks, rebuilt of files for a guest: as many, as one array, with its file system."""

from __future__ import annotations

from typing import Any, get_args

from mydyno.core.units import format_bytes
from mydyno.lab.spec import FileSystem
from mydyno.prove.provable import of_volume
from mydyno.survey.facts import Array, System

_LEAST_DISK = 2 << 30
_DATA_TIMES = 6
"""Room for the data beside its redo log, undo and what the load adds, in the size of the data."""
_LEVELS = {"linear": "linear", "raid0": 0, "raid1": 1, "raid4": 4, "raid5": 5, "raid6": 6, "raid10": 10}


def storage_of(system: System | None, data_bytes: int) -> dict[str, Any]:
    """`setup.storage.data` in the shape of the advised server's; without facts one disk as it comes."""
    storage = system.host.storage if system and system.host else None
    filesystem = storage.of("data") if storage else None
    made: dict[str, Any] = {}
    disks: dict[str, Any] = {"size": _size(data_bytes, 1)}
    if storage is None or filesystem is None:
        return {"disks": disks}
    array = storage.array_of(filesystem)
    if array is not None and array.level in _LEVELS:
        disks = {"count": array.devices, "size": _size(data_bytes, _holding(array))}
        made["raid"] = _LEVELS[array.level]
        if array.chunk_bytes and array.level not in ("raid1", "linear"):
            made["chunk"] = format_bytes(array.chunk_bytes)
    speed = storage.speed_of(filesystem)
    if speed is not None:
        # The limit of a disk of ours counts reads and writes together.
        each = max(int(min(speed.read_iops, speed.write_iops) / disks.get("count", 1)), 1)
        disks["iops"] = each
    if filesystem.kind in get_args(FileSystem):
        made["filesystem"] = filesystem.kind
        made["mount"] = of_volume(filesystem.options)
    return {"disks": disks, **made}


def _holding(array: Array) -> int:
    """How many of its disks hold data that no other one holds."""
    match array.level:
        case "raid1":
            return 1
        case "raid10":
            return max(array.devices // 2, 1)
        case "raid4" | "raid5":
            return array.devices - 1
        case "raid6":
            return array.devices - 2
        case _:
            return array.devices


def _size(data_bytes: int, holding: int) -> str:
    """Of each disk, in whole gibibytes."""
    whole = max(_DATA_TIMES * data_bytes // max(holding, 1), _LEAST_DISK)
    return f"{-(-whole // (1 << 30))}G"
