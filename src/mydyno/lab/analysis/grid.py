"""The points of an experiment as a table: the levels of one factor across, the others' combinations down.

What is across is compared: every point with that of the first column in its own row, so that two points
which are compared with each other differ in one factor alone.

Where a design takes only some of the combinations, hardly two of its points do. There all of them are in
one row, and each is compared with the first, which has every factor at its first level.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mydyno.core.factors import last_part
from mydyno.lab.results.records import DesignPoints, PointRecord, TrialRecord

SETTING = "setting"
"""Across, where a design takes only some of the combinations: points of several factors."""
NO_LEVEL = "–"
"""Of a nested factor where it does not apply."""


@dataclass(frozen=True)
class GridRow:
    levels: tuple[str, ...]
    """Of the other factors; empty when there is no other."""
    points: tuple[PointRecord | None, ...]
    """One for each column; None where the experiment has no such point."""

    @property
    def present(self) -> tuple[PointRecord, ...]:
        return tuple(point for point in self.points if point is not None)

    def of(self, trials: Iterable[TrialRecord]) -> list[TrialRecord]:
        """The trials of its points."""
        own = {point.point_id for point in self.present}
        return [trial for trial in trials if trial.point_id in own]

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
    """The one that is across; `SETTING` where whole points are."""
    columns: tuple[str, ...]
    """Its levels; the first one is the baseline of the others."""
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


def points_with(points: Iterable[PointRecord], levels: Mapping[str, str]) -> list[PointRecord]:
    """Those that have all of `levels`, factor -> level."""
    return [point for point in points if levels.items() <= point.levels.items()]


def grid(
    factors: Mapping[str, Sequence[str]],
    points: Sequence[PointRecord],
    across: str | None = None,
    design: DesignPoints = "all",
) -> Grid | None:
    """The table with the factor `across`, or the first one that varies; None when nothing varies.

    A/A controls are left out. A point without the nested factor of a row is in each row that it could be
    in.
    """
    compared = [point for point in points if point.control_of is None]
    if not factors or len(compared) < 2:
        return None
    if across is None and (design != "all" or len(factors) == 1):
        return _one_row(factors, compared)
    factor = across or next(name for name in factors if _varies(name, compared))
    others = tuple(name for name in factors if name != factor)
    if not others:
        return _one_row(factors, compared)
    columns, *down = (_levels(name, factors, compared) for name in (factor, *others))
    at = {tuple(point.levels.get(name, NO_LEVEL) for name in (factor, *others)): point for point in compared}
    rows = [
        GridRow(levels, tuple(at.get((column, *levels)) for column in columns))
        for levels in itertools.product(*down)
    ]
    kept = [row for row in rows if any(point is not None for point in row.points)]
    return Grid(factor, columns, others, tuple(_filled(kept, columns, at)))


def _one_row(factors: Mapping[str, Sequence[str]], points: Sequence[PointRecord]) -> Grid:
    """Every point next to the first one."""
    first = points[0]
    columns = tuple(_unlike(point, first, factors) for point in points)
    if len(factors) == 1:
        return Grid(next(iter(factors)), columns, (), (GridRow((), tuple(points)),))
    # A title of all levels of many factors is too long to be named again and again.
    named = tuple(replace(point, title=name) for point, name in zip(points, columns, strict=True))
    return Grid(SETTING, columns, (), (GridRow((), named),))


def _unlike(point: PointRecord, first: PointRecord, factors: Mapping[str, Sequence[str]]) -> str:
    """A point by its levels; of several factors, where it differs from the first in one, by that alone."""
    levels = {name: point.levels.get(name, NO_LEVEL) for name in factors}
    changed = [name for name in factors if levels[name] != first.levels.get(name, NO_LEVEL)]
    if len(factors) > 1 and len(changed) == 1:
        return f"{last_part(changed[0])} = {levels[changed[0]]}"
    return " · ".join(levels.values())


def _levels(
    factor: str, factors: Mapping[str, Sequence[str]], points: Sequence[PointRecord]
) -> tuple[str, ...]:
    nested = any(factor not in point.levels for point in points)
    return (*factors[factor], *((NO_LEVEL,) if nested else ()))


def _varies(factor: str, points: Sequence[PointRecord]) -> bool:
    return len({point.levels.get(factor) for point in points}) > 1


def _filled(
    rows: Sequence[GridRow], columns: Sequence[str], at: Mapping[tuple[str, ...], PointRecord]
) -> Iterator[GridRow]:
    """The rows with points in every place that they could be in, without rows that repeat others. (An array
    without stripes has no chunk size: it is compared with every chunk size of the others.)"""
    filled = [
        GridRow(
            row.levels,
            tuple(
                point or _without_level((column, *row.levels), at)
                for column, point in zip(columns, row.points, strict=True)
            ),
        )
        for row in rows
    ]
    for row in filled:
        elsewhere = [other for other in filled if other is not row and _covers(other, row)]
        if not (NO_LEVEL in row.levels and elsewhere):
            yield row


def _without_level(wanted: tuple[str, ...], at: Mapping[tuple[str, ...], PointRecord]) -> PointRecord | None:
    """The one point that has all levels of `wanted`, but for those it has none of."""
    column, *levels = wanted
    found = [
        point
        for (own_column, *own), point in at.items()
        if own_column == column
        and NO_LEVEL in own
        and all(mine in (NO_LEVEL, level) for mine, level in zip(own, levels, strict=True))
    ]
    return found[0] if len(found) == 1 else None


def _covers(row: GridRow, other: GridRow) -> bool:
    """Whether all points of `other` are in `row`."""
    return all(point is None or point == mine for point, mine in zip(other.points, row.points, strict=True))
