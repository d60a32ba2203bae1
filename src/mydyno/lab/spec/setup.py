"""setup: the system under test, layer by layer."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, model_serializer

from mydyno.core.document.base import Fault, Section, clash
from mydyno.core.grounds import GUESTS
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
        description="Where the setup runs: `local` (this machine), `uml` or `vm` (a throw-away guest), or "
        "keys, see below.",
    )
    storage: Storage | None = Field(
        default=None,
        description="The disks and what is built of them. Without it the server's data lies where the lab "
        "lies.",
    )
    limits: Limits | None = Field(default=None, description="Limits of the server's process.")
    server: Server = Field(default_factory=Server, description="Which server runs, and its settings.")
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

    @model_serializer(mode="wrap", when_used="json")
    def _given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        given = {key: value for key, value in handler(self).items() if value is not None}
        return {key: value for key, value in given.items() if (key, value) != ("cache", AS_CLONED)}


def _beside_external(raw: Mapping[str, Any], kind: Any) -> Iterable[Fault]:
    """What only a server that mydyno starts itself can stand on."""
    for key in ("storage", "limits"):
        if raw.get(key) is not None:
            yield clash(
                key, f"{key} is given, but mydyno builds nothing for an external server", "one of them"
            )
    if raw.get("cache") not in (None, AS_CLONED):
        yield clash("cache", "the caches of an external server stay as they are", "no cache, or no external")
    if kind in GUESTS:
        yield clash("host", "an external server is in no guest of mydyno's", "host: local, or no external")
