"""The machine that a result belongs to, read from /proc and /sys: what is missing is None, never a guess.

The files may be this machine's or another's: `environment_of` reads through a function.

xfs can when it was made with reflink=1 (mkfs.xfs does so since 5.1), btrfs always, others with time. So a
block is shared between two files without a name (O_TMPFILE): nothing is ever seen in the folders. FICLONE is
of ioctl_ficlonerange(2).
"""

import fcntl
import os
import platform
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from mydyno.core.facts import HostFacts
from mydyno.machine import proc

_FICLONE = 0x40049409
_BLOCK = b"\0" * 65536
OWN = Path("/proc/self/mountinfo")


@dataclass(frozen=True)
class Mount:
    """A file system where it is mounted, as /proc/PID/mountinfo has it."""

    mount_point: str
    kind: str
    """`ext4`."""
    source: str
    options: tuple[str, ...]
    """Of the mount, then of its file system, each once."""
    device: str
    """MAJOR:MINOR; the major number is 0 where no block device is under it (btrfs, overlay, network)."""
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
            mount_point=_plain(columns[4]),
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


@dataclass(frozen=True)
class Environment:
    """Everything about a machine that can move a benchmark and that is readable without root."""

    cpu_model: str | None
    cpus: int
    memory_bytes: int | None
    kernel: str
    distribution: str | None
    virtualisation: str | None
    filesystem: Mount | None
    io_scheduler: str | None
    transparent_hugepages: str | None
    swappiness: int | None
    load_average: tuple[float, float, float] | None
    hardware_counters: str | None
    """Whether the CPU's counters (instructions, cache misses) can be read; None where nothing says so."""


@dataclass(frozen=True)
class Place:
    """Where a path is: itself or its nearest parent that is there, links resolved."""

    path: Path
    free_bytes: int | None
    """What an ordinary user may still fill."""
    device: tuple[int, int] | None
    """Major and minor number of the device that the file system is on."""


Read = Callable[[str], str | None]
"""Gives the text of a file of the machine; None when it is missing or unreadable."""


def read_facts(path: Path) -> HostFacts:
    """What a plan needs of this machine."""
    place = _place(path)
    facts = facts_of(file_text, usable_cpus(), place)
    return replace(facts, shares_blocks=shares_blocks(place.path, place.path))


def read_environment(path: Path) -> Environment:
    """The environment of this machine; file system and I/O scheduler are those under `path`."""
    return environment_of(file_text, usable_cpus(), platform.release(), _place(path))


def facts_of(read: Read, cpus: int, place: Place) -> HostFacts:
    """What a plan needs of the machine whose files `read` reads."""
    return HostFacts(memory_bytes(read("/proc/meminfo")), cpus, place.free_bytes)


def environment_of(read: Read, cpus: int, kernel: str, place: Place) -> Environment:
    """The environment of the machine whose files `read` reads."""
    cpuinfo = read("/proc/cpuinfo")
    return Environment(
        cpu_model=cpu_model(cpuinfo),
        cpus=cpus,
        memory_bytes=memory_bytes(read("/proc/meminfo")),
        kernel=kernel,
        distribution=distribution(read("/etc/os-release")),
        virtualisation=virtualisation(cpuinfo, read("/sys/class/dmi/id/sys_vendor")),
        filesystem=filesystem_under(place.path, read("/proc/self/mountinfo")),
        io_scheduler=_io_scheduler(read, place.device),
        transparent_hugepages=chosen(read("/sys/kernel/mm/transparent_hugepage/enabled")),
        swappiness=_integer(read("/proc/sys/vm/swappiness")),
        load_average=load_average(read("/proc/loadavg")),
        hardware_counters=hardware_counters(read),
    )


_COUNTERS = ("cpu", "cpu_core", "armv8_pmuv3_0", "armv8_pmuv3")
"""The counters of x86, of its hybrids and of ARM, as /sys/bus/event_source/devices names them."""
_FORBIDDEN = 3
"""`kernel.perf_event_paranoid` of Debian and Ubuntu that allows ordinary users nothing."""


def hardware_counters(read: Read) -> str | None:
    """Whether instructions and cache misses can be counted by perf_event_open(2)."""
    # -1 is one of its values.
    paranoid = _integer((read("/proc/sys/kernel/perf_event_paranoid") or "").removeprefix("-"))
    if paranoid is None:
        return "none: this kernel has no perf events"
    if not any(read(f"/sys/bus/event_source/devices/{name}/type") for name in _COUNTERS):
        return "none: this machine has no PMU (most virtual machines have none)"
    if paranoid >= _FORBIDDEN:
        return f"for root only: kernel.perf_event_paranoid is {paranoid}"
    return "in user space"


def usable_cpus() -> int:
    """CPUs that this process may use: fewer than the machine has under taskset or in a container."""
    return len(os.sched_getaffinity(0))


def memory_bytes(meminfo: str | None) -> int | None:
    """MemTotal of /proc/meminfo, which counts in KiB whatever it writes there."""
    return proc.kib(meminfo or "", "MemTotal")


def cpu_model(cpuinfo: str | None) -> str | None:
    """The first CPU's name; ARM kernels write none."""
    match = re.search(r"^model name\s*:\s*(.+)$", cpuinfo or "", re.MULTILINE)
    return match[1].strip() if match else None


def distribution(os_release: str | None) -> str | None:
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)"?$', os_release or "", re.MULTILINE)
    return match[1] if match else None


def virtualisation(cpuinfo: str | None, vendor: str | None) -> str | None:
    """The maker that DMI names when the CPU says that it runs under a hypervisor; `none` on bare metal."""
    if cpuinfo is None:
        return None
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    if flags is None:
        return None
    if "hypervisor" not in flags[1].split():
        return "none"
    return (vendor or "").strip() or "virtual machine"


def filesystem_under(path: Path, mountinfo: str | None) -> Mount | None:
    """The mount whose point is the longest prefix of `path`; the last one wins where two are stacked.

    `mountinfo`: the text of that file.
    """
    above = [mount for mount in mounts(mountinfo) if path.is_relative_to(mount.mount_point)]
    return max(reversed(above), key=lambda mount: len(mount.mount_point), default=None)


def chosen(text: str | None) -> str | None:
    """The bracketed word of a sysfs choice: `always [madvise] never` is `madvise`."""
    match = re.search(r"\[([^\]]+)\]", text or "")
    return match[1] if match else None


def load_average(text: str | None) -> tuple[float, float, float] | None:
    """Runnable and waiting tasks averaged over 1, 5 and 15 minutes."""
    try:
        one, five, fifteen = (float(word) for word in (text or "").split()[:3])
    except ValueError:
        return None
    return one, five, fifteen


def _io_scheduler(read: Read, device: tuple[int, int] | None) -> str | None:
    if device is None:
        return None
    block = f"/sys/dev/block/{device[0]}:{device[1]}"
    # A partition has no separate queue: that is one folder up, at its disk.
    for folder in (block, f"{block}/.."):
        scheduler = chosen(read(f"{folder}/queue/scheduler"))
        if scheduler:
            return scheduler
    return None


def _place(path: Path) -> Place:
    path = path.absolute()
    while not path.exists() and path != path.parent:
        path = path.parent
    path = path.resolve()
    try:
        space = os.statvfs(path)
        device = path.stat().st_dev
    except OSError:
        return Place(path, None, None)
    return Place(path, space.f_bavail * space.f_frsize, (os.major(device), os.minor(device)))


def _integer(text: str | None) -> int | None:
    return int(text) if text is not None and text.strip().isdigit() else None


def file_text(path: str) -> str | None:
    """Of this machine; None when it is missing or unreadable."""
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return None


def shares_blocks(source: Path, target: Path) -> bool:
    """Whether a file in the folder `source` can be cloned into `target` without being copied."""
    with ExitStack() as closing:
        try:
            one, other = (_nameless(folder, closing) for folder in (source, target))
            os.write(one, _BLOCK)
            fcntl.ioctl(other, _FICLONE, one)
        except OSError:
            return False
        return True


def _nameless(folder: Path, closing: ExitStack) -> int:
    descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    closing.callback(os.close, descriptor)
    return descriptor
