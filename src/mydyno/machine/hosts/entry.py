"""hosts.yaml: other machines by name, how each is reached, and what it is for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from mydyno.core.document.addresses import interface_address
from mydyno.core.document.base import Fault, Section, refuse
from mydyno.core.document.problems import Findings, SpecErrors
from mydyno.core.document.source import parse, read_text
from mydyno.core.document.translate import translate
from mydyno.core.document.tree import Entry, Scalar, locate
from mydyno.core.document.tree import Mapping as Tree
from mydyno.core.errors import UsageError
from mydyno.core.nearest import nearest, unknown

LauncherKind = Literal["ssh", "slurm"]
Role = Literal["server", "load"]

LAUNCHERS: tuple[LauncherKind, ...] = get_args(LauncherKind)
ROLES: tuple[Role, ...] = get_args(Role)

_WHAT = "a file of hosts"
_EXAMPLE = "hosts: {db1: {destination: mysql@db1.example}}"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
# Not an option of ssh, and nothing that a shell or ssh takes apart.
_DESTINATION = re.compile(r"(?:[A-Za-z0-9_.+-]+@)?[A-Za-z0-9_][A-Za-z0-9_.:%-]*")


def _destination(text: str) -> str:
    if not _DESTINATION.fullmatch(text) or text.startswith("-"):
        allowed = "USER@HOST, HOST, or a name of ~/.ssh/config; the port belongs into ~/.ssh/config"
        raise refuse(Fault("is not a destination of ssh", allowed))
    return text


def _partition(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise refuse(Fault("is not the name of a partition", "letters, digits, _, - and ."))
    return text


def _folder(raw: Any) -> Any:
    if not isinstance(raw, str) or not re.fullmatch(r"/[A-Za-z0-9_./+-]+", raw) or ".." in raw.split("/"):
        raise refuse(Fault("is not an absolute path of plain characters", "as /data/mydyno"))
    return Path(raw)


def _config(raw: Any) -> Any:
    if not isinstance(raw, str) or not raw.startswith(("/", "~/")):
        raise refuse(Fault("is not a path from the root or from home", "a path from / or ~/"))
    return Path(raw).expanduser()


def _roles(raw: Any) -> Any:
    roles = [raw] if isinstance(raw, str) else raw
    if not isinstance(roles, list) or not roles:
        raise refuse(Fault("is not a list of roles", f"one or more of {', '.join(ROLES)}"))
    faults = [
        Fault("unknown role", ", ".join(ROLES), nearest(str(role), ROLES), at=(place,))
        for place, role in enumerate(roles)
        if role not in ROLES
    ]
    if faults:
        raise refuse(*faults)
    return tuple(dict.fromkeys(roles))


class HostEntry(Section):
    """One machine."""

    launcher: LauncherKind = Field(
        default="ssh",
        description="How it is reached: `ssh`, the system's OpenSSH, or `slurm`, srun within an exclusive "
        "allocation of the node.",
    )
    destination: Annotated[str, AfterValidator(_destination)] = Field(
        description="What ssh(1) connects to: `USER@HOST`, or a name of `~/.ssh/config`, which may also say "
        "port, user, key and jump hosts. With `slurm` the name of a node.",
        examples=["mysql@db1.example"],
    )
    roles: Annotated[tuple[Role, ...], BeforeValidator(_roles)] = Field(
        default=ROLES, description="What it is for: `server`, `load`, or both (the default)."
    )
    folder: Annotated[Path, BeforeValidator(_folder)] | None = Field(
        default=None,
        description="The folder there for mydyno's programs and the data of trials. Default: "
        "`~/.cache/mydyno/agent`, of root `/var/cache/mydyno/agent`; with `slurm`, where homes are mostly "
        "shared by the nodes, `/var/tmp/mydyno-UID-NODE`.",
    )
    config: Annotated[Path, BeforeValidator(_config)] | None = Field(
        default=None, description="The configuration of ssh to use instead of `~/.ssh/config` (ssh -F)."
    )

    partition: Annotated[str, AfterValidator(_partition)] | None = Field(
        default=None, description="With `slurm`: the partition of the node. Default: Slurm's."
    )

    address: Annotated[str, BeforeValidator(interface_address)] | None = Field(
        default=None,
        description="Its IP address for the other machines of an experiment: what a server there listens on "
        "for generators, and where a generator comes from. A generator without it may come from anywhere.",
    )
    allow_production: bool = Field(
        default=False,
        description="Whether trials may run there although a server listens on port 3306.",
    )

    @classmethod
    def from_written(cls, raw: Any) -> Any:
        """`ssh:db1` as keys of this section."""
        if not isinstance(raw, str):
            return raw
        launcher, separator, destination = raw.partition(":")
        if separator and launcher in LAUNCHERS:
            return {"launcher": launcher, "destination": destination}
        return {"destination": raw}


def read_hosts(path: Path) -> dict[str, HostEntry]:
    """Every host of the file by its name, in its order. Raises SpecErrors with all that is wrong."""
    return hosts_in(read_text(path, _WHAT), str(path))


def hosts_in(text: str, file: str) -> dict[str, HostEntry]:
    """The same from text."""
    tree, findings = parse(text, file, _WHAT), Findings(file)
    for key, entry in tree.entries.items():
        if key != "hosts":
            findings.add(entry.key, "the file: unknown key", key, "hosts", nearest(key, ["hosts"]))
    listed = tree.get("hosts")
    entries = listed.entries if isinstance(listed, Tree) else {}
    if not entries and not findings.problems:
        findings.add(locate(tree, ("hosts",)).node.position, "hosts: no host is listed", allowed=_EXAMPLE)
    hosts = {name: _host(name, entry, tree, findings) for name, entry in entries.items()}
    if findings.problems:
        raise SpecErrors(findings.problems)
    return {name: host for name, host in hosts.items() if host is not None}


def _host(name: str, entry: Entry, tree: Tree, findings: Findings) -> HostEntry | None:
    if not _NAME.fullmatch(name):
        findings.add(entry.key, "hosts: this cannot be a name", name, "letters, digits, _, - and .")
        return None
    raw = entry.value.value if isinstance(entry.value, Scalar) else entry.value.plain()
    try:
        return HostEntry.model_validate(HostEntry.from_written(raw))
    except ValidationError as error:
        findings.problems += translate(error, HostEntry, ("hosts", name), tree, findings.file)
        return None


def chosen(hosts: Mapping[str, HostEntry], names: Iterable[str]) -> dict[str, HostEntry]:
    """The hosts of these names; without names all. Raises UsageError for an unknown one."""
    wanted = list(names)
    for name in wanted:
        if name not in hosts:
            raise UsageError(unknown("host", name, nearest(name, hosts)), f"one of {', '.join(hosts)}")
    return {name: hosts[name] for name in wanted} if wanted else dict(hosts)
