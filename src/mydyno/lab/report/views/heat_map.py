"""The table of comparisons as coloured cells: a whole map, and a small one for each test program.

A row is a combination of the other factors, a column a level of the first: file systems across, releases
down, as in a Korean comparison of 2005 with sql-bench, group by group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mydyno.lab.report.views.comparison import Cell, ComparisonTable, Row


@dataclass(frozen=True)
class HeatMap:
    name: str
    """Of the test program; empty for the whole."""
    rows: tuple[Row, ...]


def filled(view: ComparisonTable, maps: Sequence[HeatMap]) -> tuple[ComparisonTable, tuple[HeatMap, ...]]:
    """Without the columns in which no map has a cell."""
    kept = [
        place
        for place in range(len(view.columns))
        if any(row.cells[place] is not None for each in maps for row in each.rows)
    ]
    columns = tuple(view.columns[place] for place in kept)
    return replace(view, columns=columns), tuple(
        replace(
            each,
            rows=tuple(replace(row, cells=tuple(row.cells[place] for place in kept)) for row in each.rows),
        )
        for each in maps
    )


def heat_maps(view: ComparisonTable) -> tuple[HeatMap, ...]:
    """The whole first; none where nothing can be compared. A row without two points has nothing to say."""
    whole = tuple(row for row in view.whole if _compared(row))
    if not whole:
        return ()
    parts: dict[str, list[Row]] = {}
    for row in view.rows:
        if isinstance(row.place, str) and row not in view.whole and _compared(row):
            parts.setdefault(row.place, []).append(row)
    return (HeatMap("", whole), *(HeatMap(name, tuple(rows)) for name, rows in parts.items()))


def _compared(row: Row) -> bool:
    return any(cell and cell.held and cell.held.value is not None for cell in row.cells)


def shown(cell: Cell) -> bool:
    """The trials show a difference from the first column."""
    return cell.held is not None and cell.held.outcome in ("faster", "slower")
