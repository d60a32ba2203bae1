"""The table of comparisons: the levels of one factor across, what was measured down.

Rows are the combinations of the other factors (a load, say), and within each its numbers of connections,
queue depths or test programs, and all of them together. Each cell has its mean over the valid trials and its
ratio to the first column of the same row. The form is that of a Korean comparison of MySQL versions and file
systems with sql-bench (2005), with the errors that it lacks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mydyno.core.factors import last_part
from mydyno.lab.analysis.grid import Grid, GridRow
from mydyno.lab.analysis.metrics import RUNNING_TIME, Metric
from mydyno.lab.analysis.observations import Place, places, valid_trials
from mydyno.lab.analysis.standard import least_durable
from mydyno.lab.analysis.summary import summary, total_summary
from mydyno.lab.analysis.words import Words
from mydyno.lab.report.evidence import Evidence, Setting
from mydyno.lab.report.views.curves import Measured, measured
from mydyno.lab.report.views.verdicts import RatioRow, Verdicts
from mydyno.lab.results.records import TrialRecord


@dataclass(frozen=True)
class Cell:
    setting: Setting
    at: Measured | None
    """None where no valid trial measured it."""
    compared: RatioRow | None
    """Against the first column; None in the first column itself."""
    invalid: int
    """Trials that are left out."""
    run: int
    """Trials that were run, the invalid ones too."""

    def speed(self, metric: Metric) -> tuple[float, float | None, float | None] | None:
        """So many times as fast as the first column, with its interval: the ratio, or its inverse where less
        is better. None without a ratio."""
        compared = self.compared
        if compared is None or compared.value is None:
            return None
        if metric.better == "higher":
            return compared.value, compared.low, compared.high
        return 1 / compared.value, _inverse(compared.high), _inverse(compared.low)


def _inverse(value: float | None) -> float | None:
    """Of a bound of a ratio, which is above 0."""
    return None if value is None else 1 / value


@dataclass(frozen=True)
class Row:
    levels: tuple[str, ...]
    """Of the factors that are not across."""
    place: Place | None
    """None for all places of these levels together."""
    metric: Metric
    cells: tuple[Cell | None, ...]
    """One for each column; None where the experiment has no such point."""


@dataclass(frozen=True)
class Column:
    level: str
    slot: int
    """Gives its colour."""
    durability: str | None
    """The label of all its points; None where they differ or have none."""


@dataclass(frozen=True)
class ComparisonTable:
    factor: str
    """The one across; empty when nothing varies, and then there is no row."""
    others: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    words: Words
    correction: str = ""
    """Of the ratios' intervals, where the data were looked at again and again."""

    @property
    def empty(self) -> bool:
        return not any(cell and cell.at for row in self.rows for cell in row.cells)

    @property
    def crossed(self) -> bool:
        """Several factors vary."""
        return bool(self.others)

    @property
    def whole(self) -> tuple[Row, ...]:
        """The rows over all places of their levels, or at the only one."""
        alone = Counter(row.levels for row in self.rows)
        return tuple(row for row in self.rows if row.place is None or alone[row.levels] == 1)

    @property
    def name(self) -> str:
        """The factor's last part: `release`."""
        return last_part(self.factor)

    def at_most(self, rows: int) -> ComparisonTable:
        """The same with so many rows at most: those over all places first, if there are more."""
        if len(self.rows) <= rows:
            return self
        return replace(self, rows=self.whole[:rows])

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return tuple(dict.fromkeys(row.metric for row in self.rows))

    @cached_property
    def one_place(self) -> bool:
        """Its rows differ in nothing but the levels, and all have one metric."""
        return len(self.metrics) == 1 and len({row.levels for row in self.rows}) == len(self.rows) > 1

    @property
    def durability_differs(self) -> bool:
        return len({column.durability for column in self.columns}) > 1

    @property
    def has_intervals(self) -> bool:
        return any(cell and cell.at and cell.at.low is not None for row in self.rows for cell in row.cells)


def comparison(evidence: Evidence, verdicts: Verdicts) -> ComparisonTable:
    grid = evidence.grid
    if grid is None:
        return ComparisonTable("", (), (), (), evidence.words)
    settings = {setting.point_id: setting for setting in evidence.settings}
    compared = {
        (one.setting.point_id, one.against.point_id, row.place): row
        for one in verdicts.ratios
        for row in one.rows
    }
    return ComparisonTable(
        factor=grid.factor,
        others=grid.others,
        columns=tuple(_columns(evidence, grid, settings)),
        rows=tuple(row for each in grid.rows for row in _Rows(evidence, each, settings, compared).rows()),
        words=evidence.words,
        correction=evidence.standard.correction,
    )


def _columns(evidence: Evidence, grid: Grid, settings: dict[str, Setting]) -> Iterator[Column]:
    for place, level in enumerate(grid.columns):
        points = [row.points[place] for row in grid.rows]
        labels = {
            least_durable(valid_trials(evidence.trials, point.point_id))
            for point in points
            if point is not None and valid_trials(evidence.trials, point.point_id)
        }
        slots = {settings[point.point_id].slot for point in points if point is not None}
        yield Column(level, min(slots, default=place), labels.pop() if len(labels) == 1 else None)


class _Rows:
    """The lines of one combination of the other factors."""

    def __init__(
        self,
        evidence: Evidence,
        of: GridRow,
        settings: dict[str, Setting],
        compared: dict[tuple[str, str, Place | None], RatioRow],
    ) -> None:
        self._of, self._settings, self._compared_rows = of, settings, compared
        self._points = [point.point_id for point in of.present]
        self._trials = of.of(evidence.with_controls)
        self._primary = evidence.metric_of(self._trials)
        self._chosen = evidence.chosen
        self._programs = evidence.programs

    def rows(self) -> Iterator[Row]:
        found = places(self._trials)
        for place in found:
            metric = RUNNING_TIME if place in self._programs and not self._chosen else self._primary
            values = summary(self._trials, self._points, metric)
            # The only place is the whole: its verdict is the one that knows of the other columns.
            key = None if len(found) == 1 else place
            yield self._row(place, key, metric, {p: measured(values[p, place]) for p in self._points})
        if len(found) != 1 and (self._primary.summed or not set(found) & set(self._programs)):
            whole = total_summary(self._trials, self._points, self._primary)
            yield self._row(None, None, self._primary, {p: measured(whole[p]) for p in self._points})

    def _row(
        self, place: Place | None, key: Place | None, metric: Metric, values: dict[str, Measured | None]
    ) -> Row:
        cells: list[Cell | None] = []
        first = self._of.points[0].point_id if self._of.points[0] is not None else ""
        for point in self._of.points:
            if point is None:
                cells.append(None)
                continue
            own = [trial for trial in self._trials if trial.point_id == point.point_id]
            cells.append(
                Cell(
                    self._settings[point.point_id],
                    values[point.point_id],
                    self._compared_rows.get((point.point_id, first, key)),
                    invalid=_invalid(own),
                    run=len(own),
                )
            )
        return Row(self._of.levels, place, metric, tuple(cells))


def _invalid(trials: Sequence[TrialRecord]) -> int:
    return sum(trial.status == "invalid" for trial in trials)


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
    return any(cell and cell.compared and cell.compared.value is not None for cell in row.cells)
