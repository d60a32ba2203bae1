"""A table and its import file as an experiment with its trials: what the rows say, and None for all else.
Pure."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from mydyno import __version__
from mydyno.core.errors import UsageError
from mydyno.core.nearest import nearest
from mydyno.core.plurals import agreeing, counted
from mydyno.lab.imports.mapping import IOS_PER_SECOND, RUNNING_TIME, FactorColumn, ImportFile, with_metric
from mydyno.lab.imports.table import Row, Table, number, seconds_or_rate, unit_of, whole
from mydyno.lab.results import records

Key = tuple[tuple[str, str], ...]
"""The levels of a point."""


def trials_of(
    file: ImportFile,
    table: Table,
    rows: Sequence[tuple[Row, Mapping[str, str]]],
    points: Mapping[Key, records.PointRecord],
    factors: Mapping[str, float],
    now: str,
) -> tuple[records.TrialRecord, ...]:
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
    point: records.PointRecord,
    block: int,
    rows: Sequence[Row],
    factors: Mapping[str, float],
    now: str,
) -> records.TrialRecord:
    phases: list[records.PhaseRecord] = []
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
    missing = records.Invalidity(check="measured", message=f"the table has no number in line {rows[0].line}")
    return records.TrialRecord(
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


def _programs(file: ImportFile, table: Table, row: Row, factor: float) -> list[records.PhaseRecord]:
    phases = []
    for index, column in enumerate(file.programs):
        phase = _phase(index, 1, column)
        value = number(table, row, column, factor)
        phases.append(phase if value is None else with_metric(phase, RUNNING_TIME, value))
    return phases


def _phase(index: int, connections: int, label: str | None) -> records.PhaseRecord:
    """One of which nothing is known yet."""
    return records.PhaseRecord(
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
        latency=records.NO_LATENCY,
        connect=records.NO_LATENCY,
        statements=(),
        errors={},
        client_cpu_user_s=None,
        client_cpu_system_s=None,
        latency_kind="service",
        label=label,
    )


SIZE = "imported"
_SHOWN = 3


@dataclass(frozen=True)
class Imported:
    """What came of a table."""

    experiment: records.ExperimentRecord
    trials: tuple[records.TrialRecord, ...]
    notes: tuple[str, ...]
    """What one should know of how it was read, a sentence each."""


def imported(file: ImportFile, text: str, spec_file: str, table: Table, content: bytes, now: str) -> Imported:
    """The rows of `table` as trials of the experiment that `file` describes.

    `text` is the import file to the letter, `content` the table's bytes; `now` is ISO 8601, UTC. Raises
    UsageError with the line: a column that is not there, a cell that is not a number, units that are mixed, a
    claim about a level that no row has.
    """
    _check_columns(file, table)
    factors = {metric: _factor(file, table, metric) for metric in _measured(file)}
    rows = [(row, _levels(file, row)) for row in table.rows]
    levels = _factor_levels(file, [of_row for _, of_row in rows])
    points = _points(rows, file.factors)
    trials = trials_of(file, table, rows, points, factors, now)
    experiment = records.ExperimentRecord(
        name=file.name,
        question=file.question,
        source=file.source,
        size=SIZE,
        spec_text=text,
        spec_file=spec_file,
        plan_fingerprint=sha256(text.encode() + b"\0" + content).hexdigest(),
        seed=0,
        factors=levels,
        points=tuple(points.values()),
        planned_trials=len(trials),
        created_at=now,
        mydyno_version=__version__,
        work="ios" if IOS_PER_SECOND in file.metrics else "queries",
        claims=_claims(file, levels, spec_file),
        imported=True,
    )
    notes = (*_without_level(file, rows), *_totals_note(file, trials), *_invalid_note(trials))
    return Imported(experiment, trials, notes)


def _check_columns(file: ImportFile, table: Table) -> None:
    for purpose, column in file.columns:
        if column not in table.columns:
            likely = f"did you mean {near}? " if (near := nearest(column, table.columns)) else ""
            raise UsageError(
                f"{table.file} has no column {column} ({purpose})",
                f"{likely}its columns are {', '.join(table.columns)}",
            )


def _measured(file: ImportFile) -> tuple[str, ...]:
    return (*file.metrics, *((RUNNING_TIME,) if file.programs and RUNNING_TIME not in file.metrics else ()))


def _factor(file: ImportFile, table: Table, name: str) -> float:
    """What a number of the metric's column is to be multiplied by."""
    metric = file.metrics.get(name)
    if metric is None:
        return seconds_or_rate(name, "s", table.file)
    return seconds_or_rate(name, unit_of(table, name, metric), f"{table.file}, column {metric.column}")


def _levels(file: ImportFile, row: Row) -> dict[str, str]:
    levels = {name: _level(factor, row.cells[factor.column]) for name, factor in file.factors.items()}
    return {name: level for name, level in levels.items() if level}


def _level(factor: FactorColumn, cell: str) -> str | None:
    if factor.find is None:
        text: str | None = cell
    else:
        match = re.search(factor.find, cell)
        groups = match.groups() if match else ()
        text = next((group for group in groups if group), None)
        if match and not groups:
            text = match.group()
    return factor.levels.get(text, text) if text else factor.otherwise


def _factor_levels(file: ImportFile, rows: Sequence[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """In the order in which the import file names them, then as the rows do."""
    levels: dict[str, tuple[str, ...]] = {}
    for name, factor in file.factors.items():
        seen = dict.fromkeys(row[name] for row in rows if name in row)
        named = [level for level in dict.fromkeys(factor.levels.values()) if level in seen]
        levels[name] = tuple(dict.fromkeys([*named, *seen]))
        if len(levels[name]) < 2:
            only = f"one level, {levels[name][0]}" if levels[name] else "no level"
            raise UsageError(
                f"the factor {name} has {only} in all of the table's rows",
                "a factor varies: take another column, or leave it out",
            )
    return levels


def _points(
    rows: Sequence[tuple[Row, Mapping[str, str]]], factors: Collection[str]
) -> dict[Key, records.PointRecord]:
    points: dict[Key, records.PointRecord] = {}
    for _, levels in rows:
        key = tuple(levels.items())
        title = ", ".join(f"{factor} = {level}" for factor, level in levels.items())
        point_id = f"p{len(points) + 1}"
        points.setdefault(
            key,
            records.PointRecord(
                point_id=point_id, levels=levels, title=title or ("no level" if factors else "the only point")
            ),
        )
    return points


def _claims(
    file: ImportFile, levels: Mapping[str, Sequence[str]], spec_file: str
) -> tuple[records.ClaimRecord, ...]:
    for claim in file.claims:
        for factor, level in [*((claim.factor, each) for each in claim.order), *claim.where.items()]:
            if level not in levels[factor]:
                likely = f"did you mean {near}? " if (near := nearest(level, levels[factor])) else ""
                raise UsageError(
                    f"{spec_file}: a claim is about {factor} = {level}, which no row has",
                    f"{likely}its levels are {', '.join(levels[factor])}",
                )
    return tuple(
        records.ClaimRecord(factor=claim.factor, order=claim.order, where=claim.where, said=claim.said)
        for claim in file.claims
    )


def _without_level(file: ImportFile, rows: Sequence[tuple[Row, Mapping[str, str]]]) -> list[str]:
    notes = []
    for name, factor in file.factors.items():
        without = [row.cells[factor.column] for row, levels in rows if name not in levels]
        if without:
            some = ", ".join(repr(cell) for cell in without[:_SHOWN])
            more = ", ..." if len(without) > _SHOWN else ""
            notes.append(f"{len(without)} of {len(rows)} rows have no {name}: {some}{more}")
    return notes


def _totals_note(file: ImportFile, trials: Sequence[records.TrialRecord]) -> list[str]:
    """A total that is not the sum of its parts is taken as it is, aloud."""
    gaps = [
        trial.totals[RUNNING_TIME] - math.fsum(phase.ended_s for phase in trial.phases)
        for trial in trials
        if RUNNING_TIME in trial.totals
    ]
    if not gaps or max(map(abs, gaps)) < 1e-9:
        return []
    column = file.metrics[RUNNING_TIME].column
    return [
        f"{column} is taken as the table gives it: it differs from the sum of the programs by {min(gaps):g} "
        f"to {max(gaps):g} s"
    ]


def _invalid_note(trials: Sequence[records.TrialRecord]) -> list[str]:
    invalid = [trial for trial in trials if trial.status == "invalid"]
    if not invalid:
        return []
    return [f"{counted(len(invalid), 'row')} without a number {agreeing(len(invalid), 'is')} invalid"]
