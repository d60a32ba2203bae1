"""Which index of a table already does what a candidate would do, and why it may not be used all the same."""

from dataclasses import dataclass

from mydyno.queries.candidates.choosing import Pattern, begins
from mydyno.queries.candidates.schema import Access, Definition
from mydyno.survey.facts.indexes import PRIMARY, TableIndex, covered

FEW_ROWS = 10
"""Rows for each value of an index: so few are filtered by the other conditions as fast as they are found."""
LARGE_SHARE = 0.2
"""Of a table: where an index finds more of it, the optimizer may rather read all (MySQL Reference Manual,
"Avoiding Full Table Scans", has no fixed share)."""
_ORDERED = "BTREE"
_INNODB = "innodb"


@dataclass(frozen=True)
class Serving:
    index: TableIndex
    rows: float | None = None
    """That it should find for one search, where its cardinality is known."""

    @property
    def shown(self) -> str:
        return shown(self.index)


def shown(index: TableIndex) -> str:
    """`index status (status, placed_at)`, `the primary key (id)`."""
    columns = ", ".join(part.column + (f"({part.length})" if part.length else "") for part in index.parts)
    return f"the primary key ({columns})" if index.name == PRIMARY else f"index {index.name} ({columns})"


def serving(definition: Definition, equal: frozenset[str], pattern: Pattern) -> Serving | None:
    """The index that finds what the pattern would; `equal`: its columns that are compared with one value.

    That is one that begins with the pattern (an InnoDB index ends with the primary key), a unique one of
    which every column has its value, or one that finds few rows by itself.
    """
    for index in _usable(definition):
        columns = columns_in_order(index, definition)
        matched = _leading(columns, equal)
        own = [part.column.casefold() for part in index.parts]
        if index.unique and equal.issuperset(own) and all(part.length is None for part in index.parts):
            return Serving(index, 1.0)
        rows = rows_found(definition, index, min(matched, len(own)))
        if begins(columns, pattern) or (matched and rows is not None and rows <= FEW_ROWS):
            return Serving(index, rows)
    return None


def columns_in_order(index: TableIndex, definition: Definition) -> tuple[str, ...]:
    """The columns in whose order its entries are, in lower case, with the primary key that InnoDB appends.

    What follows the beginning of a column is not in order (MySQL Reference Manual, "Column Indexes").
    """
    columns: list[str] = []
    for part in index.parts:
        columns.append(part.column.casefold())
        if part.length is not None:
            return tuple(columns)
    if (definition.engine or "").casefold() == _INNODB and index.name != PRIMARY:
        primary = next((each for each in definition.indexes if each.name == PRIMARY), None)
        for part in primary.parts if primary else ():
            if part.length is not None:
                break
            if part.column.casefold() not in columns:
                columns.append(part.column.casefold())
    return tuple(columns)


def rows_found(definition: Definition, index: TableIndex, parts: int) -> float | None:
    """Rows for one value of the index's first `parts` columns, by the server's guesses."""
    if not parts or definition.rows is None:
        return None
    different = index.parts[parts - 1].cardinality
    return definition.rows / different if different else None


def different_values(definition: Definition, column: str) -> int | None:
    """How many values a column has, where an index begins with it."""
    for index in definition.indexes:
        if index.parts and index.parts[0].column.casefold() == column and index.parts[0].cardinality:
            return index.parts[0].cardinality
    return None


def begins_with_any(definition: Definition, columns: tuple[str, ...]) -> TableIndex | None:
    """An index that begins with one of these columns."""
    return next((each for each in _usable(definition) if each.parts[0].column.casefold() in columns), None)


def why_not_used(serving: Serving, definition: Definition, access: Access, examined: float | None) -> str:
    """Why rows are read all the same, as far as it can be seen from here."""
    rows, table = serving.rows, definition.rows
    if rows is not None and table and rows >= LARGE_SHARE * table:
        return (
            f"{serving.shown} exists, and each of its values matches about {rows:,.0f} of {table:,}"
            " rows: the optimizer may prefer to read the whole table"
        )
    reads_more = rows is not None and examined is not None and examined > 10 * rows
    if reads_more and not access.ranges and not access.lists:
        return (
            f"{serving.shown} exists and should find about {rows:,.0f} rows: some values may be far more"
            " frequent than others, or the statistics old (ANALYZE TABLE)"
        )
    return f"{serving.shown} exists already and serves it"


def replaced(definition: Definition, new: TableIndex) -> list[TableIndex]:
    """Indexes that nothing needs once the new one is there."""
    return [each.index for each in covered((*definition.indexes, new)) if each.by == new.name]


def _usable(definition: Definition) -> list[TableIndex]:
    """The ordered ones that the optimizer uses, the primary key first."""
    usable = [each for each in definition.indexes if each.kind == _ORDERED and each.visible and each.parts]
    return sorted(usable, key=lambda each: each.name != PRIMARY)


def _leading(columns: tuple[str, ...], equal: frozenset[str]) -> int:
    return next((at for at, column in enumerate(columns) if column not in equal), len(columns))
