"""setup: the system under test, layer by layer."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, model_serializer

from mydyno.core.document.base import Fault, Section, clash
from mydyno.core.grounds import GUESTS
from mydyno.lab.spec.data import Data
from mydyno.lab.spec.host import Host
from mydyno.lab.spec.server import Server
from mydyno.lab.spec.storage import Storage
from mydyno.machine.process_limits import Limits

Cache = Literal["as-cloned", "cold", "scan", "dump"]

AS_CLONED: Cache = "as-cloned"

READING: tuple[Cache, ...] = ("scan", "dump")
"""Those that fill the buffer pool with the tables of the dataset."""


class Setup(Section):
    """The system under test."""

    host: Annotated[Host, BeforeValidator(Host.from_written)] = Field(
        default_factory=Host,
        description="Where the setup runs: `local` (this machine), `uml` or `vm` (a throw-away guest), "
        "`ssh:NAME` (another machine of hosts.yaml), `ssh` (all of them, a fleet), or keys, see below.",
    )
    storage: Storage | None = Field(
        default=None,
        description="The disks and what is built of them. Without it the server's data lies where the lab "
        "lies.",
    )
    limits: Limits | None = Field(default=None, description="Limits of the server's process.")
    server: Server = Field(default_factory=Server, description="Which server runs, and its settings.")
    data: Annotated[Data | None, BeforeValidator(Data.from_written)] = Field(
        default=None,
        description="Data of your own, loaded once for each release and cloned for each trial, next to the "
        "tables of the workload (docs/how-to/rehearse.md). Needs `--trust`: the server runs its SQL.",
    )
    cache: Cache = Field(
        default=AS_CLONED,
        description="How warm the caches are before the first phase. `as-cloned`: as the making of the clone "
        "leaves them. `cold`: the pages of its files are dropped from the page cache. `scan`: every table "
        "and index is read once. `dump`: the buffer pool is loaded from the dataset's list of pages.",
    )

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        host, server = raw.get("host"), raw.get("server")
        kind = host.get("kind") if isinstance(host, dict) else host
        if isinstance(server, dict) and server.get("external") is not None:
            yield from _beside_external(raw, kind)
            return
        if kind in GUESTS and raw.get("storage") is None:
            message = "a guest has no disks but those of storage, and storage is missing"
            yield clash("host", message, "for example storage: {data: {disks: {size: 2G}}}")
        if _is_far(host):
            yield from _refused_over_ssh(raw, server if isinstance(server, dict) else {})

    @model_serializer(mode="wrap", when_used="json")
    def _given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        given = {key: value for key, value in handler(self).items() if value is not None}
        return {key: value for key, value in given.items() if (key, value) != ("cache", AS_CLONED)}


def _is_far(host: Any) -> bool:
    kind = host.get("kind") if isinstance(host, dict) else getattr(host, "kind", host)
    return isinstance(kind, str) and kind.partition(":")[0] == "ssh"


def _refused_over_ssh(raw: Mapping[str, Any], server: Mapping[str, Any]) -> Iterable[Fault]:
    """What is not possible over ssh."""
    allowed = "no {}, or host: local, uml or vm"
    for key, default in (("release", "system"), ("binary", None), ("network", False)):
        if server.get(key, default) not in (default, None):
            message = f"server.{key} is not possible on another machine: it runs the server that is installed"
            if key == "network":
                message = "server.network is not possible on another machine: the load there takes its socket"
            yield clash("server", message, allowed.format(f"server.{key}"))


def _beside_external(raw: Mapping[str, Any], kind: Any) -> Iterable[Fault]:
    """What only a server that mydyno starts itself can stand on."""
    for key in ("storage", "limits", "data"):
        if raw.get(key) is not None:
            yield clash(
                key, f"{key} is given, but mydyno builds nothing for an external server", "one of them"
            )
    if raw.get("cache") not in (None, AS_CLONED):
        yield clash("cache", "the caches of an external server stay as they are", "no cache, or no external")
    if kind in GUESTS:
        yield clash("host", "an external server is in no guest of mydyno's", "host: local, or no external")
    if _is_far(raw.get("host")):
        yield clash("host", "an external server is driven from this machine", "host: local, or no external")
