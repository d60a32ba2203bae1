"""Names of tables and lists of them, places of options and changes, as statements and sentences have them."""

import posixpath
from collections.abc import Sequence

from mydyno.apply.change import Change, SetVariable
from mydyno.core.plurals import counted, listed
from mydyno.core.sql_names import quote
from mydyno.server.variables import catalogue
from mydyno.server.variables.convert import size_text
from mydyno.survey.facts import Origin

__all__ = ("SHOWN", "account", "counted", "first", "quoted")

SHOWN = 10
"""So many statements or names are written out; the rest is counted."""


def quoted(name: str) -> str:
    """`shop.orders` as a statement has it, in backticks."""
    return quote(*name.split(".", 1))


def account(user: str, host: str) -> str:
    """`'app'@'10.%'`, as statements have it."""
    return "@".join("'" + part.replace("\\", "\\\\").replace("'", "''") + "'" for part in (user, host))


def first(names: Sequence[str]) -> str:
    """`a, b, c and 12 more`."""
    return listed(names, SHOWN)


def place(origin: Origin) -> str:
    """`/etc/mysql/my.cnf:12`, or the kind of its source."""
    if origin.file is None:
        return "an option file" if origin.source == "file" else f"the {origin.source} value"
    return f"{origin.file}:{origin.line}" if origin.line else origin.file


def is_ours(where: str) -> bool:
    """Whether the file of a place is one that `mydyno apply` wrote: they bear its name."""
    return "mydyno" in posixpath.basename(where)


def sentence(change: Change) -> str:
    """What is set to what, and what it is now: `sort_buffer_size = 2M (now 64M)`."""
    if not isinstance(change, SetVariable):
        return change.sentence()
    was = None if change.was is None else value_text(change.name, change.was)
    return change.model_copy(update={"value": value_text(change.name, change.value), "was": was}).sentence()


def value_text(name: str, value: str) -> str:
    """A server variable's value; one of bytes with the largest suffix that leaves it whole."""
    row = catalogue().get(name)
    return str(size_text(int(value))) if row and row.unit == "bytes" and value.isdecimal() else value
