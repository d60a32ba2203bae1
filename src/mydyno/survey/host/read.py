"""A machine as facts: everything about it that a database server feels."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.server_version import Version
from mydyno.core.words import words
from mydyno.machine.environment import distribution, virtualisation
from mydyno.server.program.binary import help_arguments
from mydyno.survey.facts import FileSystem, Host, Storage, Unread
from mydyno.survey.facts.fstab import parse_fstab
from mydyno.survey.facts.option_files import (
    OptionFiles,
    chosen_files,
    option_files,
    server_groups,
    start_files,
)
from mydyno.survey.facts.storage import FstabEntry
from mydyno.survey.host.disks import (
    CLOUD,
    is_azure,
    read_arrays,
    read_disks,
    read_tree,
    read_volumes,
    with_host_caching,
)
from mydyno.survey.host.filesystems import files_of, places, read_filesystems
from mydyno.survey.host.kernel import files, read_cpu, read_kernel, read_memory
from mydyno.survey.host.machine import MISSING, Machine, note
from mydyno.survey.host.process import Seen, Started, read_process

_FSTAB = "/etc/fstab"
_MAKER = "/sys/class/dmi/id/sys_vendor"
_CONTAINER_MARKS = words("/.dockerenv /run/.containerenv /run/systemd/container /run/secrets/kubernetes.io")
_SECRET_OPTION = re.compile(r"^((?:pass|password|passwd|key|secret)=).*", re.IGNORECASE)
_DISTRIBUTION = "/etc/os-release"


@dataclass(frozen=True)
class ReadHost:
    """A host's facts, and the option files that its server reads."""

    host: Host | None
    """None when not even its CPUs and memory could be read."""
    options: OptionFiles | None


def read_host(
    machine: Machine, pid: int | None, variables: Mapping[str, str], version: Version, unread: list[Unread]
) -> ReadHost:
    """`pid`: the server's process there; None: it cannot be seen. What cannot be read goes to `unread`.

    Raises HostError when a far machine is lost.
    """
    machine.fetch((*files(), _DISTRIBUTION, _MAKER, _FSTAB, "/proc/self/mountinfo"))
    numa = len(machine.glob("/sys/devices/system/node/node[0-9]*")) > 1
    seen = read_process(machine, pid, numa=numa, unread=unread) if pid is not None else None
    if pid is None:
        why = f"no process of this server can be seen on {machine.name}"
        unread.append(Unread(what="the server's process, its limits and its unit", why=why))
    group = seen.group if seen else None
    cpu = read_cpu(machine, seen.cpus_allowed if seen else None, group.cpus if group else None, unread)
    memory = read_memory(machine, group.memory_limit if group else None, unread)
    options = _option_files(machine, seen.started if seen else None, variables, version, unread)
    if cpu is None or memory is None:
        return ReadHost(None, options)
    process = seen.process.model_copy(update={"option_files": options.files}) if seen else None
    host = Host(
        cpu=cpu,
        memory=memory,
        kernel=read_kernel(machine, unread),
        storage=_storage(machine, seen, variables, unread),
        process=process,
        distribution=distribution(machine.read_text(_DISTRIBUTION)),
        virtualisation=virtualisation(machine.read_text("/proc/cpuinfo"), machine.read_text(_MAKER)),
        container=_in_container(machine, seen),
        systemd=bool(machine.glob("/run/systemd/system")),
        cloud=CLOUD if is_azure(machine) else None,
    )
    return ReadHost(host, options)


def _storage(
    machine: Machine, seen: Seen | None, variables: Mapping[str, str], unread: list[Unread]
) -> Storage:
    tree = read_tree(machine, unread)
    mounted = read_filesystems(
        machine,
        tree,
        places(variables),
        files_of(variables),
        root=seen.root if seen else "",
        mountinfo_of=f"/proc/{seen.process.pid}" if seen and seen.root else "/proc/self",
        unread=unread,
    )
    used = tuple(dict.fromkeys(name for names in mounted.devices.values() for name in names))
    volumes = read_volumes(machine, used, unread)
    disks = read_disks(machine, tree, (disk for each in mounted.filesystems for disk in each.disks))

    def with_volume(filesystem: FileSystem) -> FileSystem:
        devices = mounted.devices[filesystem.mount_point]
        name = next((volumes[device].name for device in devices if device in volumes), None)
        return filesystem.model_copy(update={"volume": name})

    return Storage(
        disks=with_host_caching(machine, disks, unread),
        arrays=read_arrays(machine, tree),
        volumes=tuple(volumes.values()),
        filesystems=tuple(map(with_volume, mounted.filesystems)),
        uses=mounted.uses,
        fstab=_fstab(machine, unread),
        trim_timer=_trim_timer(machine),
    )


def _trim_timer(machine: Machine) -> bool | None:
    done = machine.run(["systemctl", "is-enabled", "fstrim.timer"])
    word = done.stdout.strip() if done is not None else ""
    known = ("enabled", "enabled-runtime", "disabled", "static")
    return word.startswith("enabled") if word in known else None


def _fstab(machine: Machine, unread: list[Unread]) -> tuple[FstabEntry, ...]:
    text = machine.read_text(_FSTAB)
    if text is None:
        note(unread, machine, _FSTAB, (_FSTAB,))
    return tuple(
        entry.model_copy(update={"options": tuple(_SECRET_OPTION.sub(r"\1****", o) for o in entry.options)})
        for entry in parse_fstab(text or "")
    )


def _option_files(
    machine: Machine,
    started: Started | None,
    variables: Mapping[str, str],
    version: Version,
    unread: list[Unread],
) -> OptionFiles:
    chosen = started.options if started else {}
    suffix = chosen.get("defaults_group_suffix")
    usual = start_files(_help(machine, started, version), started.home if started else None)
    starts = chosen_files(chosen, usual)
    groups = server_groups(version, suffix)
    read = option_files(machine.read_text, machine.listing, starts, groups, variables.keys())
    for path in starts:
        if machine.refused.get(path, MISSING) != MISSING:
            note(unread, machine, f"the option file {path}", (path,))
    unread.extend(
        Unread(what=f"all that the option files say: {fault.place}", why=fault.why) for fault in read.faults
    )
    return read


def _help(machine: Machine, started: Started | None, version: Version) -> str | None:
    if started is None or started.binary is None:
        return None
    words = help_arguments(
        Path(started.binary), version, is_file=lambda path: machine.glob(str(path)) == (str(path),)
    )
    answer = machine.run([started.binary, *words])
    return answer.stdout if answer else None


def _in_container(machine: Machine, seen: Seen | None) -> bool:
    named_so = seen is not None and seen.group is not None and seen.group.container
    return named_so or any(machine.glob((seen.root if seen else "") + mark) for mark in _CONTAINER_MARKS)
