"""What the operating system lets the server have: set as it is started, read back as it runs.

prlimit(1) sets them on the very process that becomes the server, before the change of user, since only
root may raise a hard limit. The soft limit is set to the same number: a server raises its own soft
limit as far as the hard one allows, and what is measured would not be what was configured.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from mydyno.core.document.base import Fault, Section
from mydyno.core.errors import MissingToolError, ServerError
from mydyno.machine import proc
from mydyno.machine.identity import Identity, becoming
from mydyno.machine.protocol import Host

LimitName = Literal["nofile", "nproc"]

_ROWS: dict[LimitName, str] = {"nofile": "Max open files", "nproc": "Max processes"}
"""Their names in /proc/PID/limits."""

_CAP_SYS_RESOURCE = 24
"""The capability to raise hard limits (linux/capability.h)."""


class Limits(Section):
    """Limits of the server's process, read back from the running server."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["nofile"]}, {"required": ["nproc"]}]}
    )

    nofile: Annotated[int, Field(ge=64, le=1_073_741_816)] | None = Field(
        default=None, description="Open files (RLIMIT_NOFILE): bounds connections and open tables."
    )
    nproc: Annotated[int, Field(ge=64, le=4_194_304)] | None = Field(
        default=None,
        description="Processes and threads of the server's user (RLIMIT_NPROC): bounds connections. The "
        "kernel does not hold root to it.",
    )

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        if raw.get("nofile") is None and raw.get("nproc") is None:
            yield Fault("limits nothing", "nofile: N, nproc: N or both", at_key=True, show_value=False)

    @model_serializer(mode="wrap", when_used="json")
    def _given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in handler(self).items() if value is not None}


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
            soft, hard = ("unlimited" if value is None else value for value in limits)
            in_force = f"the server has {soft} (hard: {hard})"
        return f"limits.{self.name}: {self.configured} was configured, and {in_force}"


def wrap(argv: Sequence[str], limits: Limits, identity: Identity | None) -> list[str]:
    """The command line that becomes `argv` under `limits`, as `identity`; to be started as mydyno's user.

    The tie to mydyno's life is made again behind the change of user, which cuts it.
    """
    options = [f"--{name}={value}:{value}" for name, value in _values(limits).items()]
    become = ["setpriv", *becoming(identity)] if identity is not None else []
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
    if proc.has_capability(host.read_text(Path("/proc/self/status")) or "", _CAP_SYS_RESOURCE):
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
