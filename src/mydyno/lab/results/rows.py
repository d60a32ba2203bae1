"""Trials to rows of lab.sqlite and back."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from mydyno.lab.results import records, tables
from mydyno.lab.results.sound import sound

_GROUNDS = tables.RecordTable("grounds", records.GroundRecord, elsewhere=("volumes",))


_LARGEST_INTEGER = 2**63 - 1
_LISTS: dict[str, tables.RecordTable[Any]] = {
    "invalidities": tables.RecordTable("invalidities", records.Invalidity, columns={"check": "check_name"}),
    "checks": tables.RecordTable("checks", records.CheckRecord),
    "self_checks": tables.RecordTable("self_checks", records.SelfCheckRecord),
    "remarks": tables.RecordTable("remarks", records.Remark, columns={"check": "check_name"}),
    "operation_totals": tables.RecordTable("operation_totals", records.OperationTotal),
    "translations": tables.RecordTable(
        "translations",
        records.SettingTranslation,
        stored={"became": tables.document("translations.became", dict[str, str])},
    ),
}
"""Field of a trial -> the table that holds its records in their order."""
_TRIALS = tables.RecordTable(
    "trials",
    records.TrialRecord,
    columns={"index": "position"},
    stored={
        "seed": tables.SEED,
        "networks": tables.document("trials.networks", tuple[records.NetworkRecord, ...], default=()),
    },
    elsewhere={
        *("levels", "settings_asked", "settings_in_force", "counters", "totals"),
        *("phases", "ground", "data", *_LISTS),
    },
)
_DATA = tables.RecordTable("trial_data", records.DataRecord)
_LATENCIES = tables.RecordTable("latencies", records.Latency)
_SCOPES = {"queries": "latency", "connects": "connect", "transactions": "transaction_latency"}
"""Scope of a row of latencies -> the field of its phase. Those of scope `statement` are of a kind each."""
_TRANSACTIONS = tables.RecordTable("transactions_by_name", records.Latency)
_STATEMENTS = tables.RecordTable("statements", records.StatementRecord, elsewhere=("latency",))
_OPERATIONS = tables.RecordTable("operations", records.OperationRecord)
_PHASES = tables.RecordTable(
    "phases",
    records.PhaseRecord,
    columns={"index": "phase"},
    stored={
        "costs": tables.document("phases.costs", dict[str, float], default={}),
        "slices": tables.document("phases.slices", records.SlicesRecord | None),
        "shares": tables.document("phases.shares", tuple[records.ShareRecord, ...], default=()),
    },
    elsewhere={
        *_SCOPES.values(),
        *("transactions_by_name", "statements", "operations", "errors", "error_examples"),
    },
)


def insert_ground(connection: sqlite3.Connection, key: int, ground: records.GroundRecord) -> None:
    """Writes that of one trial. The caller owns the transaction."""
    _GROUNDS.insert(connection, ground, trial_key=key)
    for position, volume in enumerate(ground.volumes):
        tables.insert(connection, "volumes", trial_key=key, position=position, name=volume.name)
        for place, (name, value) in enumerate(volume.facts.items()):
            at = {"trial_key": key, "volume": volume.name, "position": place}
            tables.insert(connection, "volume_facts", **at, name=name, value=value)


def select_grounds(connection: sqlite3.Connection, run_id: int) -> Mapping[int, records.GroundRecord]:
    """Those of every attempt at every trial of a run, by the trial's key."""
    facts: dict[tuple[int, str], dict[str, str]] = defaultdict(dict)
    for row in tables.rows_of_run(connection, run_id, "volume_facts", "volume_facts.position"):
        facts[row["trial_key"], row["volume"]][row["name"]] = row["value"]
    volumes = tables.rows_by_trial(connection, run_id, "volumes", "position")
    return {
        (key := row["trial_key"]): _GROUNDS.record(
            row,
            volumes=tuple(
                records.VolumeRecord(name=one["name"], facts=facts[key, one["name"]]) for one in volumes[key]
            ),
        )
        for row in tables.rows_of_run(connection, run_id, "grounds", "trial_key")
    }


def insert_trial(
    connection: sqlite3.Connection, run_id: int, trial: records.TrialRecord, folder: str, file_bytes: int
) -> None:
    """Write one trial into all its tables. `file_bytes`: of the files in its folder. The caller owns the
    transaction."""
    key = _TRIALS.insert(connection, trial, run_id=run_id, folder=folder, file_bytes=file_bytes)
    for name in sorted(trial.settings_asked.keys() | trial.settings_in_force.keys()):
        configured, in_force = trial.settings_asked.get(name), trial.settings_in_force.get(name)
        tables.insert(connection, "settings", trial_key=key, name=name, asked=configured, in_force=in_force)
    for name, value in trial.counters.items():
        tables.insert(connection, "counters", trial_key=key, name=name, value=_fitting(value))
    for metric, total in trial.totals.items():
        tables.insert(connection, "totals", trial_key=key, metric=metric, value=total)
    for name, table in _LISTS.items():
        tables.insert_each(connection, table, getattr(trial, name), trial_key=key)
    if trial.ground is not None:
        insert_ground(connection, key, trial.ground)
    if trial.data is not None:
        _DATA.insert(connection, trial.data, trial_key=key)
    for phase in trial.phases:
        _insert_phase(connection, key, phase)


def select_trials(
    connection: sqlite3.Connection, run_id: int, levels: Mapping[str, Mapping[str, str]]
) -> list[records.TrialRecord]:
    """Every attempt of every trial of a run, in planned order. `levels`: those of each point, by its name.

    Raises ValueError, LookupError, TypeError or sqlite3.Error for damaged rows (`damage_explained`).
    """
    trials = connection.execute(
        "SELECT * FROM trials WHERE run_id = ? ORDER BY position, attempt", (run_id,)
    ).fetchall()
    lists = {name: table.by_trial(connection, run_id, "position") for name, table in _LISTS.items()}
    totals = tables.rows_by_trial(connection, run_id, "totals", "metric")
    data = _DATA.by_trial(connection, run_id, "trial_key")
    grounds = select_grounds(connection, run_id)
    phases = _select_phases(connection, run_id)
    return [
        sound(
            _TRIALS.record(
                row,
                **{name: tuple(by_trial[key]) for name, by_trial in lists.items()},
                levels=levels[row["point_id"]],
                settings_asked=tables.named_values(connection, key, "settings", "asked"),
                settings_in_force=tables.named_values(connection, key, "settings", "in_force"),
                counters=tables.named_values(connection, key, "counters", "value"),
                totals={total["metric"]: total["value"] for total in totals[key]},
                phases=tuple(phases[key]),
                ground=grounds.get(key),
                data=next(iter(data[key]), None),
            ),
            f"trial {row['trial_id']}",
        )
        for row in trials
        for key in (row["trial_key"],)
    ]


def _insert_phase(connection: sqlite3.Connection, key: int, phase: records.PhaseRecord) -> None:
    place = {"trial_key": key, "phase": phase.index}
    _PHASES.insert(connection, phase, trial_key=key)
    tables.insert_each(connection, _STATEMENTS, phase.statements, **place)
    tables.insert_each(connection, _OPERATIONS, phase.operations, **place)
    for scope, field in _SCOPES.items():
        _LATENCIES.insert(connection, getattr(phase, field), **place, scope=scope, kind="")
    for statement in phase.statements:
        _LATENCIES.insert(connection, statement.latency, **place, scope="statement", kind=statement.kind)
    for position, (name, latency) in enumerate(phase.transactions_by_name.items()):
        _TRANSACTIONS.insert(connection, latency, **place, position=position, name=name)
    for code, count in phase.errors.items():
        example = phase.error_examples.get(code)
        tables.insert(connection, "phase_errors", **place, code=code, count=count, example=example)


def _select_phases(connection: sqlite3.Connection, run_id: int) -> dict[int, list[records.PhaseRecord]]:
    statements = _by_phase(tables.rows_of_run(connection, run_id, "statements", "phase, position"))
    latencies = _by_phase(tables.rows_of_run(connection, run_id, "latencies", "phase"))
    transactions = _by_phase(
        tables.rows_of_run(connection, run_id, "transactions_by_name", "phase, position")
    )
    errors = _by_phase(tables.rows_of_run(connection, run_id, "phase_errors", "phase, code"))
    operations = _by_phase(tables.rows_of_run(connection, run_id, "operations", "phase, position"))
    phases: dict[int, list[records.PhaseRecord]] = defaultdict(list)
    for row in tables.rows_of_run(connection, run_id, "phases", "phase"):
        place = row["trial_key"], row["phase"]
        by_scope = {(one["scope"], one["kind"]): _LATENCIES.record(one) for one in latencies[place]}
        examples = {error["code"]: error["example"] for error in errors[place]}
        phases[row["trial_key"]].append(
            _PHASES.record(
                row,
                **{field: by_scope.get((scope, ""), records.NO_LATENCY) for scope, field in _SCOPES.items()},
                transactions_by_name={one["name"]: _TRANSACTIONS.record(one) for one in transactions[place]},
                statements=tuple(
                    _STATEMENTS.record(
                        one, latency=by_scope.get(("statement", one["kind"]), records.NO_LATENCY)
                    )
                    for one in statements[place]
                ),
                operations=tuple(map(_OPERATIONS.record, operations[place])),
                errors={error["code"]: error["count"] for error in errors[place]},
                error_examples={code: example for code, example in examples.items() if example is not None},
            )
        )
    return phases


def _by_phase(rows: Iterable[sqlite3.Row]) -> dict[tuple[int, int], list[sqlite3.Row]]:
    by_phase: dict[tuple[int, int], list[sqlite3.Row]] = defaultdict(list)
    for row in rows:
        by_phase[row["trial_key"], row["phase"]].append(row)
    return by_phase


def _fitting(value: int | float) -> int | float:
    """Counters of the server go up to 2^64 - 1, SQLite integers only to 2^63 - 1: the rest as a float."""
    return value if isinstance(value, float) or abs(value) <= _LARGEST_INTEGER else float(value)
