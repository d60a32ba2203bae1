"""A server and its host at one moment, and the file that they are kept in: pure."""

import json
import re
from collections.abc import Iterable, Mapping

from pydantic import ValidationError

from mydyno.core.errors import UsageError
from mydyno.core.record import Record
from mydyno.survey.facts.machine import Host
from mydyno.survey.facts.server import Server

FORMAT = 1


class Unread(Record):
    what: str
    """In a few words: `the limits of the server's process`."""
    why: str
    """`permission denied`, `performance_schema is off`, `no /sys in this container`."""
    hint: str | None = None
    """What would let it be read: `sudo`, `GRANT PROCESS ON *.* TO ...`."""


_GRANT = re.compile(r"GRANT (?P<rights>.+) ON (?P<on>\S+) TO (?P<account>.+)")
_EVERYWHERE = "*.*"


def missing_rights(unread: Iterable[Unread]) -> Mapping[str, tuple[str, ...]]:
    """GRANT statement -> what it would let be read: one statement for all rights on the same schemas."""
    wanted = [(found, each.what) for each in unread if each.hint and (found := _GRANT.fullmatch(each.hint))]
    everywhere = {found["rights"] for found, _ in wanted if found["on"] == _EVERYWHERE}
    rights: dict[tuple[str, str], dict[str, None]] = {}
    adds: dict[tuple[str, str], dict[str, None]] = {}
    for found, what in wanted:
        place = (_EVERYWHERE if found["rights"] in everywhere else found["on"], found["account"])
        rights.setdefault(place, {})[found["rights"]] = None
        adds.setdefault(place, {})[what] = None
    return {
        f"GRANT {', '.join(sorted(rights[on, account]))} ON {on} TO {account};": tuple(what)
        for (on, account), what in adds.items()
    }


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
    _refuse_newer(text, source)
    try:
        return System.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise UsageError(
            f"{source} holds no facts of mydyno: {where}: {first['msg']}",
            "make it with `mydyno facts --server ... > FILE`",
        ) from error


def _refuse_newer(text: str, source: str) -> None:
    """Before its keys are looked at, of which some may be new."""
    try:
        content = json.loads(text)
    except ValueError:
        return
    if isinstance(content, dict) and isinstance(content.get("format"), int) and content["format"] > FORMAT:
        newer = content.get("mydyno", "its version is unknown")
        raise UsageError(f"{source} was written by a newer mydyno ({newer})", "upgrade this one")
