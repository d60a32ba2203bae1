"""Rows of a table as trials: what they say, and None for all else. Pure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from mydyno.core.errors import UsageError
from mydyno.lab.imports.mapping import RUNNING_TIME, ImportFile, with_metric
from mydyno.lab.imports.table import Row, Table, number, whole
from mydyno.lab.results.records import NO_LATENCY, Invalidity, PhaseRecord, PointRecord, TrialRecord

Key = tuple[tuple[str, str], ...]
"""The levels of a point."""


def trials_of(
    file: ImportFile,
    table: Table,
    rows: Sequence[tuple[Row, Mapping[str, str]]],
    points: Mapping[Key, PointRecord],
    factors: Mapping[str, float],
    now: str,
) -> tuple[TrialRecord, ...]:
    """One for each row; where a column of connections distinguishes rows, one for the rows of a
    repetition."""
    gathered: dict[tuple[str, int], list[Row]] = defaultdict(list)
    seen: Counter[tuple[str, int]] = Counter()
    for row, levels in rows:
        point = points[tuple(levels.items())].point_id
        connections = whole(table, row, file.connections, 1) if isinstance(file.connections, str) else 0
        seen[point, connections] += 1
        repetition = seen[point, connections]
        if file.repetition is not None:
            repetition = whole(table, row, file.repetition, 0)
        gathered[point, repetition].append(row)
    by_id = {point.point_id: point for point in points.values()}
    return tuple(
        _trial(file, table, index, by_id[point], repetition, of_trial, factors, now)
        for index, ((point, repetition), of_trial) in enumerate(gathered.items())
    )


def _trial(
    file: ImportFile,
    table: Table,
    index: int,
    point: PointRecord,
    block: int,
    rows: Sequence[Row],
    factors: Mapping[str, float],
    now: str,
) -> TrialRecord:
    phases: list[PhaseRecord] = []
    totals: dict[str, float] = {}
    for row in rows:
        values = {
            name: value
            for name, metric in file.metrics.items()
            if (value := number(table, row, metric.column, factors[name])) is not None
        }
        if file.programs:
            phases += _programs(file, table, row, factors[RUNNING_TIME])
            totals |= values
            continue
        connections = file.connections
        wanted = whole(table, row, connections, 1) if isinstance(connections, str) else connections or 1
        if any(phase.connections_asked == wanted for phase in phases):
            raise UsageError(
                f"{table.file}:{row.line}: repetition {block} of {point.title} has "
                f"{wanted} connections twice",
                "another column may number the repetitions; without one they are counted",
            )
        phase = _phase(len(phases), wanted, None)
        for name, value in values.items():
            phase = with_metric(phase, name, value)
        phases.append(phase)
    measured = any(phase != _phase(phase.index, phase.connections_asked, phase.label) for phase in phases)
    missing = Invalidity(check="measured", message=f"the table has no number in line {rows[0].line}")
    return TrialRecord(
        trial_id=f"t{index + 1:03d}",
        index=index,
        block=block,
        point_id=point.point_id,
        levels=point.levels,
        seed=0,
        status="valid" if measured or totals else "invalid",
        invalidities=() if measured or totals else (missing,),
        started_at=now,
        seconds=math.fsum(phase.ended_s for phase in phases),
        server_version=None,
        durability=None,
        settings_asked={},
        settings_in_force={},
        counters={},
        phases=tuple(phases),
        totals=totals,
    )


def _programs(file: ImportFile, table: Table, row: Row, factor: float) -> list[PhaseRecord]:
    phases = []
    for index, column in enumerate(file.programs):
        phase = _phase(index, 1, column)
        value = number(table, row, column, factor)
        phases.append(phase if value is None else with_metric(phase, RUNNING_TIME, value))
    return phases


def _phase(index: int, connections: int, label: str | None) -> PhaseRecord:
    """One of which nothing is known yet."""
    return PhaseRecord(
        index=index,
        connections_asked=connections,
        connections_reached=connections,
        started_s=0.0,
        measured_from_s=None,
        measured_to_s=None,
        ended_s=0.0,
        queries=None,
        transactions=None,
        queries_per_second=None,
        transactions_per_second=None,
        latency=NO_LATENCY,
        connect=NO_LATENCY,
        statements=(),
        errors={},
        client_cpu_user_s=None,
        client_cpu_system_s=None,
        latency_kind="service",
        label=label,
    )
