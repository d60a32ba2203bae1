"""Which indexes another one does the work of: pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby

PRIMARY = "PRIMARY"
_ORDERED = "BTREE"
"""Only an ordered index can stand in for one on its first columns."""


@dataclass(frozen=True)
class Part:
    """One column of an index; `length`: only so much of its beginning."""

    column: str
    length: int | None = None
    descending: bool = False
    cardinality: int | None = field(default=None, compare=False)
    """How many different values the columns up to this one have together, as the server guesses."""


@dataclass(frozen=True)
class TableIndex:
    """An index as information_schema.STATISTICS has it."""

    table: str
    """`schema.table`."""
    name: str
    unique: bool
    kind: str
    parts: tuple[Part, ...]
    visible: bool = True
    """Whether the optimizer looks at it: not at MySQL's INVISIBLE and MariaDB's IGNORED ones."""


@dataclass(frozen=True)
class Covered:
    index: TableIndex
    by: str
    """The index that begins with the same columns."""


def covered(indexes: Iterable[TableIndex]) -> Iterator[Covered]:
    """Every index that could go, since another one begins with all its columns.

    A unique one stays for its constraint, unless another unique one has the very same columns. Of two that
    are alike the primary key stays, then a unique one, then the first by name.
    """
    by_table = sorted(indexes, key=lambda index: (index.table, *_worth(index)))
    for _, group in groupby(by_table, key=lambda index: index.table):
        ordered = [index for index in group if index.kind == _ORDERED]
        for index in ordered:
            others = (other for other in ordered if other is not index and _stands_in(other, index))
            if (best := next(others, None)) is not None:
                yield Covered(index, best.name)


def _worth(index: TableIndex) -> tuple[bool, bool, str]:
    return index.name != PRIMARY, not index.unique, index.name


def _stands_in(other: TableIndex, index: TableIndex) -> bool:
    if index.name == PRIMARY or other.parts[: len(index.parts)] != index.parts:
        return False
    if len(other.parts) == len(index.parts):
        return _worth(other) < _worth(index)
    return not index.unique


def of_rows(rows: Iterable[Mapping[str, object]]) -> tuple[TableIndex, ...]:
    """Rows of information_schema.STATISTICS, by their columns' names, as indexes."""
    by_index: dict[tuple[str, str], list[Mapping[str, object]]] = {}
    for row in rows:
        table = f"{row['TABLE_SCHEMA']}.{row['TABLE_NAME']}"
        by_index.setdefault((table, str(row["INDEX_NAME"])), []).append(row)
    return tuple(
        TableIndex(
            table,
            name,
            unique=not int(str(parts[0]["NON_UNIQUE"])),
            kind=str(parts[0]["INDEX_TYPE"]),
            parts=tuple(map(_part, sorted(parts, key=lambda row: int(str(row["SEQ_IN_INDEX"]))))),
            visible=parts[0].get("IS_VISIBLE") != "NO" and parts[0].get("IGNORED") != "YES",
        )
        for (table, name), parts in by_index.items()
    )


def _part(row: Mapping[str, object]) -> Part:
    # An index on an expression (MySQL 8.0.13) has no column: two of them are never taken for the same.
    column = row["COLUMN_NAME"]
    name = str(column) if column is not None else f"({row['INDEX_NAME']} {row['SEQ_IN_INDEX']})"
    length, different = row["SUB_PART"], row.get("CARDINALITY")
    return Part(
        name,
        None if length is None else int(str(length)),
        row["COLLATION"] == "D",
        None if different is None else int(str(different)),
    )
