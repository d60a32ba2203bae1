"""Hosts with storage and a process: an SSD with ext4 and everything on it, unless a test says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.builders import host
from mydyno.survey.facts import Array, Disk, FileSystem, Host, Limit, Process, Storage, Unit, Use

FILES = ("data", "redo log", "binary log", "undo")


def disk(name: str = "sda", kind: str | None = "ssd", **known: Any) -> Disk:
    return Disk.model_validate({"name": name, "kind": kind, **known})


def filesystem(
    mount_point: str = "/data",
    kind: str = "ext4",
    options: tuple[str, ...] = ("rw", "relatime"),
    disks: tuple[str, ...] = ("sda",),
    **known: Any,
) -> FileSystem:
    source = known.pop("source", "/dev/sda1")
    return FileSystem(
        mount_point=mount_point, kind=kind, source=source, options=options, disks=disks, **known
    )


def array(level: str, devices: int = 4, **known: Any) -> Array:
    """md0, on separate disks; the host of `arrayed` has it under everything."""
    return Array(name="md0", level=level, devices=devices, **{"working": devices, **known})


def storage(
    *places: FileSystem, disks: tuple[Disk, ...] = (), uses: Mapping[str, str] | None = None, **more: Any
) -> Storage:
    """File systems, the first with all of the server's files but for `uses` (files: mount point)."""
    found = places or (filesystem(),)
    where = {**dict.fromkeys(FILES, found[0].mount_point), **(uses or {})}
    return Storage(
        disks=disks or (disk(),),
        filesystems=found,
        uses=tuple(
            Use.model_validate({"files": files, "path": f"{point}/mysql", "mount_point": point})
            for files, point in where.items()
        ),
        **more,
    )


def stored(*places: FileSystem, **more: Any) -> Host:
    """A host with this storage."""
    return host(storage=storage(*places, **more))


def arrayed(of: Array, **more: Any) -> Host:
    """A host with everything on this array of SSDs."""
    names = tuple(f"sd{chr(ord('a') + number)}" for number in range(of.devices))
    members = more.pop("disks", tuple(disk(name) for name in names))
    return host(
        storage=storage(
            filesystem(disks=tuple(each.name for each in members), array=of.name, source="/dev/md0"),
            disks=members,
            arrays=(of,),
        ),
        **more,
    )


def process(
    limits: Mapping[str, tuple[int | None, int | None]] | None = None,
    properties: Mapping[str, str] | None = None,
    **known: Any,
) -> Process:
    """A server that mariadb.service has started; `limits` are (soft, hard)."""
    unit = known.pop("unit", Unit(name="mariadb.service", properties=dict(properties or {})))
    return Process(
        pid=4711,
        user="mysql",
        limits={name: Limit(soft=soft, hard=hard) for name, (soft, hard) in (limits or {}).items()},
        unit=unit,
        **known,
    )
