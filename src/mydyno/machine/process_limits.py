"""What the operating system lets the server have: set as it is started, read back as it runs.

prlimit(1) sets them on the very process that becomes the server, before the change of user, since only
root may raise a hard limit. The soft limit is set to the same number: a server raises its own soft
limit as far as the hard one allows, and what is measured would not be what was configured.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mydyno.core.errors import MissingToolError, ServerError
from mydyno.machine import proc
from mydyno.machine.identity import Identity
from mydyno.machine.limits import Limits
from mydyno.machine.protocol import Host

LimitName = Literal["nofile", "nproc"]

_ROWS: dict[LimitName, str] = {"nofile": "Max open files", "nproc": "Max processes"}
"""Their names in /proc/PID/limits."""

_CAP_SYS_RESOURCE = 24
"""Its bit in CapEff (linux/capability.h)."""

# Where no limit is, /proc says so in a word.
_UNLIMITED = "unlimited"


@dataclass(frozen=True)
class LimitInForce:
    """The soft and the hard limit of a running process; None: unlimited."""

    name: LimitName
    soft: int | None
    hard: int | None


@dataclass(frozen=True)
class LimitDifference:
    """A limit that is not in force as it was configured."""

    name: LimitName
    configured: int
    in_force: LimitInForce | None
    """None when the process does not show it."""

    def sentence(self) -> str:
        in_force = "the server's limits cannot be read"
        if self.in_force is not None:
            limits = (self.in_force.soft, self.in_force.hard)
            soft, hard = (_UNLIMITED if value is None else value for value in limits)
            in_force = f"the server has {soft} (hard: {hard})"
        return f"limits.{self.name}: {self.configured} was configured, and {in_force}"


def wrap(argv: Sequence[str], limits: Limits, identity: Identity | None) -> list[str]:
    """The command line that becomes `argv` under `limits`, as `identity`; to be started as mydyno's user.

    The tie to mydyno's life is made again behind the change of user, which cuts it.
    """
    options = [f"--{name}={value}:{value}" for name, value in _values(limits).items()]
    become = (
        [
            "setpriv",
            f"--reuid={identity.uid}",
            f"--regid={identity.gid}",
            "--clear-groups",
            "--pdeathsig",
            "KILL",
            "--",
        ]
        if identity is not None
        else []
    )
    return ["prlimit", *options, "--", *become, *argv]


def check(host: Host, limits: Limits) -> None:
    """Raises MissingToolError when this host cannot give these limits, ServerError when no kernel could."""
    most = host.read_text(Path("/proc/sys/fs/nr_open"))
    if limits.nofile is not None and most is not None and limits.nofile > int(most):
        raise ServerError(
            f"limits.nofile: {limits.nofile} is above what the kernel of host {host.name} allows, "
            f"fs.nr_open = {most.strip()}",
            f"ask for at most {most.strip()}",
        )
    if _may_raise(host):
        return
    for limit in parse_limits(host.read_text(Path("/proc/self/limits")) or ""):
        wanted = _values(limits).get(limit.name)
        if wanted is not None and limit.hard is not None and wanted > limit.hard:
            raise MissingToolError(
                f"limits.{limit.name}: {wanted} is above the hard limit {limit.hard} that mydyno has on host "
                f"{host.name}, and it may not raise it",
                "run mydyno as root, raise the user's hard limit, or use a guest (host: uml or vm)",
            )


def in_force(host: Host, pid: int) -> tuple[LimitInForce, ...]:
    """The limits of a running process of `host`; empty when they cannot be read."""
    return parse_limits(host.read_text(Path(f"/proc/{pid}/limits")) or "")


def parse_limits(text: str) -> tuple[LimitInForce, ...]:
    """The rows of /proc/PID/limits that mydyno can set (proc_pid_limits(5))."""
    rows = proc.limits(text)
    return tuple(LimitInForce(name, *rows[row]) for name, row in _ROWS.items() if row in rows)


def limits_difference(limits: Limits, in_force: Sequence[LimitInForce]) -> tuple[LimitDifference, ...]:
    """Every limit of which the soft or the hard value is not the configured one."""
    by_name = {limit.name: limit for limit in in_force}
    return tuple(
        LimitDifference(name, value, by_name.get(name))
        for name, value in _values(limits).items()
        if by_name.get(name) != LimitInForce(name, value, value)
    )


def _values(limits: Limits) -> Mapping[LimitName, int]:
    values: dict[LimitName, int | None] = {"nofile": limits.nofile, "nproc": limits.nproc}
    return {name: value for name, value in values.items() if value is not None}


def _may_raise(host: Host) -> bool:
    """Whether mydyno may raise hard limits there: CAP_SYS_RESOURCE, which root in a container can lack."""
    status = host.read_text(Path("/proc/self/status")) or ""
    effective = re.search(r"^CapEff:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return effective is not None and bool(int(effective[1], 16) >> _CAP_SYS_RESOURCE & 1)
