"""What another machine is and has, for `mydyno hosts check`. Changes nothing there but mydyno's programs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from mydyno.core.errors import MydynoError
from mydyno.core.facts import FarStorageFacts
from mydyno.machine.environment import distribution, load_average
from mydyno.machine.ground_facts import PROGRAMS
from mydyno.machine.hosts.clock import ClockOffset, clock_offset
from mydyno.machine.hosts.entry import HostEntry
from mydyno.machine.hosts.host import RemoteHost, connect
from mydyno.machine.hosts.install import TRIALS
from mydyno.machine.hosts.storage import storage_facts

SERVERS = ("mariadbd", "mysqld")
TOOLS = (*SERVERS, *PROGRAMS)
MYSQL_PORT = 3306
_SOCKETS = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))

_BUSY_SHARE = 0.25
"""Load average of the last minute for each CPU, above which a measurement would share the machine."""

Rights = Literal["root", "sudo", "ordinary"]


@dataclass(frozen=True)
class HostFacts:
    """A machine that answers."""

    user: str
    rights: Rights
    """`sudo`: an ordinary user whose sudo(8) asks for no password."""
    kernel: str
    distribution: str | None
    cpus: int
    memory_bytes: int
    tools: tuple[str, ...]
    """Those of TOOLS that are installed."""
    clock: ClockOffset
    folder: str
    free_bytes: int | None
    """On the file system of `folder`, for an ordinary user."""
    load: float | None
    """Load average of the last minute."""
    in_use: bool
    """Whether another run of mydyno of this user is there."""
    listens: bool
    """Whether a server listens on port 3306: perhaps one in production."""
    storage: FarStorageFacts

    @property
    def busy(self) -> bool:
        return self.in_use or (self.load is not None and self.load > _BUSY_SHARE * self.cpus)


@dataclass(frozen=True)
class HostCheck:
    """A host of hosts.yaml, with its facts or the reason why there are none."""

    name: str
    address: str
    roles: tuple[str, ...]
    facts: HostFacts | None
    problem: str | None = None
    hint: str | None = None

    def as_json(self) -> Mapping[str, Any]:
        facts = self.facts
        return {
            **asdict(self),
            "reachable": facts is not None,
            **({"facts": _facts_as_json(facts)} if facts is not None else {}),
        }


def _facts_as_json(facts: HostFacts) -> Mapping[str, Any]:
    storage = {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in asdict(facts.storage).items()
    }
    return {**asdict(facts), "storage": storage, "busy": facts.busy}


def check_host(name: str, entry: HostEntry) -> HostCheck:
    """Never raises for what is wrong with that machine."""
    address = f"{entry.launcher}:{entry.destination}"
    try:
        with closing(connect(entry)) as host:
            return HostCheck(name, address, entry.roles, facts_of_host(host))
    except MydynoError as error:
        return HostCheck(name, address, entry.roles, None, error.message, error.hint)


def facts_of_host(host: RemoteHost) -> HostFacts:
    """Raises HostError."""
    load = load_average(host.read_text(Path("/proc/loadavg")))
    tools = host.run(["sh", "-c", 'for t; do command -v "$t" >/dev/null && echo "$t"; done; :', "sh", *TOOLS])
    return HostFacts(
        user=host.user,
        rights=_rights(host),
        kernel=host.hello.kernel,
        distribution=distribution(host.read_text(Path("/etc/os-release"))),
        cpus=host.hello.cpus,
        memory_bytes=host.hello.memory_bytes,
        tools=tuple(tools.stdout.split()),
        clock=clock_offset(host),
        folder=str(host.folder),
        free_bytes=host.facts(host.folder).free_disk_bytes,
        load=load[0] if load else None,
        in_use=_is_locked(host),
        listens=listens_on(MYSQL_PORT, *(host.read_text(table) for table in _SOCKETS)),
        storage=storage_facts(host),
    )


def _rights(host: RemoteHost) -> Rights:
    if host.is_root:
        return "root"
    without_password = host.run(["sh", "-c", "command -v sudo >/dev/null && sudo -n true"])
    return "sudo" if without_password.returncode == 0 else "ordinary"


def _is_locked(host: RemoteHost) -> bool:
    """Whether a session has the lock, without taking it: proc_locks(5) has its inode."""
    inode = host.run(["stat", "--format=%i", str(host.folder / TRIALS / "lock")])
    if inode.returncode != 0:
        return False
    locks = host.read_text(Path("/proc/locks")) or ""
    return any(
        re.search(rf"FLOCK .*:{inode.stdout.strip()} ", line) is not None for line in locks.splitlines()
    )


def listens_on(port: int, *tables: str | None) -> bool:
    """Whether a socket of these tables (/proc/net/tcp, tcp6) listens there: state 0A."""
    wanted = f":{port:04X}"
    for table in tables:
        for line in (table or "").splitlines()[1:]:
            columns = line.split()
            if len(columns) > 3 and columns[1].endswith(wanted) and columns[3] == "0A":
                return True
    return False
