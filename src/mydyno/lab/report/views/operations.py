"""The timed operations of the test programs: what they count, and what they cost each setting."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from mydyno.lab.report.evidence import Evidence, Setting
from mydyno.lab.report.views.programs import settings_with_programs
from mydyno.lab.results.records import OperationRecord


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
    found: dict[tuple[str, str, int], dict[str, list[OperationRecord]]] = {}
    for trial in evidence.valid:
        for phase in trial.phases:
            turns = Counter[str]()
            for operation in phase.operations:
                turns[operation.name] += 1
                key = phase.label or "", operation.name, turns[operation.name]
                found.setdefault(key, {}).setdefault(trial.point_id, []).append(operation)
    settings = settings_with_programs(evidence)
    return Operations(settings, tuple(_row(*key, settings, seen) for key, seen in found.items()))


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
    return Cost(
        seconds=_mean(operation.elapsed_ns / 1e9 for operation in seen) or 0.0,
        client_cpu=_mean(each.client_cpu_user_s + each.client_cpu_system_s for each in seen) or 0.0,
        server_cpu=_mean(
            each.server_cpu_user_s + each.server_cpu_system_s
            for each in seen
            if each.server_cpu_user_s is not None and each.server_cpu_system_s is not None
        ),
        n=len(seen),
    )


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return math.fsum(known) / len(known) if known else None
