"""The timed operations of the test programs: what each costs each setting, and their totals by name, as
sql-bench's RUN files have them; and the running time of each test program and of all together.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from mydyno.lab.analysis.metrics import RUNNING_TIME
from mydyno.lab.analysis.observations import places
from mydyno.lab.analysis.summary import summary, total_summary
from mydyno.lab.report.evidence import Evidence, Setting
from mydyno.lab.report.views.curves import Drawn, Measured, measured
from mydyno.lab.results.records import ALL_OPERATIONS, OperationRecord, OperationTotal, TrialRecord

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


@dataclass(frozen=True)
class Cost:
    """Means over the valid trials of a setting, in seconds."""

    seconds: float
    client_cpu: float
    server_cpu: float | None
    n: int


@dataclass(frozen=True)
class OperationRow:
    program: str
    name: str
    turn: int
    """1, or more where the program times several operations under one name."""
    tests: tuple[int, ...]
    """As the original counts them; several when trials differ."""
    statements: tuple[int, ...]
    """As sent; several when trials differ."""
    costs: tuple[Cost | None, ...]
    """One for each setting."""
    in_totals: bool
    """Whether the totals of the original's report take it in."""
    estimated: bool
    """In some trial it was cut off by the time limit and extrapolated."""
    failed: int
    """Statements that failed, in all valid trials."""
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Operations:
    settings: tuple[Setting, ...]
    rows: tuple[OperationRow, ...]
    """In the order in which they ran; none when there is no valid trial with operations."""


def operations(evidence: Evidence) -> Operations:
    records: dict[tuple[str, str, int], dict[str, list[OperationRecord]]] = {}
    for trial in evidence.valid:
        for phase in trial.phases:
            turns = Counter[str]()
            for operation in phase.operations:
                turns[operation.name] += 1
                key = phase.label or "", operation.name, turns[operation.name]
                records.setdefault(key, {}).setdefault(trial.point_id, []).append(operation)
    settings = settings_with_programs(evidence)
    return Operations(settings, tuple(_row(*key, settings, seen) for key, seen in records.items()))


def _row(
    program: str,
    name: str,
    turn: int,
    settings: tuple[Setting, ...],
    by_point: dict[str, list[OperationRecord]],
) -> OperationRow:
    seen = [operation for of_point in by_point.values() for operation in of_point]
    return OperationRow(
        program=program,
        name=name,
        turn=turn,
        tests=tuple(sorted({operation.tests for operation in seen})),
        statements=tuple(sorted({operation.statements for operation in seen})),
        costs=tuple(_cost(by_point.get(setting.point_id, [])) for setting in settings),
        in_totals=all(operation.in_totals for operation in seen),
        estimated=any(operation.estimated for operation in seen),
        failed=sum(operation.failed for operation in seen),
        warnings=tuple(
            dict.fromkeys(operation.warning for operation in seen if operation.warning is not None)
        ),
    )


def _cost(seen: list[OperationRecord]) -> Cost | None:
    if not seen:
        return None
    of_server = [
        each.server_cpu_user_s + each.server_cpu_system_s
        for each in seen
        if each.server_cpu_user_s is not None and each.server_cpu_system_s is not None
    ]
    return Cost(
        seconds=fmean(operation.elapsed_ns / 1e9 for operation in seen),
        client_cpu=fmean(each.client_cpu_user_s + each.client_cpu_system_s for each in seen),
        server_cpu=fmean(of_server) if of_server else None,
        n=len(seen),
    )


@dataclass(frozen=True)
class TotalCell:
    """Means over the valid trials of a setting, in seconds."""

    elapsed_s: float
    client_cpu_user_s: float
    client_cpu_system_s: float
    client_cpu_s: float
    n: int
    ratio: float | None
    """`elapsed_s` to that of the first setting with the operation; None for that one, or where it is 0."""
    tests: tuple[int, ...]
    """As the original counts them; several when trials differ."""
    estimated: bool
    warned: bool


@dataclass(frozen=True)
class TotalRow:
    name: str
    cells: tuple[TotalCell | None, ...]
    """One for each setting."""

    @property
    def tests(self) -> tuple[int, ...]:
        """Those of the first setting that has the operation."""
        return next((cell.tests for cell in self.cells if cell is not None), ())


@dataclass(frozen=True)
class OperationTotals:
    settings: tuple[Setting, ...]
    rows: tuple[TotalRow, ...]
    """By name, the sum of all last; none where no valid trial has operations."""


def operation_totals(evidence: Evidence) -> OperationTotals:
    """Of trials that came from RUN files, and of test programs that mydyno ran."""
    settings = settings_with_programs(evidence)
    by_name: dict[str, dict[str, list[OperationTotal]]] = {}
    for trial in evidence.valid:
        for total in totals_of(trial):
            by_name.setdefault(total.name, {}).setdefault(trial.point_id, []).append(total)
    names = sorted(by_name, key=lambda name: (name == ALL_OPERATIONS, name))
    return OperationTotals(settings, tuple(_totals_row(name, settings, by_name[name]) for name in names))


def totals_of(trial: TrialRecord) -> tuple[OperationTotal, ...]:
    """As its RUN file has them; else summed over its phases, as the suite sums them."""
    if trial.operation_totals:
        return trial.operation_totals
    by_name: dict[str, list[OperationRecord]] = {}
    for phase in trial.phases:
        for operation in phase.operations:
            if operation.in_totals:
                by_name.setdefault(operation.name, []).append(operation)
    if not by_name:
        return ()
    every = [operation for of_name in by_name.values() for operation in of_name]
    return tuple(_sum(name, operations) for name, operations in {**by_name, ALL_OPERATIONS: every}.items())


def _sum(name: str, operations: Sequence[OperationRecord]) -> OperationTotal:
    user = math.fsum(each.client_cpu_user_s for each in operations)
    system = math.fsum(each.client_cpu_system_s for each in operations)
    return OperationTotal(
        name=name,
        tests=sum(each.tests for each in operations),
        elapsed_s=sum(each.elapsed_ns for each in operations) / 1e9,
        client_cpu_user_s=user,
        client_cpu_system_s=system,
        client_cpu_s=user + system,
        estimated=any(each.estimated for each in operations),
        warned=any(each.warning is not None for each in operations),
    )


def _totals_row(
    name: str, settings: Sequence[Setting], by_point: dict[str, list[OperationTotal]]
) -> TotalRow:
    cells: list[TotalCell | None] = []
    first: float | None = None
    for setting in settings:
        totals = by_point.get(setting.point_id)
        if not totals:
            cells.append(None)
            continue
        elapsed = fmean(total.elapsed_s for total in totals)
        cells.append(
            TotalCell(
                elapsed_s=elapsed,
                client_cpu_user_s=fmean(total.client_cpu_user_s for total in totals),
                client_cpu_system_s=fmean(total.client_cpu_system_s for total in totals),
                client_cpu_s=fmean(total.client_cpu_s for total in totals),
                n=len(totals),
                ratio=elapsed / first if first else None,
                tests=tuple(sorted({total.tests for total in totals})),
                estimated=any(total.estimated for total in totals),
                warned=any(total.warned for total in totals),
            )
        )
        first = elapsed if first is None else first
    return TotalRow(name, tuple(cells))
