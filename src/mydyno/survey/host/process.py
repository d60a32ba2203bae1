"""The server's process: its limits, files, memory, systemd unit, control group, and how it was started.

Linux, admin-guide/cgroup-v2.rst (memory.max, cpu.max) and cgroup-v1/memory.rst: the tightest limit on the way
up counts.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mydyno.core.words import words
from mydyno.machine import proc
from mydyno.survey.facts import Limit, Process, Unit, Unread
from mydyno.survey.facts.option_files import CHOOSE_FILES, command_line_options
from mydyno.survey.host.machine import Machine, note

_PROPERTIES = words(
    """
    CPUQuotaPerSecUSec DropInPaths FragmentPath IOWeight KillMode LimitCORE LimitMEMLOCK LimitNOFILE
    LimitNOFILESoft LimitNPROC MemoryHigh MemoryMax MemorySwapMax NUMAMask NUMAPolicy Nice OOMPolicy
    OOMScoreAdjust PrivateTmp ProtectHome ProtectSystem Restart SendSIGKILL TasksMax TimeoutStartUSec
    TimeoutStopUSec Type User
    """
)
"""Of systemd.exec(5), systemd.service(5), systemd.resource-control(5). Never its environment or command."""
_NAMES = ("mariadbd", "mysqld")
_LISTENS_FOR_OTHERS = ("systemd", "init")
"""Programs that hand a socket over to the server (socket activation) and stay its peer."""
_ROOT = "/sys/fs/cgroup"
_CONTAINER = re.compile(r"docker|kubepods|containerd|libpod|crio|lxc|machine\.slice")
_UNLIMITED_V1 = 1 << 60
"""Version 1 writes the largest number of pages for no limit."""


@dataclass(frozen=True)
class Group:
    """From /proc/PID/cgroup."""

    memory_limit: int | None
    cpus: float | None
    unit: str | None
    """The service that it lies in."""
    container: bool
    """Whether its name is one that container engines give."""


def read_group(machine: Machine, cgroup: str) -> Group:
    """`cgroup`: the text of the process's file of that name."""
    paths = _paths(cgroup)
    v2, memory, cpu = (paths.get(controller) for controller in ("", "memory", "cpu"))
    # Where version 1 and 2 are mixed, systemd's own tree has the unit.
    names = " ".join(filter(None, (v2, memory, paths.get("name=systemd"))))
    unit = next((part for part in reversed(names.split("/")) if part.endswith(".service")), None)
    limits = [
        *_numbers(machine, v2, "", "memory.max"),
        *_numbers(machine, memory, "/memory", "memory.limit_in_bytes"),
    ]
    return Group(
        memory_limit=min((limit for limit in limits if limit < _UNLIMITED_V1), default=None),
        cpus=min([*_quotas_v2(machine, v2), *_quotas_v1(machine, cpu)], default=None),
        unit=unit.split(" ")[0] if unit else None,
        container=_CONTAINER.search(names) is not None,
    )


def _paths(cgroup: str) -> dict[str, str]:
    """Controller -> path; version 2 has no name."""
    lines = (line.split(":", 2) for line in cgroup.splitlines())
    return {controller: path for _, controllers, path in lines for controller in controllers.split(",")}


def _upwards(path: str | None) -> Iterator[str]:
    while path is not None and path != "/":
        yield path
        path = posixpath.dirname(path)
    if path == "/":
        # A container has its own group as the root.
        yield ""


def _texts(machine: Machine, path: str | None, controller: str, file: str) -> Iterator[str]:
    paths = [f"{_ROOT}{controller}{folder}/{file}" for folder in _upwards(path)]
    machine.fetch(paths)
    yield from (text.strip() for each in paths if (text := machine.read_text(each)) is not None)


def _numbers(machine: Machine, path: str | None, controller: str, file: str) -> Iterator[int]:
    yield from (int(text) for text in _texts(machine, path, controller, file) if text.isdigit())


def _quotas_v2(machine: Machine, path: str | None) -> Iterator[float]:
    """`200000 100000` is two CPUs."""
    for text in _texts(machine, path, "", "cpu.max"):
        words = text.split()
        if len(words) == 2 and all(word.isdigit() for word in words):
            yield int(words[0]) / int(words[1])


def _quotas_v1(machine: Machine, path: str | None) -> Iterator[float]:
    quotas = _numbers(machine, path, "/cpu", "cpu.cfs_quota_us")
    periods = _numbers(machine, path, "/cpu", "cpu.cfs_period_us")
    yield from (quota / period for quota, period in zip(quotas, periods, strict=False) if quota > 0)


@dataclass(frozen=True)
class Started:
    """How the server was started, as far as option files are concerned."""

    binary: str | None
    options: Mapping[str, str]
    """Of those that choose option files, by plain name; `no_defaults` has no value."""
    home: str | None
    """The home folder of its user."""


@dataclass(frozen=True)
class Seen:
    """A process and what else its files show."""

    process: Process
    group: Group | None
    started: Started
    cpus_allowed: str | None
    root: str
    """Before every path that the server itself names: `/proc/PID/root`, or nothing where that is shut."""


def find_process(machine: Machine, pid_file: str | None, datadir: str | None) -> int | None:
    """The server's process on a machine where only files are seen: the one that the pid file names, else
    the only one of a server's name whose command line names the data directory, or the only one at all."""
    if pid_file:
        pid = (machine.read_text(pid_file) or "").strip()
        if pid.isdigit() and _comm(machine, int(pid)) in _NAMES:
            return int(pid)
    files = machine.glob("/proc/[0-9]*/comm")
    machine.fetch(files)
    servers = [path.split("/")[2] for path in files if (machine.read_text(path) or "").strip() in _NAMES]
    machine.fetch(f"/proc/{pid}/cmdline" for pid in servers)
    named = [
        pid
        for pid in servers
        if datadir and datadir.rstrip("/") in (machine.read_text(f"/proc/{pid}/cmdline") or "")
    ]
    only = named if len(named) == 1 else servers
    return int(only[0]) if len(only) == 1 else None


def is_server(machine: Machine, pid: int) -> bool | None:
    """Whether the process at the other end of a socket is the server itself; None: one that listens for it.

    A forwarded socket has ssh at its other end, and the server is somewhere else.
    """
    name = _comm(machine, pid)
    return True if name.startswith(_NAMES) else None if name in _LISTENS_FOR_OTHERS else False


def read_process(machine: Machine, pid: int, *, numa: bool, unread: list[Unread]) -> Seen | None:
    """None when it has gone. `numa`: whether there are nodes between which its memory could lie."""
    folder = f"/proc/{pid}"
    names = ("status", "limits", "oom_score_adj", "cgroup", "cmdline")
    machine.fetch([*(f"{folder}/{name}" for name in names), "/etc/passwd"])
    status = machine.read_text(f"{folder}/status")
    if status is None:
        note(unread, machine, "the server's process", (f"{folder}/status",))
        return None
    limits = machine.read_text(f"{folder}/limits")
    if limits is None:
        note(unread, machine, "the limits of the server's process", (f"{folder}/limits",))
    open_files = machine.listing(f"{folder}/fd")
    if open_files is None:
        note(unread, machine, "how many files the server has open", (f"{folder}/fd",))
    cgroup = machine.read_text(f"{folder}/cgroup")
    group = read_group(machine, cgroup) if cgroup else None
    account, home = _account(_field(status, "Uid"), machine.read_text("/etc/passwd") or "")
    binary = machine.real_path(f"{folder}/exe")
    policy = machine.read_text(f"{folder}/numa_maps") if numa else None
    adjusted = (machine.read_text(f"{folder}/oom_score_adj") or "").strip()
    process = Process(
        pid=pid,
        user=account,
        binary=None if binary == f"{folder}/exe" else binary,
        limits={
            name: Limit(soft=soft, hard=hard) for name, (soft, hard) in proc.limits(limits or "").items()
        },
        open_files=None if open_files is None else len(open_files),
        threads=_number(_field(status, "Threads")),
        resident_bytes=proc.kib(status, "VmRSS"),
        swapped_bytes=proc.kib(status, "VmSwap"),
        oom_score_adj=int(adjusted) if adjusted.lstrip("-").isdigit() else None,
        numa_policy=numa_policy(policy) if policy else None,
        unit=_unit(machine, group, unread),
    )
    started = Started(process.binary, _options(machine.read_text(f"{folder}/cmdline") or ""), home)
    root = f"{folder}/root"
    visible_root = root if machine.listing(root) is not None else ""
    return Seen(process, group, started, _field(status, "Cpus_allowed_list"), visible_root)


def numa_policy(maps: str) -> str | None:
    """The policy of most pages in the text of /proc/PID/numa_maps (numa(7))."""
    pages: Counter[str] = Counter()
    for line in maps.splitlines():
        words = line.split()
        if len(words) > 1:
            count = sum(int(number) for number in re.findall(r"\bN\d+=(\d+)", line))
            pages[words[1].split(":")[0]] += count
    return pages.most_common(1)[0][0] if pages else None


def _unit(machine: Machine, group: Group | None, unread: list[Unread]) -> Unit | None:
    if group is None or group.unit is None:
        return None
    done = machine.run(["systemctl", "show", group.unit, f"--property={','.join(_PROPERTIES)}"])
    if done is None or done.returncode != 0:
        why = "systemctl is not there" if done is None else done.stderr.strip() or "systemctl failed"
        unread.append(Unread(what=f"the settings of {group.unit}", why=why))
        return Unit(name=group.unit)
    shown = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    file, drop_ins = shown.pop("FragmentPath", "") or None, tuple(shown.pop("DropInPaths", "").split())
    return Unit(name=group.unit, file=file, drop_ins=drop_ins, properties=shown)


def _options(command_line: str) -> dict[str, str]:
    options = command_line_options(command_line.split("\0")[1:])
    return {name: value for name, value in options.items() if name in CHOOSE_FILES}


def _account(uids: str | None, passwd: str) -> tuple[str | None, str | None]:
    """Name and home folder of the effective user."""
    words = (uids or "").split()
    for line in passwd.splitlines():
        fields = line.split(":")
        if len(fields) > 5 and len(words) > 1 and fields[2] == words[1]:
            return fields[0], fields[5]
    return (words[1] if len(words) > 1 else None), None


def _comm(machine: Machine, pid: int) -> str:
    return (machine.read_text(f"/proc/{pid}/comm") or "").strip()


def _field(status: str, name: str) -> str | None:
    line = re.search(rf"^{name}:\s*(.*)$", status, re.MULTILINE)
    return line[1].strip() if line else None


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None
