"""Totals per operation, as sql-bench's RUN files have them: operations of one name over all test programs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mydyno.lab.report.evidence import Evidence, Setting
from mydyno.lab.report.views.programs import settings_with_programs
from mydyno.lab.results.records import ALL_OPERATIONS, OperationRecord, OperationTotal, TrialRecord


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
    return OperationTotals(settings, tuple(_row(name, settings, by_name[name]) for name in names))


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


def _row(name: str, settings: Sequence[Setting], by_point: dict[str, list[OperationTotal]]) -> TotalRow:
    cells: list[TotalCell | None] = []
    first: float | None = None
    for setting in settings:
        totals = by_point.get(setting.point_id)
        if not totals:
            cells.append(None)
            continue
        elapsed = _mean(total.elapsed_s for total in totals)
        cells.append(
            TotalCell(
                elapsed_s=elapsed,
                client_cpu_user_s=_mean(total.client_cpu_user_s for total in totals),
                client_cpu_system_s=_mean(total.client_cpu_system_s for total in totals),
                client_cpu_s=_mean(total.client_cpu_s for total in totals),
                n=len(totals),
                ratio=elapsed / first if first else None,
                tests=tuple(sorted({total.tests for total in totals})),
                estimated=any(total.estimated for total in totals),
                warned=any(total.warned for total in totals),
            )
        )
        first = elapsed if first is None else first
    return TotalRow(name, tuple(cells))


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return math.fsum(known) / len(known)
