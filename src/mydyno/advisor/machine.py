"""What several rules read of a host: limits, units, the page cache, the places of files and what is below,
free space under the server's files and how soon what grows there fills it. None: not known."""

import math
import re

from mydyno.advisor.counts import DAY
from mydyno.advisor.rule import NotHere, require
from mydyno.apply.change import SetUnit
from mydyno.core.units import span_seconds
from mydyno.survey.facts import Array, FileSystem, Kernel, Limit, Server, System, Unit
from mydyno.survey.facts.storage import LogicalVolume


def past_page_cache(server: Server) -> bool | None:
    """Whether InnoDB opens its tables with O_DIRECT. MariaDB made several settings of one in 11.0."""
    buffering = server.switch("innodb_data_file_buffering")
    if buffering is not None:
        return not buffering
    method = server.text("innodb_flush_method")
    return None if method is None else method.upper().startswith("O_DIRECT")


def kernel_number(kernel: Kernel) -> tuple[int, int] | None:
    """The first two numbers of the kernel's release: (6, 1) of `6.1.0-18-amd64`."""
    match = re.match(r"(\d+)\.(\d+)", kernel.release or "")
    return (int(match[1]), int(match[2])) if match else None


def limit_of(system: System, name: str) -> Limit | None:
    """A limit of the server's process, by its name in /proc/PID/limits; None when it is not known."""
    process = system.host.process if system.host else None
    return process.limits.get(name) if process else None


def unit_of(system: System) -> Unit | None:
    """The systemd unit that started the server; None when there is none or it is not known."""
    process = system.host.process if system.host else None
    return process.unit if process else None


def set_unit(unit: Unit, name: str, value: str, shown: str | None = None) -> SetUnit:
    """The change of a property of the unit, which systemctl shows as `shown`, by default under its name."""
    return SetUnit(unit=unit.name, name=name, value=value, was=unit.properties.get(shown or name))


def unit_seconds(unit: Unit, name: str) -> float | None:
    """A time of a unit: `TimeoutStop` is TimeoutStopUSec, as systemctl show writes it (`1min 30s`), or
    TimeoutStopSec, as a drop-in does, which wins. infinity is math.inf; None when it is not known."""
    return span_seconds(unit.properties.get(f"{name}Sec") or unit.properties.get(f"{name}USec") or "")


def power_of_two(least: float) -> int:
    """The smallest power of two that is not below `least`."""
    return 1 << max(0, math.ceil(least) - 1).bit_length()


def places(system: System) -> tuple[tuple[FileSystem, str], ...]:
    """The file systems that the server's files lie on, each with what lies there: `data, redo log`."""
    storage = system.host.storage if system.host else None
    if storage is None:
        return ()
    mounted = []
    for filesystem in storage.filesystems:
        files = dict.fromkeys(use.files for use in storage.uses if use.mount_point == filesystem.mount_point)
        if files:
            mounted.append((filesystem, ", ".join(files)))
    return tuple(mounted)


def data_volume(system: System) -> tuple[FileSystem, LogicalVolume | None]:
    """The file system of the data and the logical volume that it is on, where that is known. For rules: as
    `require`, where it is on none."""
    storage = require(system.host, "the file system of the data").storage
    data = require(storage.of("data"), "the file system of the data")
    name = require(data.volume or None, NotHere("the data is not on a logical volume"))
    return data, next((volume for volume in storage.volumes if volume.name == name), None)


def arrays(system: System, *levels: str) -> tuple[Array, ...] | None:
    """The software arrays of these levels (of any, if none is given) under the server's files; None when it
    is not known where those lie."""
    storage = system.host.storage if system.host else None
    mounted = places(system)
    if storage is None or not mounted:
        return None
    names = {filesystem.array for filesystem, _ in mounted}
    return tuple(
        array for array in storage.arrays if array.name in names and (not levels or array.level in levels)
    )


ENTRY_BYTES = 1024
"""A slow statement in the slow log with its header: an estimate, as statements differ in length."""


def free_bytes(system: System, *files: str) -> int | None:
    """Of the file system under the first of these kinds of files (see `Use`) whose place is known."""
    storage = system.host.storage if system.host else None
    if storage is None:
        return None
    place = next((filesystem for name in files if (filesystem := storage.of(name)) is not None), None)
    return place.free_bytes if place else None


def usual_rate(server: Server, name: str) -> float | None:
    """How much a counter grows each second: the mean since the start once the server is up for a day, since
    a minute that was watched says little of one; the larger of both before."""
    seen, mean = server.rate(name), server.average(name)
    if mean is not None and (server.uptime_seconds or 0) >= DAY:
        return mean
    return max((rate for rate in (seen, mean) if rate is not None), default=None)


def days_until_full(free: int | None, bytes_per_second: float | None) -> float | None:
    """None too for what does not grow."""
    return None if free is None or not bytes_per_second else free / (bytes_per_second * DAY)
