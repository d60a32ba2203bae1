"""Names of tables and lists of them, as statements and sentences have them."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 10
"""So many statements or names are written out; the rest is counted."""


def quoted(name: str) -> str:
    """`shop.orders` as a statement has it, in backticks."""
    schema, dot, table = name.partition(".")
    return f"{_ticked(schema)}.{_ticked(table)}" if dot else _ticked(schema)


def _ticked(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def first(names: Sequence[str]) -> str:
    """`a, b, c and 12 more`."""
    shown = ", ".join(names[:SHOWN])
    return f"{shown} and {len(names) - SHOWN} more" if len(names) > SHOWN else shown
