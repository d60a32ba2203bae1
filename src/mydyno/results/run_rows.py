"""Runs to rows of lab.sqlite and back."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from dataclasses import dataclass

from pydantic import TypeAdapter

from mydyno.results.records import ClaimRecord, DesignRecord, ExperimentRecord, PointRecord
from mydyno.results.tables import insert

_CLAIMS: TypeAdapter[tuple[ClaimRecord, ...]] = TypeAdapter(tuple[ClaimRecord, ...])
_DESIGN: TypeAdapter[DesignRecord] = TypeAdapter(DesignRecord)


@dataclass(frozen=True)
class StoredRun:
    """A run's record and where it is kept."""

    run_id: int
    folder: str
    experiment: ExperimentRecord


def insert_run(connection: sqlite3.Connection, experiment: ExperimentRecord, folder: str) -> None:
    """Write a run with its factors and points. The caller owns the transaction."""
    run_id = insert(
        connection,
        "runs",
        folder=folder,
        experiment=experiment.name,
        size=experiment.size,
        question=experiment.question,
        source=experiment.source,
        spec_file=experiment.spec_file,
        spec_text=experiment.spec_text,
        plan_fingerprint=experiment.plan_fingerprint,
        seed=str(experiment.seed),
        planned_trials=experiment.planned_trials,
        created_at=experiment.created_at,
        mydyno_version=experiment.mydyno_version,
        work=experiment.work,
        imported=experiment.imported,
        claims=_CLAIMS.dump_json(experiment.claims).decode(),
        design=_DESIGN.dump_json(experiment.design).decode(),
    )
    for factor_position, (factor, levels) in enumerate(experiment.factors.items()):
        for level_position, level in enumerate(levels):
            insert(
                connection,
                "factor_levels",
                run_id=run_id,
                factor_position=factor_position,
                factor=factor,
                level_position=level_position,
                level=level,
            )
    for position, point in enumerate(experiment.points):
        place = {"run_id": run_id, "point_id": point.point_id}
        insert(
            connection, "points", **place, position=position, title=point.title, control_of=point.control_of
        )
        for factor, level in point.levels.items():
            insert(connection, "point_levels", **place, factor=factor, level=level)


def select_runs(connection: sqlite3.Connection) -> list[StoredRun]:
    """Every run of the lab, oldest first."""
    factors: dict[int, dict[str, list[str]]] = defaultdict(dict)
    for row in connection.execute("SELECT * FROM factor_levels ORDER BY factor_position, level_position"):
        factors[row["run_id"]].setdefault(row["factor"], []).append(row["level"])
    levels: dict[tuple[int, str], dict[str, str]] = defaultdict(dict)
    for row in connection.execute(
        "SELECT point_levels.* FROM point_levels LEFT JOIN factor_levels USING (run_id, factor, level) "
        "ORDER BY factor_position"
    ):
        levels[row["run_id"], row["point_id"]][row["factor"]] = row["level"]
    points: dict[int, list[PointRecord]] = defaultdict(list)
    for row in connection.execute("SELECT * FROM points ORDER BY position"):
        place = row["run_id"], row["point_id"]
        points[row["run_id"]].append(
            PointRecord(
                point_id=row["point_id"],
                levels=levels[place],
                title=row["title"],
                control_of=row["control_of"],
            )
        )
    return [
        StoredRun(
            run_id=row["run_id"],
            folder=row["folder"],
            experiment=ExperimentRecord(
                name=row["experiment"],
                question=row["question"],
                source=row["source"],
                size=row["size"],
                spec_text=row["spec_text"],
                spec_file=row["spec_file"],
                plan_fingerprint=row["plan_fingerprint"],
                seed=int(row["seed"]),
                factors={name: tuple(values) for name, values in factors[row["run_id"]].items()},
                points=tuple(points[row["run_id"]]),
                planned_trials=row["planned_trials"],
                created_at=row["created_at"],
                mydyno_version=row["mydyno_version"],
                work=row["work"],
                imported=bool(row["imported"]),
                claims=_CLAIMS.validate_json(row["claims"]),
                design=_DESIGN.validate_json(row["design"]) if row["design"] else DesignRecord(),
            ),
        )
        for row in connection.execute("SELECT * FROM runs ORDER BY run_id")
    ]
