"""CPUs, memory and settings of the kernel, from /proc and /sys."""

import math
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass

from mydyno.core.secrets import masked
from mydyno.core.words import words
from mydyno.machine import proc
from mydyno.machine.environment import chosen, cpu_model, memory_bytes
from mydyno.survey.facts import Cpu, DiskLoad, Kernel, Load, Memory, Unread
from mydyno.survey.host.machine import Machine, note

SYSCTLS = words(
    """
    dev.raid.speed_limit_max dev.raid.speed_limit_min fs.aio-max-nr fs.aio-nr fs.file-max fs.file-nr
    fs.nr_open kernel.numa_balancing kernel.perf_event_paranoid kernel.pid_max
    kernel.sched_autogroup_enabled kernel.sched_migration_cost_ns kernel.shmall kernel.shmmax
    kernel.threads-max net.core.netdev_max_backlog net.core.rmem_max net.core.somaxconn
    net.core.wmem_max net.ipv4.ip_local_port_range net.ipv4.ip_local_reserved_ports
    net.ipv4.tcp_fin_timeout net.ipv4.tcp_keepalive_time net.ipv4.tcp_max_syn_backlog
    net.ipv4.tcp_slow_start_after_idle net.ipv4.tcp_syncookies net.ipv4.tcp_tw_reuse
    vm.compaction_proactiveness vm.dirty_background_bytes vm.dirty_background_ratio vm.dirty_bytes
    vm.dirty_expire_centisecs vm.dirty_ratio vm.dirty_writeback_centisecs vm.hugetlb_shm_group
    vm.laptop_mode vm.max_map_count vm.min_free_kbytes vm.nr_hugepages vm.overcommit_kbytes
    vm.overcommit_memory vm.overcommit_ratio vm.page-cluster vm.swappiness vm.vfs_cache_pressure
    vm.watermark_scale_factor vm.zone_reclaim_mode
    """
)
_THP = "/sys/kernel/mm/transparent_hugepage"
_SCALING = "/sys/devices/system/cpu/cpu0/cpufreq/scaling"
_CLOCK = "/sys/devices/system/clocksource/clocksource0"
_VMSTAT, _NETSTAT = "/proc/vmstat", "/proc/net/netstat"
_OF_VMSTAT = ("compact_stall", "oom_kill", "pswpin", "pswpout")
_OF_NETSTAT = ("TcpExtListenOverflows", "TcpExtTCPReqQFullDoCookies", "TcpExtTCPReqQFullDrop")
_LIMITS_CONF = "/etc/security/limits.conf"
_NODES = "/sys/devices/system/node/node[0-9]*/meminfo"


def files() -> tuple[str, ...]:
    """What the readers of this module read of every machine."""
    return (
        "/proc/cpuinfo",
        "/proc/stat",
        "/proc/meminfo",
        "/proc/cmdline",
        "/proc/sys/kernel/osrelease",
        f"{_THP}/enabled",
        f"{_THP}/defrag",
        f"{_SCALING}_governor",
        f"{_SCALING}_driver",
        f"{_CLOCK}/current_clocksource",
        f"{_CLOCK}/available_clocksource",
        _VMSTAT,
        _NETSTAT,
        *map(_path, SYSCTLS),
    )


def read_cpu(machine: Machine, allowed: str | None, quota: float | None, unread: list[Unread]) -> Cpu | None:
    """`allowed`: the server's Cpus_allowed_list, `quota`: CPUs that its control group may have at once.

    None when /proc does not show the CPUs.
    """
    online = proc.cpu_count(machine.read_text("/proc/stat") or "")
    usable = min(count_of_list(allowed), online) if allowed else online
    if not online:
        note(unread, machine, "the CPUs", ("/proc/stat",))
        return None
    nodes = machine.glob(_NODES)
    machine.fetch(nodes)
    return Cpu(
        count=max(1, min(usable, math.ceil(quota))) if quota else usable,
        model=cpu_model(machine.read_text("/proc/cpuinfo")),
        governor=_line(machine.read_text(f"{_SCALING}_governor")),
        scaling_driver=_line(machine.read_text(f"{_SCALING}_driver")),
        numa_nodes=len(nodes) or None,
        numa_memory_bytes=tuple(proc.kib(machine.read_text(node) or "", "MemTotal") or 0 for node in nodes),
    )


def read_memory(machine: Machine, limit: int | None, unread: list[Unread]) -> Memory | None:
    """`limit`: of the server's control group. None when /proc does not show the memory."""
    text = machine.read_text("/proc/meminfo") or ""
    total = memory_bytes(text)
    if total is None:
        note(unread, machine, "the memory", ("/proc/meminfo",))
        return None
    free = _pages(text, "Free")
    return Memory(
        total=total,
        available=proc.kib(text, "MemAvailable"),
        swap_total=proc.kib(text, "SwapTotal"),
        swap_free=proc.kib(text, "SwapFree"),
        huge_pages_total=_pages(text, "Total"),
        huge_pages_free=None if free is None else free - (_pages(text, "Rsvd") or 0),
        huge_page_bytes=proc.kib(text, "Hugepagesize"),
        limit=limit if limit is not None and limit < total else None,
    )


def read_kernel(machine: Machine, unread: list[Unread]) -> Kernel:
    values = {name: machine.read_text(_path(name)) for name in SYSCTLS}
    if not any(values.values()):
        note(unread, machine, "the kernel's settings", tuple(map(_path, SYSCTLS)))
    thp = machine.read_text(f"{_THP}/enabled")
    if thp is None:
        note(unread, machine, "transparent huge pages", (f"{_THP}/enabled",))
    conf = (_LIMITS_CONF, *machine.glob("/etc/security/limits.d/*.conf"))
    machine.fetch(conf)
    return Kernel(
        release=_line(machine.read_text("/proc/sys/kernel/osrelease")),
        command_line=tuple(masked(machine.read_text("/proc/cmdline") or "").split()),
        sysctls={name: " ".join(value.split()) for name, value in values.items() if value is not None},
        thp_enabled=chosen(thp),
        thp_defrag=chosen(machine.read_text(f"{_THP}/defrag")),
        clock_source=_line(machine.read_text(f"{_CLOCK}/current_clocksource")),
        clock_sources=tuple((machine.read_text(f"{_CLOCK}/available_clocksource") or "").split()),
        counters=counters(machine.read_text(_VMSTAT) or "", machine.read_text(_NETSTAT) or ""),
        limits_conf=tuple(_rules(machine.read_text(path) or "" for path in conf)),
    )


def counters(vmstat: str, netstat: str) -> dict[str, int]:
    """Those that rules look at, from the texts of the two files; netstat writes a line of names before each
    line of numbers."""
    values = {name: value for name, _, value in (line.partition(" ") for line in vmstat.splitlines())}
    lines = netstat.splitlines()
    for names, numbers in zip(lines[::2], lines[1::2], strict=False):
        group, *columns = names.replace(":", " ").split()
        values |= dict(zip((f"{group}{column}" for column in columns), numbers.split()[1:], strict=False))
    return {name: int(values[name]) for name in (*_OF_VMSTAT, *_OF_NETSTAT) if name in values}


def count_of_list(text: str) -> int:
    """How many CPUs `0-3,8` is (the list format of cpuset(7))."""
    count = 0
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        count += int(last or first) - int(first) + 1
    return count


def _rules(texts: Iterable[str]) -> Iterable[str]:
    for text in texts:
        for line in text.splitlines():
            rule = " ".join(line.partition("#")[0].split())
            if rule:
                yield rule


def _path(sysctl: str) -> str:
    return f"/proc/sys/{sysctl.replace('.', '/')}"


def _pages(meminfo: str, which: str) -> int | None:
    line = re.search(rf"^HugePages_{which}:\s+(\d+)$", meminfo, re.MULTILINE)
    return int(line[1]) if line else None


def _line(text: str | None) -> str | None:
    return (text or "").strip() or None


@dataclass(frozen=True)
class Counters:
    at: float
    """Seconds of a clock that only goes forward."""
    stat: str
    diskstats: str


def read_counters(machine: Machine) -> Counters | None:
    """Past what the machine keeps of files, as these change. None: they may not be read."""
    at = time.monotonic()
    texts = [machine.run(["cat", f"/proc/{name}"]) for name in ("stat", "diskstats")]
    stat, diskstats = ("" if done is None or done.returncode else done.stdout for done in texts)
    return Counters(at, stat, diskstats) if stat else None


def load_between(before: Counters | None, after: Counters | None) -> Load | None:
    """None: not read, or no time between them. Pure."""
    if before is None or after is None:
        return None
    seconds = after.at - before.at
    earlier, later = proc.cpu_seconds(before.stat), proc.cpu_seconds(after.stat)
    grown = {mode: max(0.0, number - earlier.get(mode, 0.0)) for mode, number in later.items()}
    whole = sum(grown.values())
    if seconds <= 0 or not whole:
        return None
    idle, waiting, stolen = (grown.get(mode, 0.0) / whole for mode in ("idle", "iowait", "steal"))
    return Load(
        seconds=round(seconds, 3),
        cpus=proc.cpu_count(after.stat),
        cpu_busy=round(max(0.0, 1 - idle - waiting - stolen), 4),
        cpu_waiting=round(waiting, 4),
        cpu_stolen=round(stolen, 4),
        disks=_disks(before.diskstats, after.diskstats, seconds),
    )


def _disks(before: str, after: str, seconds: float) -> tuple[DiskLoad, ...]:
    earlier = proc.disks(before)
    return tuple(
        DiskLoad(
            name=name,
            busy=round(min(1.0, (now.busy_s - then.busy_s) / seconds), 4),
            reads=round((now.reads - then.reads) / seconds, 2),
            writes=round((now.writes - then.writes) / seconds, 2),
        )
        for name, now in proc.disks(after).items()
        if (then := earlier.get(name)) is not None
    )
