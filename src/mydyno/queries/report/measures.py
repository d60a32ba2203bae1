"""The measures of a group as a table for a terminal: a line an attribute, the query time first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mydyno.page.lines import Line
from mydyno.queries.attributes import title
from mydyno.queries.records import Figures, Group, Measure
from mydyno.queries.report.words import amount, share

_COLUMNS = ("share", "total", "mean", "min", "p50", "p95", "p99", "max")
_OF_ONE = ("share", "total")
"""Of a statement that ran once: all others say the same."""
_GIVES_WAY = ("min", "p99", "share", "p50", "total")
"""In the order in which they go when there is no room."""
_OF_THE_LOG = ("log_slow_rate_limit",)
"""Attributes of the log, not of its statements."""
_FIRST = ("query_time", "lock_time", "rows_examined", "rows_sent")


def measure_lines(group: Group, total: Figures, width: int) -> Iterator[Line]:
    """What no statement of the group has any of is left out, but for the first four."""
    names = [name for name in _FIRST if name in group.measures]
    left_out = (*_FIRST, *_OF_THE_LOG)
    names += [name for name, each in group.measures.items() if name not in left_out and each.sum]
    rows = [_row(group.measures[name], total.measures.get(name)) for name in names]
    columns = [
        column for column in (_COLUMNS if group.count > 1 else _OF_ONE) if any(row[column] for row in rows)
    ]
    label = max((len(title(name).short) for name in names), default=0)
    sizes = {column: max(len(column), *(len(row[column]) for row in rows)) for column in columns}
    columns = fitting(columns, sizes, width - 2 - label, _GIVES_WAY)
    if rows:
        heads = "".join(f"  {column:>{sizes[column]}}" for column in columns)
        yield Line(f"  {'':{label}}{heads}", "faint")
    for name, row in zip(names, rows, strict=True):
        cells = "".join(f"  {row[column]:>{sizes[column]}}" for column in columns)
        yield Line(f"  {title(name).short:{label}}{cells}".rstrip())


def fitting(
    columns: Sequence[str], sizes: Mapping[str, int], width: int, gives_way: Sequence[str]
) -> list[str]:
    """The columns for which there is space, each two blanks from the next; those in `gives_way` go first."""
    left = list(columns)
    for column in gives_way:
        if sum(sizes[each] + 2 for each in left) <= width:
            break
        left = [each for each in left if each != column]
    return left


def _row(measure: Measure, total: Measure | None) -> dict[str, str]:
    """Empty where a column does not apply."""
    values = {column: getattr(measure, column) for column in ("mean", "min", "p50", "p95", "p99", "max")}
    return {
        "share": share(measure.sum, total.sum) if total and total.sum else "",
        "total": amount(measure.sum, measure.unit),
        **{name: "" if value is None else amount(value, measure.unit) for name, value in values.items()},
    }
