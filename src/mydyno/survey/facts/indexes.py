"""Which indexes another one does the work of: pure."""

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


@dataclass(frozen=True)
class ForeignKey:
    """One side of a foreign key: InnoDB refuses to drop the last index that begins with its columns."""

    table: str
    """`schema.table`, the referring or the referred one."""
    columns: tuple[str, ...]


def not_needed(
    unused: Iterable[TableIndex], indexes: Iterable[TableIndex], keys: Iterable[ForeignKey]
) -> tuple[TableIndex, ...]:
    """Those of `unused` that can all go, together with every index that another one covers.

    An index on whose account another one is redundant stays, and so does the last one for a foreign key.
    """
    all_of = tuple(indexes)
    redundant = tuple(covered(all_of))
    covering = {(each.index.table, each.by) for each in redundant}
    gone = {(each.index.table, each.index.name) for each in redundant}
    by_table: dict[str, list[ForeignKey]] = {}
    for key in keys:
        by_table.setdefault(key.table, []).append(key)
    removable = []
    for index in unused:
        name = (index.table, index.name)
        others = [each for each in all_of if each.table == index.table and each.name != index.name]
        kept = [each for each in others if (each.table, each.name) not in gone]
        needed = any(
            _serves(index, key) and not any(_serves(each, key) for each in kept)
            for key in by_table.get(index.table, ())
        )
        if name in covering or needed:
            continue
        gone.add(name)
        removable.append(index)
    return tuple(removable)


def _serves(index: TableIndex, key: ForeignKey) -> bool:
    return tuple(part.column for part in index.parts[: len(key.columns)]) == key.columns


def _worth(index: TableIndex) -> tuple[bool, bool, str]:
    return index.name != PRIMARY, not index.unique, index.name


def _stands_in(other: TableIndex, index: TableIndex) -> bool:
    if index.visible and not other.visible:
        return False
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
