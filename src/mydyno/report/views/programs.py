"""The running time of each test program and of all together, each setting against the first."""

from __future__ import annotations

from dataclasses import dataclass

from mydyno.analysis.metrics import RUNNING_TIME
from mydyno.analysis.places import places
from mydyno.analysis.summary import summary, total_summary
from mydyno.report.evidence import Evidence, Setting
from mydyno.report.views.curves import Measured, measured
from mydyno.report.views.verdicts import RatioRow, Verdicts

MANY_ORDERS = 12


@dataclass(frozen=True)
class ProgramRow:
    program: str | None
    """None for the total over all programs."""
    seconds: tuple[Measured | None, ...]
    """One for each setting; None where it was not measured."""
    ratios: tuple[RatioRow | None, ...]
    """One for each setting; None for the first, which is what the others are held against."""


@dataclass(frozen=True)
class Programs:
    settings: tuple[Setting, ...]
    rows: tuple[ProgramRow, ...]
    """In the order in which they ran, the total last; none when no test program was run."""

    @property
    def empty(self) -> bool:
        return not any(cell for row in self.rows for cell in row.seconds)

    @property
    def has_intervals(self) -> bool:
        return any(cell and cell.low is not None for row in self.rows for cell in row.seconds)

    @property
    def most(self) -> float:
        """The largest value to be drawn; 0 when there is none."""
        return max((value for cell in self._cells() for value in (*cell.trials, cell.high or 0)), default=0.0)

    @property
    def least_positive(self) -> float | None:
        """The smallest that was measured."""
        return min((value for cell in self._cells() for value in cell.trials if value > 0), default=None)

    @property
    def spreads(self) -> bool:
        """The longest took so many times the shortest that only a logarithmic axis shows both."""
        least = self.least_positive
        return least is not None and least * MANY_ORDERS < self.most

    def _cells(self) -> list[Measured]:
        return [cell for row in self.rows for cell in row.seconds if cell is not None]


def programs(evidence: Evidence, verdicts: Verdicts) -> Programs:
    settings = evidence.settings
    names = [place for place in places(evidence.trials) if isinstance(place, str)]
    if not names or not verdicts.metric.summed:
        return Programs(settings, ())
    points = [setting.point_id for setting in settings]
    each = summary(evidence.trials, points, RUNNING_TIME)
    total = total_summary(evidence.trials, points, RUNNING_TIME)
    rows = [
        ProgramRow(
            name, tuple(measured(each[point, name]) for point in points), _ratios(settings, verdicts, name)
        )
        for name in names
    ]
    rows.append(
        ProgramRow(None, tuple(measured(total[point]) for point in points), _ratios(settings, verdicts, None))
    )
    return Programs(settings, tuple(rows))


def _ratios(
    settings: tuple[Setting, ...], verdicts: Verdicts, program: str | None
) -> tuple[RatioRow | None, ...]:
    found = {
        ratios.setting.point_id: row
        for ratios in verdicts.ratios
        for row in ratios.rows
        if row.place == program
    }
    return tuple(found.get(setting.point_id) for setting in settings)
