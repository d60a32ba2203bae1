"""The points of an experiment as a table: the levels of one factor across, the others' combinations down. A
nested factor that does not apply to a point counts as a level of its own, a dash.

What is across is compared: every point with that of the first column in its own row, so that two points
which are held against each other differ in one factor alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mydyno.results.records import PointRecord

_NONE = "–"


@dataclass(frozen=True)
class GridRow:
    levels: tuple[str, ...]
    """Of the other factors; empty when there is no other."""
    points: tuple[PointRecord | None, ...]
    """One for each column; None where the experiment has no such point."""

    @property
    def name(self) -> str:
        return " · ".join(self.levels)

    def comparisons(self) -> Iterator[tuple[int, PointRecord, PointRecord]]:
        """(column, its point, the first column's point), from the second column on."""
        first, *others = self.points
        for column, point in enumerate(others, 1):
            if first is not None and point is not None:
                yield column, point, first


@dataclass(frozen=True)
class Grid:
    factor: str
    """The one that is across."""
    columns: tuple[str, ...]
    """Its levels; what stands first is what the others are held against."""
    others: tuple[str, ...]
    """The other factors, in the order of a row's levels."""
    rows: tuple[GridRow, ...]

    def column_of(self, point_id: str) -> int:
        """Raises KeyError for a point that is not in the table."""
        for row in self.rows:
            for column, point in enumerate(row.points):
                if point is not None and point.point_id == point_id:
                    return column
        raise KeyError(point_id)


def grid(
    factors: Mapping[str, Sequence[str]], points: Sequence[PointRecord], across: str | None = None
) -> Grid | None:
    """The table with the factor `across`, or the first one of the file; None when nothing varies."""
    if not factors or len(points) < 2:
        return None
    factor = next(iter(factors)) if across is None else across
    others = tuple(name for name in factors if name != factor)
    if not others:
        columns = tuple(point.levels.get(factor, point.title) for point in points)
        return Grid(factor, columns, (), (GridRow((), tuple(points)),))
    at = {tuple(point.levels.get(name, _NONE) for name in (factor, *others)): point for point in points}

    def levels_of(name: str) -> tuple[str, ...]:
        nested = any(name not in point.levels for point in points)
        return (*factors[name], _NONE) if nested else tuple(factors[name])

    columns = levels_of(factor)
    rows = (
        GridRow(levels, tuple(at.get((column, *levels)) for column in columns))
        for levels in itertools.product(*map(levels_of, others))
    )
    kept = tuple(row for row in rows if any(point is not None for point in row.points))
    return Grid(factor, columns, others, kept)
