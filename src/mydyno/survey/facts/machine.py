"""The machine under the server, from /proc and /sys, its load, and the server's process."""

from collections.abc import Mapping
from typing import Literal

from mydyno.core.record import Record
from mydyno.survey.facts.storage import Storage


class Limit(Record):
    """None: unlimited."""

    soft: int | None = None
    hard: int | None = None


class Unit(Record):
    """The systemd unit that started it."""

    name: str
    """`mariadb.service`."""
    file: str | None = None
    drop_ins: tuple[str, ...] = ()
    properties: Mapping[str, str] = {}
    """As `systemctl show` prints them: LimitNOFILE, LimitNPROC, LimitMEMLOCK, TasksMax, OOMScoreAdjust,
    MemoryMax, NUMAPolicy, SendSIGKILL, TimeoutStopUSec (`1min 30s`)..."""


class Process(Record):
    pid: int
    user: str | None = None
    binary: str | None = None
    limits: Mapping[str, Limit] = {}
    """By the names of /proc/PID/limits: `Max open files`, `Max processes`, `Max locked memory`."""
    open_files: int | None = None
    threads: int | None = None
    resident_bytes: int | None = None
    swapped_bytes: int | None = None
    oom_score_adj: int | None = None
    numa_policy: str | None = None
    """The policy of most of its memory in /proc/PID/numa_maps: default, interleave..."""
    unit: Unit | None = None
    option_files: tuple[str, ...] = ()
    """The my.cnf files that this server reads, in its order."""


class Cpu(Record):
    """Usable ones; in a container or under a quota fewer than the machine has."""

    count: int
    model: str | None = None
    governor: str | None = None
    """scaling_governor of the first CPU: performance, powersave, schedutil..."""
    scaling_driver: str | None = None
    """scaling_driver next to it: intel_pstate, acpi-cpufreq... what `powersave` means depends on it."""
    numa_nodes: int | None = None
    numa_memory_bytes: tuple[int, ...] = ()
    """Memory of each node."""


class Memory(Record):
    """Bytes."""

    total: int
    available: int | None = None
    swap_total: int | None = None
    swap_free: int | None = None
    huge_pages_total: int | None = None
    huge_pages_free: int | None = None
    """HugePages_Free less HugePages_Rsvd: neither used nor reserved."""
    huge_page_bytes: int | None = None
    limit: int | None = None
    """Of the server's own control group (memory.max); None: unlimited or not known."""

    @property
    def usable(self) -> int:
        """What the server can have at most: the smaller of the machine's and its group's."""
        return min(self.total, self.limit) if self.limit is not None else self.total


class Kernel(Record):
    release: str | None = None
    command_line: tuple[str, ...] = ()
    sysctls: Mapping[str, str] = {}
    """By dotted name, as sysctl(8) writes it: `vm.swappiness`."""
    thp_enabled: str | None = None
    """always, madvise or never."""
    thp_defrag: str | None = None
    clock_source: str | None = None
    """current_clocksource of /sys/devices/system/clocksource/clocksource0."""
    clock_sources: tuple[str, ...] = ()
    """available_clocksource next to it."""
    counters: Mapping[str, int] = {}
    """Since boot: `oom_kill`, `compact_stall`, `pswpin`, `pswpout` of /proc/vmstat by their names there;
    `TcpExtListenOverflows`, `TcpExtTCPReqQFullDoCookies` and `TcpExtTCPReqQFullDrop` of /proc/net/netstat
    by the names of nstat(8)."""
    limits_conf: tuple[str, ...] = ()
    """Lines of /etc/security/limits.conf and limits.d, without comments."""

    def number(self, name: str) -> int | None:
        """A sysctl as a number; None when it is unknown or none."""
        text = self.sysctls.get(name, "").strip()
        return int(text) if text.lstrip("-").isdigit() else None


class DiskLoad(Record):
    name: str
    """The disk's kernel name."""
    busy: float
    """The part of the time with at least one request at work."""
    reads: float
    """A second."""
    writes: float


class Load(Record):
    """Shares are of all CPUs together, 0 to 1."""

    seconds: float
    cpus: int
    """Of the machine; a container or an affinity may leave the server fewer."""
    cpu_busy: float
    """Neither idle nor waiting for a disk nor taken by the hypervisor."""
    cpu_waiting: float
    """Idle while a request to a disk was at work."""
    cpu_stolen: float
    """Taken by the hypervisor."""
    disks: tuple[DiskLoad, ...] = ()

    def disk(self, name: str) -> DiskLoad | None:
        return next((disk for disk in self.disks if disk.name == name), None)


class Host(Record):
    cpu: Cpu
    memory: Memory
    kernel: Kernel = Kernel()
    storage: Storage = Storage()
    process: Process | None = None
    """The server's; None: it cannot be seen from here."""
    distribution: str | None = None
    virtualisation: str | None = None
    """`none` on bare metal."""
    container: bool | None = None
    """Whether the server runs in a container, whose kernel settings are not its own."""
    systemd: bool | None = None
    """Whether systemd runs the machine."""
    cloud: Literal["Microsoft Azure"] | None = None
    """None: none that is looked for."""
    load: Load | None = None
    """While the server was watched."""
