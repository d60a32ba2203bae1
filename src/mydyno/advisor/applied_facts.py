"""The facts as they would be after changes were carried out: pure.

What a server rounds is rounded, and what follows from a change follows: a process has the limits of its
unit, a server with more files allowed says so, kernel settings that exclude each other do. What depends on
the load (status, free memory) stays as it was read.
"""

from collections.abc import Iterable
from typing import TypeVar

from mydyno.apply.change import (
    Change,
    RemoveVariable,
    SetArray,
    SetMountOptions,
    SetQueue,
    SetSysctl,
    SetSysfs,
    SetUnit,
    SetVariable,
)
from mydyno.core.record import Record
from mydyno.core.units import bytes_or_none, parse_bytes
from mydyno.server.variables.row import same_value
from mydyno.survey import facts

_R = TypeVar("_R", bound=Record)
_D = TypeVar("_D", facts.Disk, facts.Array)
_M = TypeVar("_M", facts.FileSystem, facts.FstabEntry)
_POOL = "innodb_buffer_pool_size"
_ROUNDED = {"read_buffer_size": 4096, "innodb_log_file_size": 4096, "innodb_redo_log_capacity": 1 << 20}
"""To multiples of how many bytes servers round these down."""
_LIMITS = {
    "LimitNOFILE": "Max open files",
    "LimitNPROC": "Max processes",
    "LimitMEMLOCK": "Max locked memory",
    "LimitCORE": "Max core file size",
    "LimitSTACK": "Max stack size",
}
_EXCLUDING = {
    "vm.dirty_bytes": "vm.dirty_ratio",
    "vm.dirty_ratio": "vm.dirty_bytes",
    "vm.dirty_background_bytes": "vm.dirty_background_ratio",
    "vm.dirty_background_ratio": "vm.dirty_background_bytes",
}
"""Setting one makes the other 0 (Linux kernel documentation, /proc/sys/vm)."""
_ATIMES = frozenset({"atime", "noatime", "relatime", "strictatime"})


def after(system: facts.System, changes: Iterable[Change]) -> facts.System:
    """The system with all of `changes` made; what is to be done by hand is left undone.

    Schedulers come first, as a disk's queue is recreated for its scheduler.
    """
    for change in sorted(changes, key=lambda word: not _is_scheduler(word)):
        system = _changed(system, change)
    return system


def _is_scheduler(change: Change) -> bool:
    return isinstance(change, SetQueue) and change.attribute == "scheduler"


def _changed(system: facts.System, change: Change) -> facts.System:
    server, host = system.server, system.host
    match change:
        case SetVariable(name=name, value=value):
            return _with(system, server=_with_variable(server, name, value))
        case RemoveVariable(name=name) if name in server.variables:
            freed = _with(server.variables[name], origin=facts.Origin(source="compiled"))
            return _with(system, server=_with(server, variables={**server.variables, name: freed}))
    if host is None:
        return system
    match change:
        case SetSysctl(name=name, value=value):
            return _with(system, host=_with_sysctl(host, name, value))
        case SetSysfs(path=path, value=value):
            part = "thp_enabled" if path.endswith("/enabled") else "thp_defrag"
            return _with(system, host=_with(host, kernel=_with(host.kernel, **{part: value})))
        case SetQueue() | SetArray() | SetMountOptions():
            return _with(system, host=_with(host, storage=_with_storage(host.storage, change)))
        case SetUnit(name=name, value=value) if host.process is not None:
            process = _with_unit(host.process, change)
            changed = _with(system, host=_with(host, process=process))
            return _with(changed, server=_with_files(server, process)) if name == "LimitNOFILE" else changed
    return system


def _with_variable(server: facts.Server, name: str, value: str) -> facts.Server:
    before = server.variables.get(name)
    shown = _as_shown(server, name, value, before.value if before else None)
    known = before or facts.Variable(value=shown)
    return _with(server, variables={**server.variables, name: _with(known, value=shown, origin=_OURS)})


_OURS = facts.Origin(source="file")


def _as_shown(server: facts.Server, name: str, value: str, before: str | None) -> str:
    """As the server shows it: bytes without a suffix, switches in the words it had."""
    if before is not None and same_value(before, value):
        return before
    word = value.strip().casefold()
    if before is not None and before.upper() in ("ON", "OFF") and word in ("0", "1"):
        return "ON" if word == "1" else "OFF"
    try:
        size = parse_bytes(value)
    except ValueError:
        return value
    if name == _POOL:
        return str(_rounded_pool(server, size))
    unit = _ROUNDED.get(name, 1)
    return str(size // unit * unit if size >= unit else size)


def _rounded_pool(server: facts.Server, size: int) -> int:
    """Up to whole chunks, in MySQL for each instance (Manual, "Configuring InnoDB Buffer Pool Size").

    Releases before 5.7 have no chunks.
    """
    chunk = server.number("innodb_buffer_pool_chunk_size")
    apart = chunk and not server.release.is_mariadb
    parts = server.number("innodb_buffer_pool_instances") or 1 if apart else 1
    chunk = chunk or 1 << 20
    unit = chunk * parts
    return -(-size // unit) * unit


def _with_sysctl(host: facts.Host, name: str, value: str) -> facts.Host:
    settings = {**host.kernel.sysctls, name: value}
    other = _EXCLUDING.get(name)
    if other in settings and value != "0":
        settings[other] = "0"
    memory = host.memory
    if name == "vm.nr_hugepages" and value.isdigit():
        memory = _with(memory, huge_pages_total=int(value))
    return _with(host, kernel=_with(host.kernel, sysctls=settings), memory=memory)


def _with_storage(storage: facts.Storage, change: SetQueue | SetArray | SetMountOptions) -> facts.Storage:
    match change:
        case SetQueue(disk=name, attribute="scheduler", value=value):
            return _with(storage, disks=_named(storage.disks, name, scheduler=value, requests=None))
        case SetQueue(disk=name, attribute="nr_requests", value=value):
            return _with(storage, disks=_named(storage.disks, name, requests=int(value)))
        case SetQueue(disk=name, value=value):
            disks = _named(storage.disks, name, read_ahead_kib=int(value))
            return _with(storage, disks=disks, arrays=_named(storage.arrays, name, read_ahead_kib=int(value)))
        case SetArray(array=name, attribute=attribute, value=value):
            return _with(storage, arrays=_named(storage.arrays, name, **{attribute: int(value)}))
        case SetMountOptions():
            return _with(
                storage,
                filesystems=_remounted(storage.filesystems, change),
                fstab=_remounted(storage.fstab, change),
            )


def _named(devices: Iterable[_D], name: str, **changes: object) -> tuple[_D, ...]:
    """The devices with these changes of the one called `name`."""
    return tuple(_with(device, **changes) if device.name == name else device for device in devices)


def _remounted(mounts: Iterable[_M], change: SetMountOptions) -> tuple[_M, ...]:
    return tuple(
        _with(mount, options=_options(mount.options, change))
        if mount.mount_point == change.mount_point
        else mount
        for mount in mounts
    )


def _options(options: tuple[str, ...], change: SetMountOptions) -> tuple[str, ...]:
    gone = {*change.remove, *change.add}
    if _ATIMES & set(change.add):
        gone |= _ATIMES
    kept = [option for option in options if option not in gone and f"{option.partition('=')[0]}=" not in gone]
    return (*kept, *change.add)


def _with_unit(process: facts.Process, change: SetUnit) -> facts.Process:
    unit = process.unit or facts.Unit(name=change.unit)
    changes: dict[str, object] = {
        "unit": _with(unit, properties={**unit.properties, _shown(change.name): change.value})
    }
    if (limit := _LIMITS.get(change.name)) is not None:
        number = None if change.value == "infinity" else bytes_or_none(change.value)
        changes["limits"] = {**process.limits, limit: facts.Limit(soft=number, hard=number)}
    if change.name == "OOMScoreAdjust":
        changes["oom_score_adj"] = int(change.value)
    if change.name == "NUMAPolicy":
        changes["numa_policy"] = change.value
    return _with(process, **changes)


def _shown(name: str) -> str:
    """systemctl show calls times by another name than unit files do (org.freedesktop.systemd1(5))."""
    return f"{name.removesuffix('Sec')}USec" if name.endswith("Sec") else name


def _with_files(server: facts.Server, process: facts.Process) -> facts.Server:
    """A server takes as many files as its process may have, when that is more than it requested."""
    limit, now = process.limits["Max open files"].soft, server.number("open_files_limit")
    if limit is None or now is None or limit <= now:
        return server
    return _with_variable(server, "open_files_limit", str(limit))


def _with(record: _R, **changes: object) -> _R:
    return record.model_copy(update=changes)
