"""Names of tables and lists of them, as statements and sentences have them."""

from collections.abc import Sequence

from mydyno.core.plurals import counted
from mydyno.core.sql_names import quote

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
    shown = ", ".join(names[:SHOWN])
    return f"{shown} and {len(names) - SHOWN} more" if len(names) > SHOWN else shown
