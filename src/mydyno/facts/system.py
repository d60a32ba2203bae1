"""A server and its host at one moment, and the file that they are kept in: pure."""

from __future__ import annotations

from pydantic import ValidationError

from mydyno.core.errors import UsageError
from mydyno.facts.machine import Host
from mydyno.facts.record import Record
from mydyno.facts.server import Server
from mydyno.facts.unread import Unread

FORMAT = 1


class System(Record):
    """What advice is given on. A None part was not reached; `unread` says why."""

    format: int = FORMAT
    mydyno: str
    """The version that read it."""
    read_at: str
    """UTC, ISO 8601."""
    server: Server
    host: Host | None = None
    unread: tuple[Unread, ...] = ()

    def to_json(self) -> str:
        return self.model_dump_json(indent=2, exclude_none=True) + "\n"


def read_system(text: str, source: str) -> System:
    """The facts in a file that `mydyno facts` wrote. Raises UsageError that names `source`."""
    try:
        system = System.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise UsageError(
            f"{source} holds no facts of mydyno: {where}: {first['msg']}",
            "make it with `mydyno facts --server ... > FILE`",
        ) from error
    if system.format > FORMAT:
        raise UsageError(f"{source} was written by a newer mydyno ({system.mydyno})", "upgrade this one")
    return system
