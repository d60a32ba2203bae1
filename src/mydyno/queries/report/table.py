"""The groups of a digest as a table that fits into a terminal: columns without room give way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mydyno.page.blocks import bar
from mydyno.page.format import MISSING, count
from mydyno.page.lines import Line
from mydyno.queries.records import Digest, Figures, Group, Unit
from mydyno.queries.report.abbreviated import abbreviated
from mydyno.queries.report.words import amount, amounts_us, share

_BAR = 8
_STATEMENT = 30
"""Characters that a statement needs to be known again; columns give way to it."""


@dataclass(frozen=True)
class _Column:
    head: str
    cell: Callable[[Group, Figures], str]
    importance: int
    """Of columns without room, that with the least goes first."""
    left: bool = False


def _measured(name: str, what: str, unit: Unit = "us") -> Callable[[Group, Figures], str]:
    return lambda group, total: amount(group.figure(name, what), unit)


def _share(group: Group, total: Figures) -> float:
    return group.query_time_us / total.query_time_us if total.query_time_us else 0.0


_COLUMNS = (
    _Column("", lambda group, total: bar(_share(group, total), _BAR), 2, left=True),
    _Column("share", lambda group, total: share(group.query_time_us, total.query_time_us), 9),
    _Column("count", lambda group, total: count(group.count), 8),
    _Column("total", _measured("query_time", "sum"), 4),
    _Column("mean", _measured("query_time", "mean"), 7),
    _Column("p95", _measured("query_time", "p95"), 6),
    _Column("max", _measured("query_time", "max"), 3),
    _Column("examined", _measured("rows_examined", "mean", "count"), 5),
    _Column("sent", _measured("rows_sent", "mean", "count"), 1),
)


def table_lines(digest: Digest, width: int) -> Iterator[Line]:
    """A heading, then a line a group, numbered in the digest's order."""
    rows = [[column.cell(group, digest.total) for column in _COLUMNS] for group in digest.groups]
    total = next(place for place, column in enumerate(_COLUMNS) if column.head == "total")
    sums = [group.query_time.sum if group.query_time else None for group in digest.groups]
    for row, text in zip(rows, amounts_us(sums), strict=True):
        row[total] = text
    rank = len(str(len(digest.groups)))
    columns = [
        place
        for place, column in enumerate(_COLUMNS)
        if any(row[place].strip() not in ("", MISSING) for row in rows)
    ]
    sizes = {
        place: max(len(_COLUMNS[place].head), *(len(row[place]) for row in rows)) if rows else 0
        for place in columns
    }
    while columns and _room(width, rank, [sizes[place] for place in columns]) < _STATEMENT:
        columns.remove(min(columns, key=lambda place: _COLUMNS[place].importance))
    room = max(_room(width, rank, [sizes[place] for place in columns]), _STATEMENT)
    heads = [_set(_COLUMNS[place].head, place, sizes) for place in columns]
    yield Line("  ".join([" " * rank, *heads, digest.grouping.noun]), "heading")
    for number, (group, row) in enumerate(zip(digest.groups, rows, strict=True), 1):
        cells = [_set(row[place], place, sizes) for place in columns]
        yield Line("  ".join([f"{number:{rank}}", *cells, abbreviated(group.fingerprint, room)]))


def _room(width: int, rank: int, sizes: Sequence[int]) -> int:
    return width - rank - sum(sizes) - 2 * (len(sizes) + 1)


def _set(text: str, place: int, sizes: dict[int, int]) -> str:
    return text.ljust(sizes[place]) if _COLUMNS[place].left else text.rjust(sizes[place])
