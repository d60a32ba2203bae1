"""Facts that could not be read, and the rights that would let them be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from mydyno.core.record import Record


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
