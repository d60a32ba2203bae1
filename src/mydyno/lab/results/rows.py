"""Trials to rows of lab.sqlite and back."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import fields

from mydyno.lab.results.records import (
    NO_LATENCY,
    CheckRecord,
    Invalidity,
    Latency,
    OperationRecord,
    OperationTotal,
    PhaseRecord,
    StatementRecord,
    TrialRecord,
)
from mydyno.lab.results.sound import sound
from mydyno.lab.results.storage_rows import insert_storage, select_storage
from mydyno.lab.results.tables import insert, named_values, rows_by_trial, rows_of_run
from mydyno.lab.results.translation_rows import insert_translations, select_translations

_LARGEST_INTEGER = 2**63 - 1
_LATENCY = (
    "min_ns",
    "mean_ns",
    "max_ns",
    "p50_ns",
    "p75_ns",
    "p90_ns",
    "p95_ns",
    "p99_ns",
    "p999_ns",
)
_PHASE = (
    "connections_asked",
    "connections_reached",
    "started_s",
    "measured_from_s",
    "measured_to_s",
    "ended_s",
    "queries",
    "transactions",
    "queries_per_second",
    "transactions_per_second",
    "client_cpu_user_s",
    "client_cpu_system_s",
    "latency_kind",
    "aborted",
    "backlog_max",
    "label",
    "retries",
    "reconnects",
    "steady_from_s",
)
_OPERATION = tuple(field.name for field in fields(OperationRecord))
_OPERATION_TOTAL = tuple(field.name for field in fields(OperationTotal))
_CHECK = tuple(field.name for field in fields(CheckRecord))


def insert_trial(
    connection: sqlite3.Connection, run_id: int, trial: TrialRecord, folder: str, file_bytes: int
) -> None:
    """Write one trial into all its tables. `file_bytes`: of the files in its folder. The caller owns the
    transaction."""
    key = insert(
        connection,
        "trials",
        run_id=run_id,
        trial_id=trial.trial_id,
        attempt=trial.attempt,
        position=trial.index,
        block=trial.block,
        point_id=trial.point_id,
        seed=str(trial.seed),
        status=trial.status,
        started_at=trial.started_at,
        seconds=trial.seconds,
        server_version=trial.server_version,
        durability=trial.durability,
        folder=folder,
        file_bytes=file_bytes,
    )
    for position, reason in enumerate(trial.invalidities):
        insert(
            connection,
            "invalidities",
            trial_key=key,
            position=position,
            check_name=reason.check,
            message=reason.message,
            phase=reason.phase,
        )
    for name in sorted(trial.settings_asked.keys() | trial.settings_in_force.keys()):
        asked, in_force = trial.settings_asked.get(name), trial.settings_in_force.get(name)
        insert(connection, "settings", trial_key=key, name=name, asked=asked, in_force=in_force)
    for name, value in trial.counters.items():
        insert(connection, "counters", trial_key=key, name=name, value=_fitting(value))
    for metric, total in trial.totals.items():
        insert(connection, "totals", trial_key=key, metric=metric, value=total)
    for position, operation in enumerate(trial.operation_totals):
        values = {name: getattr(operation, name) for name in _OPERATION_TOTAL}
        insert(connection, "operation_totals", trial_key=key, position=position, **values)
    for position, check in enumerate(trial.checks):
        values = {name: getattr(check, name) for name in _CHECK}
        insert(connection, "checks", trial_key=key, position=position, **values)
    insert_storage(connection, key, trial)
    insert_translations(connection, key, trial.translations)
    for phase in trial.phases:
        _insert_phase(connection, key, phase)


def select_trials(
    connection: sqlite3.Connection, run_id: int, levels: Mapping[str, Mapping[str, str]]
) -> list[TrialRecord]:
    """Every attempt of every trial of a run, in planned order. `levels`: those of each point, by its name.

    Raises ValueError, LookupError, TypeError or sqlite3.Error for damaged rows (`damage_explained`).
    """
    trials = connection.execute(
        "SELECT * FROM trials WHERE run_id = ? ORDER BY position, attempt", (run_id,)
    ).fetchall()
    invalidities = rows_by_trial(connection, run_id, "invalidities", "position")
    totals = rows_by_trial(connection, run_id, "totals", "metric")
    operation_totals = rows_by_trial(connection, run_id, "operation_totals", "position")
    checks = rows_by_trial(connection, run_id, "checks", "position")
    storage = select_storage(connection, run_id)
    translations = select_translations(connection, run_id)
    phases = _select_phases(connection, run_id)
    return [
        sound(
            TrialRecord(
                trial_id=row["trial_id"],
                attempt=row["attempt"],
                index=row["position"],
                block=row["block"],
                point_id=row["point_id"],
                levels=levels[row["point_id"]],
                seed=int(row["seed"]),
                status=row["status"],
                invalidities=tuple(
                    Invalidity(check=reason["check_name"], message=reason["message"], phase=reason["phase"])
                    for reason in invalidities[row["trial_key"]]
                ),
                started_at=row["started_at"],
                seconds=row["seconds"],
                server_version=row["server_version"],
                durability=row["durability"],
                settings_asked=named_values(connection, row["trial_key"], "settings", "asked"),
                settings_in_force=named_values(connection, row["trial_key"], "settings", "in_force"),
                counters=named_values(connection, row["trial_key"], "counters", "value"),
                phases=tuple(phases[row["trial_key"]]),
                totals={found["metric"]: found["value"] for found in totals[row["trial_key"]]},
                operation_totals=tuple(map(_operation_total, operation_totals[row["trial_key"]])),
                checks=tuple(
                    CheckRecord(name=found["name"], holds=bool(found["holds"]), detail=found["detail"])
                    for found in checks[row["trial_key"]]
                ),
                ground=storage.grounds.get(row["trial_key"]),
                self_checks=tuple(storage.self_checks[row["trial_key"]]),
                remarks=tuple(storage.remarks[row["trial_key"]]),
                data=storage.data.get(row["trial_key"]),
                translations=tuple(translations[row["trial_key"]]),
            ),
            f"trial {row['trial_id']}",
        )
        for row in trials
    ]


def _insert_phase(connection: sqlite3.Connection, key: int, phase: PhaseRecord) -> None:
    place = {"trial_key": key, "phase": phase.index}
    insert(connection, "phases", **place, **{name: getattr(phase, name) for name in _PHASE})
    scopes = {
        ("queries", ""): phase.latency,
        ("connects", ""): phase.connect,
        ("transactions", ""): phase.transaction_latency,
    }
    for position, statement in enumerate(phase.statements):
        scopes["statement", statement.kind] = statement.latency
        insert(
            connection,
            "statements",
            **place,
            position=position,
            kind=statement.kind,
            count=statement.count,
            errors=statement.errors,
            rows=statement.rows,
        )
    for position, operation in enumerate(phase.operations):
        values = {name: getattr(operation, name) for name in _OPERATION}
        insert(connection, "operations", **place, position=position, **values)
    for (scope, kind), latency in scopes.items():
        numbers = {name: getattr(latency, name) for name in _LATENCY}
        insert(connection, "latencies", **place, scope=scope, kind=kind, count=latency.count, **numbers)
    for code, count in phase.errors.items():
        example = phase.error_examples.get(code)
        insert(connection, "phase_errors", **place, code=code, count=count, example=example)


def _select_phases(connection: sqlite3.Connection, run_id: int) -> dict[int, list[PhaseRecord]]:
    statements = _by_phase(rows_of_run(connection, run_id, "statements", "phase, position"))
    latencies = _by_phase(rows_of_run(connection, run_id, "latencies", "phase"))
    errors = _by_phase(rows_of_run(connection, run_id, "phase_errors", "phase, code"))
    operations = _by_phase(rows_of_run(connection, run_id, "operations", "phase, position"))
    phases: dict[int, list[PhaseRecord]] = defaultdict(list)
    for row in rows_of_run(connection, run_id, "phases", "phase"):
        place = row["trial_key"], row["phase"]
        by_scope = {(found["scope"], found["kind"]): _latency(found) for found in latencies[place]}
        phases[row["trial_key"]].append(
            PhaseRecord(
                index=row["phase"],
                **{name: row[name] for name in _PHASE},
                latency=by_scope.get(("queries", ""), NO_LATENCY),
                connect=by_scope.get(("connects", ""), NO_LATENCY),
                transaction_latency=by_scope.get(("transactions", ""), NO_LATENCY),
                statements=tuple(
                    StatementRecord(
                        kind=found["kind"],
                        count=found["count"],
                        errors=found["errors"],
                        rows=found["rows"],
                        latency=by_scope.get(("statement", found["kind"]), NO_LATENCY),
                    )
                    for found in statements[place]
                ),
                operations=tuple(_operation(found) for found in operations[place]),
                errors={found["code"]: found["count"] for found in errors[place]},
                error_examples={
                    found["code"]: found["example"] for found in errors[place] if found["example"] is not None
                },
            )
        )
    return phases


def _operation(row: sqlite3.Row) -> OperationRecord:
    values = {name: row[name] for name in _OPERATION}
    return OperationRecord(
        **values | {"estimated": bool(row["estimated"]), "in_totals": bool(row["in_totals"])}
    )


def _operation_total(row: sqlite3.Row) -> OperationTotal:
    values = {name: row[name] for name in _OPERATION_TOTAL}
    return OperationTotal(**values | {"estimated": bool(row["estimated"]), "warned": bool(row["warned"])})


def _latency(row: sqlite3.Row) -> Latency:
    return Latency(count=row["count"], **{name: row[name] for name in _LATENCY})


def _by_phase(rows: Iterable[sqlite3.Row]) -> dict[tuple[int, int], list[sqlite3.Row]]:
    found: dict[tuple[int, int], list[sqlite3.Row]] = defaultdict(list)
    for row in rows:
        found[row["trial_key"], row["phase"]].append(row)
    return found


def _fitting(value: int | float) -> int | float:
    """Counters of the server go up to 2^64 - 1, SQLite integers only to 2^63 - 1: the rest as a float."""
    return value if isinstance(value, float) or abs(value) <= _LARGEST_INTEGER else float(value)
