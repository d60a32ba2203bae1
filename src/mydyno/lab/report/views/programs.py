"""The running time of each test program and of all together."""

from __future__ import annotations

from dataclasses import dataclass

from mydyno.lab.analysis.metrics import RUNNING_TIME
from mydyno.lab.analysis.observations import places
from mydyno.lab.analysis.summary import summary, total_summary
from mydyno.lab.report.evidence import Evidence, Setting
from mydyno.lab.report.views.curves import Drawn, Measured, measured

MANY_ORDERS = 12


@dataclass(frozen=True)
class ProgramRow:
    program: str | None
    """None for the total over all programs."""
    seconds: tuple[Measured | None, ...]
    """One for each setting; None where it was not measured."""


@dataclass(frozen=True)
class Programs(Drawn):
    settings: tuple[Setting, ...]
    rows: tuple[ProgramRow, ...]
    """In the order in which they ran, the total last; none when no test program was run."""

    def means(self) -> list[Measured]:
        return [cell for row in self.rows for cell in row.seconds if cell is not None]

    @property
    def spreads(self) -> bool:
        """The longest took so many times the shortest that only a logarithmic axis shows both."""
        least = self.least_positive
        return least is not None and least * MANY_ORDERS < self.most


def programs(evidence: Evidence) -> Programs:
    """Of the settings that run test programs; another load may have settings that do not."""
    names, settings = evidence.programs, settings_with_programs(evidence)
    if not names:
        return Programs(settings, ())
    points = [setting.point_id for setting in settings]
    of_them = [trial for trial in evidence.trials if trial.point_id in points]
    each = summary(of_them, points, RUNNING_TIME)
    total = total_summary(of_them, points, RUNNING_TIME)
    rows = [ProgramRow(name, tuple(measured(each[point, name]) for point in points)) for name in names]
    return Programs(settings, (*rows, ProgramRow(None, tuple(measured(total[point]) for point in points))))


def settings_with_programs(evidence: Evidence) -> tuple[Setting, ...]:
    """Those of which some trial came to a test program; all where there is no other load."""
    if evidence.by_program:
        return evidence.settings
    run_by = {trial.point_id for trial in evidence.trials if set(places([trial])) & set(evidence.programs)}
    return tuple(setting for setting in evidence.settings if setting.point_id in run_by)
