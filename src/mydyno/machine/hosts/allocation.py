"""Nodes of a Slurm cluster that a trial needs together, its server's and its generators': one heterogeneous
allocation (salloc(1), "heterogeneous jobs") with a component for each, which Slurm gives whole or not at all.

salloc runs a command that lives as long as its standard input. So the allocation ends with mydyno, also when
it is killed. Where it was lost, the next command within it allocates again.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from mydyno.core.errors import HostError
from mydyno.machine.hosts.slurm import (
    HELD,
    WAIT_SECONDS,
    cancel,
    limit_jobs,
    require,
    slurm_error,
    step_options,
)
from mydyno.machine.local import LocalConversation, LocalHost

if TYPE_CHECKING:
    from mydyno.machine.hosts.entry import HostEntry

_END = "."
_SHOW = f"env | grep ^SLURM_; echo {_END}; exec cat >/dev/null"
_ENDING_SECONDS = 10.0


class Allocation:
    """Made when the first command is to run in it. Threads may use it at the same time."""

    def __init__(self, entries: Mapping[str, HostEntry]) -> None:
        """`entries`: at least two nodes, by the names of their hosts."""
        self._entries = dict(entries)
        self._job = f"mydyno-{secrets.token_hex(4)}"
        self._lock = threading.Lock()
        self._salloc: LocalConversation | None = None
        self._variables: tuple[str, ...] = ()

    @property
    def nodes(self) -> str:
        return ",".join(entry.destination for entry in self._entries.values())

    def launcher(self, name: str) -> AllocatedLauncher | None:
        """To the node of this host; None where it is not part of the allocation."""
        if name not in self._entries:
            return None
        return AllocatedLauncher(self, self._entries[name].destination, list(self._entries).index(name))

    def variables(self) -> tuple[str, ...]:
        """The environment of a command within it, as NAME=VALUE. Raises HostError, MissingToolError."""
        with self._lock:
            if self._salloc is None or self._salloc.returncode() is not None:
                self._let_go()
                self._allocate()
            return self._variables

    def cancel(self) -> None:
        """Ends it with all that runs in it. Raises HostError."""
        cancel(self._job)

    def limit(self, seconds: float) -> None:
        """Raises HostError."""
        limit_jobs(self._job, seconds)

    def close(self) -> None:
        """Gives the nodes back. May be called twice."""
        with self._lock:
            self._let_go()

    def _allocate(self) -> None:
        require("salloc", "srun")
        command = ["sh", "-c", HELD, "sh", "salloc", *self._components(), "sh", "-c", _SHOW]
        self._salloc = LocalHost().open(command)
        lines: list[str] = []
        for line in self._salloc.stdout:
            if (text := line.decode().rstrip("\n")) == _END:
                self._variables = tuple(lines)
                return
            lines.append(text)
        self._salloc.wait(_ENDING_SECONDS)
        errors = self._salloc.errors()
        self._let_go()
        raise slurm_error(f"slurm:{self.nodes}", errors, self.nodes)

    def _components(self) -> list[str]:
        words: list[str] = []
        for entry in self._entries.values():
            partition = [f"--partition={entry.partition}"] if entry.partition is not None else []
            words += [":"] if words else []
            words += ["--quiet", "--nodes=1", "--ntasks=1", "--exclusive", "--mem=0"]
            words += [f"--nodelist={entry.destination}", f"--job-name={self._job}", *partition]
            words += [f"--immediate={WAIT_SECONDS}"]
        return words

    def _let_go(self) -> None:
        if self._salloc is None:
            return
        with suppress(BrokenPipeError):
            self._salloc.stdin.close()
        self._salloc.wait(_ENDING_SECONDS)
        self._salloc.close()
        self._salloc = None


class AllocatedLauncher:
    """srun within a component of an allocation."""

    def __init__(self, allocation: Allocation, node: str, component: int) -> None:
        self._allocation = allocation
        self._node = node
        self._component = component

    @property
    def address(self) -> str:
        return f"slurm:{self._node}"

    def command(self, line: str) -> list[str]:
        """Raises HostError, MissingToolError."""
        return [
            *("sh", "-c", HELD, "sh", "env", *self._allocation.variables()),
            *("srun", f"--het-group={self._component}", "--overlap", *step_options(line)),
        ]

    def explained(self, errors: str) -> HostError:
        return slurm_error(self.address, errors, self._node)

    def give_up(self) -> None:
        """Server and generators of a trial end together. Raises HostError."""
        self._allocation.cancel()

    def limit(self, seconds: float) -> None:
        """Raises HostError."""
        self._allocation.limit(seconds)


def share(entries: Mapping[str, HostEntry], names: Sequence[str]) -> Allocation | None:
    """What these hosts of one trial have together: an allocation, where they are nodes of a cluster."""
    nodes = {name: entries[name] for name in dict.fromkeys(names) if name in entries}
    together = {name: entry for name, entry in nodes.items() if entry.launcher == "slurm"}
    return Allocation(together) if len(together) > 1 else None
