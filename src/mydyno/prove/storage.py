"""The advised server's disks, rebuilt of files for a guest: as many, as one array, with its file system."""

from typing import Any, get_args

from mydyno.core.raid import BY_MD_NAME
from mydyno.core.units import format_bytes
from mydyno.lab.spec import FileSystem
from mydyno.prove.provable import of_volume
from mydyno.survey.facts import Array, System

_LEAST_DISK = 2 << 30
_DATA_TIMES = 6
"""Space for the data with its redo log, undo and what the load adds, in multiples of the data."""


def storage_of(system: System | None, data_bytes: int) -> dict[str, Any]:
    """`setup.storage.data` in the shape of the advised server's; without facts one disk as it comes."""
    storage = system.host.storage if system and system.host else None
    filesystem = storage.of("data") if storage else None
    made: dict[str, Any] = {}
    disks: dict[str, Any] = {"size": _size(data_bytes, 1)}
    if storage is None or filesystem is None:
        return {"disks": disks}
    array = storage.array_of(filesystem)
    if array is not None and array.level in BY_MD_NAME:
        disks = {"count": array.devices, "size": _size(data_bytes, _holding(array))}
        level = BY_MD_NAME[array.level]
        made["raid"] = level.raid
        if array.chunk_bytes and level.is_striped:
            made["chunk"] = format_bytes(array.chunk_bytes)
    speed = storage.speed_of(filesystem)
    if speed is not None:
        # The limit of a disk of ours counts reads and writes together.
        disks["iops"] = max(int(min(speed.read_iops, speed.write_iops) / disks.get("count", 1)), 1)
    if filesystem.kind in get_args(FileSystem):
        made["filesystem"] = filesystem.kind
        made["mount"] = of_volume(filesystem.options)
    return {"disks": disks, **made}


def _holding(array: Array) -> int:
    """How many of its disks hold data that no other one holds."""
    level = BY_MD_NAME.get(array.level)
    if level is None:
        return array.devices
    if level.is_mirror:
        return max(array.devices // 2, 1) if level.is_striped else 1
    return array.devices - level.parity_disks


def _size(data_bytes: int, holding: int) -> str:
    """Of each disk, in whole gibibytes."""
    whole = max(_DATA_TIMES * data_bytes // max(holding, 1), _LEAST_DISK)
    return f"{-(-whole // (1 << 30))}G"
