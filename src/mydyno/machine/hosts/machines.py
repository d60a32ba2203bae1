"""The other machines of a run: each is connected when it is first needed, and again where it was lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType, TracebackType

from mydyno.core.errors import HostError, UsageError
from mydyno.machine.hosts.allocation import Allocation, share
from mydyno.machine.hosts.check import MYSQL_PORT, HostFacts, facts_of_host
from mydyno.machine.hosts.entry import HostEntry, Role, chosen
from mydyno.machine.hosts.host import RemoteHost, connect
from mydyno.machine.hosts.launcher import Launcher

_NO_ENTRIES: Mapping[str, HostEntry] = MappingProxyType({})

AGAIN_SECONDS = 5.0
"""Between two attempts to reach a lost host."""
LOST_SECONDS = 150.0
"""How long a run waits for a host that it has lost: the session there ends itself after SILENCE_SECONDS."""


class Machines:
    """Use it as a context manager: leaving the block ends every session, and all that it has there."""

    def __init__(self, entries: Mapping[str, HostEntry] = _NO_ENTRIES, *, session: bool = False) -> None:
        """`session`: with a private folder, which one run at a time may have."""
        self.patience_seconds = LOST_SECONDS
        """How long `host` waits for one that was connected and is lost."""
        self._entries = entries
        self._session = session
        self._allocation: Allocation | None = None
        self._connected: dict[str, RemoteHost] = {}
        self._lost: set[str] = set()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._limit: float | None = None

    def together(self, names: Sequence[str]) -> None:
        """A trial needs these at the same time: nodes of a cluster are allocated together. To be called
        before the first of them is connected."""
        self._allocation = share(self._entries, names)

    def host(self, name: str) -> RemoteHost:
        """Threads may call it at the same time for different names.

        Raises UsageError for a name that is not in the file, HostError.
        """
        host = self._connected.get(name)
        if host is not None and not _answers(host):
            self._connected.pop(name, host).close()
            self._lost.add(name)
            host = None
        if host is None:
            host = self._reached(name)
            with self._lock:
                closed = self._closed.is_set()
                if not closed:
                    self._connected[name] = host
            if self._limit is not None and not closed:
                host.limit(self._limit)
            if closed:
                host.close()
                raise HostError(f"the host {name} is not connected any more: the run has ended")
        return host

    def _reached(self, name: str) -> RemoteHost:
        """Connects. A lost host is waited for once: until it answers, and its old session has ended."""
        patience = self.patience_seconds if name in self._lost else 0.0
        self._lost.discard(name)
        deadline = time.monotonic() + patience
        while True:
            try:
                return connect(self.entry(name), session=self._session, launcher=self._launcher(name))
            except HostError:
                if time.monotonic() >= deadline or self._closed.wait(AGAIN_SECONDS):
                    raise

    def _launcher(self, name: str) -> Launcher | None:
        """Within the allocation, where the host is part of one."""
        return self._allocation.launcher(name) if self._allocation is not None else None

    def limit(self, seconds: float) -> None:
        """None of them is needed for longer from now on: an allocation then ends. Raises HostError."""
        self._limit = seconds
        for host in self._connected.values():
            host.limit(seconds)

    def answers(self, name: str) -> bool:
        """Whether it is connected and alive: what is lost does not come back by itself."""
        host = self._connected.get(name)
        return host is not None and _answers(host)

    def fleet(self) -> tuple[str, ...]:
        """The hosts for servers, in the order of the file. Raises UsageError when there is none."""
        self._require_entries("on a fleet")
        names = tuple(name for name, entry in self._entries.items() if "server" in entry.roles)
        if not names:
            raise UsageError(
                "the experiment runs on a fleet, and no host of hosts.yaml has the role server",
                "leave out `roles` for those that may run servers",
            )
        return names

    def examine(self, name: str, role: Role = "server") -> HostFacts:
        """What it is. Raises as `host` does, and UsageError where it may not be used in this role."""
        entry = self.entry(name)
        if role not in entry.roles:
            what = "servers" if role == "server" else "generators of load"
            raise UsageError(
                f"the host {name} is not for {what}: its roles in hosts.yaml are {', '.join(entry.roles)}",
                f"add the role {role}, or name another host",
            )
        facts = facts_of_host(self.host(name))
        if facts.listens and not entry.allow_production:
            raise UsageError(
                f"a server listens on port {MYSQL_PORT} of the host {name}: it may be in production",
                f"name another host, or give {name} in hosts.yaml the key allow_production: true",
            )
        return facts

    def close(self) -> None:
        """Ends every session; none is connected again. A thread that waits for one gets a HostError."""
        with self._lock:
            self._closed.set()
        while self._connected:
            self._connected.popitem()[1].close()
        if self._allocation is not None:
            self._allocation.close()

    def __enter__(self) -> Machines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def entry(self, name: str) -> HostEntry:
        """What the file says of it. Raises UsageError."""
        self._require_entries(f"on the host {name}")
        return chosen(self._entries, [name])[name]

    def _require_entries(self, where: str) -> None:
        if not self._entries:
            raise UsageError(
                f"the experiment runs {where}, and no file of hosts is given", "--hosts hosts.yaml"
            )


def _answers(host: RemoteHost) -> bool:
    try:
        host.clock()
    except HostError:
        return False
    return True
