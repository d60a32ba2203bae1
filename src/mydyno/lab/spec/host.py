"""setup.host: where the setup runs: on this machine, in a throw-away guest, or on another machine."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import (
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from mydyno.core.document.base import Fault, Section, clash, refuse
from mydyno.core.document.quantities import Rule
from mydyno.core.document.sizes import GIBIBYTE, MEBIBYTE, TEBIBYTE, SizeRule
from mydyno.core.grounds import GUESTS, KINDS, HostKind
from mydyno.core.nearest import nearest

GUEST_MEMORY_BYTES = GIBIBYTE
"""A guest's memory when the experiment does not say."""

_KNOWN_AS = {"qemu": "vm", "kvm": "vm", "guest": "vm", "localhost": "local", "user-mode-linux": "uml"}
_SSH = "ssh:"
_ALLOWED = f"{', '.join(KINDS)}, ssh:NAME"
NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}"
"""As hosts.yaml has it."""
_KERNEL = re.compile(r"(\d{1,3})\.(\d{1,4})(\.\d{1,4})?")
_KERNEL_ALLOWED = "a version, as 5.10 or 6.12"


@dataclass(frozen=True)
class KernelRule(Rule):
    """A kernel's version as text: 5.10 is not 5.1, so the file's own text is kept (spec/written.py)."""

    schema: ClassVar[JsonSchemaValue] = {
        "anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^\d{1,3}\.\d{1,4}(\.\d{1,4})?$"}]
    }

    def read(self, raw: Any) -> str:
        if isinstance(raw, str) and _KERNEL.fullmatch(raw):
            return raw
        found = re.search(r"\d{1,3}\.\d{1,4}", raw) if isinstance(raw, str) else None
        raise refuse(Fault("is not a kernel version", _KERNEL_ALLOWED, found[0] if found else None))


def kernel_version(text: str) -> tuple[int, int]:
    """The first two numbers of a kernel's version or release: (6, 1) for `6.1.0-44-amd64`.

    Raises ValueError.
    """
    match = re.match(r"(\d+)\.(\d+)", text)
    if match is None:
        raise ValueError(f"not a kernel version: {text!r}")
    return int(match[1]), int(match[2])


def _kind(raw: Any) -> Any:
    if raw in KINDS:
        return raw
    word = raw.lower() if isinstance(raw, str) else ""
    raise refuse(Fault("unknown kind of host", _ALLOWED, _KNOWN_AS.get(word) or nearest(word, KINDS)))


def _name(raw: Any) -> Any:
    if not isinstance(raw, str) or not re.fullmatch(NAME, raw):
        raise refuse(Fault("is not the name of a host", "a name of hosts.yaml, as ssh:db1"))
    return raw


class Host(Section):
    """Where the setup runs. `host: uml` is short for `host: {kind: uml}`, `host: ssh:db1` for
    `host: {kind: ssh, name: db1}`, `host: ssh` for any machine of hosts.yaml: a fleet."""

    kind: Annotated[HostKind, BeforeValidator(_kind)] = Field(
        default="local",
        description="`local`: this machine (real disks; or loop devices over files, as root). `uml`: a "
        "User-Mode Linux guest: a real kernel with real md in an ordinary process, without root. `vm`: a "
        "QEMU guest, with the more faithful disks. `ssh`: another machine (its real disks; or loop devices, "
        "as root), or without a name a fleet: the machines of hosts.yaml with the role server, side by side "
        "(docs/reference/hosts.md).",
    )
    name: Annotated[str, BeforeValidator(_name)] | None = Field(
        default=None,
        description="With `ssh`: the machine's name in hosts.yaml; default: all of them. `ssh:db1` is short "
        "for both.",
    )
    kernel: Annotated[str, KernelRule()] | None = Field(
        default=None,
        description="The guest's kernel, by version, as `5.10` or `6.12`; default: the one that is there. "
        "A factor as any other: `host.kernel: [5.10, 6.1]`.",
    )
    memory: Annotated[int, SizeRule(128 * MEBIBYTE, TEBIBYTE, "1G")] | None = Field(
        default=None, description="The guest's memory, by default 1G."
    )
    cpus: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None, description="The guest's CPUs; default: those of the machine. User-Mode Linux has one."
    )

    @property
    def is_guest(self) -> bool:
        return self.kind in GUESTS

    @property
    def is_fleet(self) -> bool:
        """Any machine of hosts.yaml that is for servers: blocks of trials are spread over them."""
        return self.kind == "ssh" and self.name is None

    def cpus_on(self, machine_cpus: int) -> int:
        """CPUs of the system that the server runs on, for a machine on which mydyno may use so many."""
        return 1 if self.kind == "uml" else self.cpus or machine_cpus

    @property
    def guest_memory_bytes(self) -> int | None:
        """The guest's memory; None on this machine itself."""
        return (self.memory or GUEST_MEMORY_BYTES) if self.is_guest else None

    @classmethod
    def from_written(cls, raw: Any) -> Any:
        """A kind alone as keys of this section."""
        if isinstance(raw, str):
            raw = {"kind": raw}
        if isinstance(raw, dict) and isinstance(kind := raw.get("kind"), str) and kind.startswith(_SSH):
            return {**raw, "kind": "ssh", "name": kind.removeprefix(_SSH)}
        if isinstance(raw, dict | cls):
            return raw
        raise refuse(
            Fault(
                "is not a host",
                "local, uml, vm, ssh, ssh:NAME or {kind: ..., kernel: ..., memory: ..., cpus: ...}",
            )
        )

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        kind = raw.get("kind", "local")
        if kind in ("local", "ssh"):
            for key in ("kernel", "memory", "cpus"):
                if raw.get(key) is not None:
                    yield clash(
                        key, f"{key} is given, but host {kind} is the machine as it is", "kind: uml or vm"
                    )
        if kind != "ssh" and raw.get("name") is not None:
            yield clash("name", f"name is given, but host {kind} has none", "kind: ssh")
        cpus = raw.get("cpus")
        if kind == "uml" and isinstance(cpus, int) and cpus > 1:
            yield clash("cpus", "User-Mode Linux has one CPU", "cpus: 1, or kind: vm")

    @model_serializer(mode="wrap", when_used="json")
    def _as_written(self, handler: SerializerFunctionWrapHandler) -> Any:
        written = {key: value for key, value in handler(self).items() if value is not None}
        if self.kind == "ssh":
            return self.kind if self.name is None else f"{_SSH}{self.name}"
        return written["kind"] if len(written) == 1 else written

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {
            "anyOf": [
                {"enum": list(KINDS)},
                {"type": "string", "pattern": f"^{_SSH}{NAME}$"},
                handler(schema),
            ]
        }
