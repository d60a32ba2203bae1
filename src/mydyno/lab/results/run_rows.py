"""Runs to rows of lab.sqlite and back."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from mydyno.lab.results.records import ClaimRecord, DesignRecord, ExperimentRecord, PointRecord
from mydyno.lab.results.sound import first_fault, sound
from mydyno.lab.results.tables import insert

Document = TypeVar("Document")

_CLAIMS: TypeAdapter[tuple[ClaimRecord, ...]] = TypeAdapter(tuple[ClaimRecord, ...])
_DESIGN: TypeAdapter[DesignRecord] = TypeAdapter(DesignRecord)


@dataclass(frozen=True)
class StoredRun:
    """A run's record and where it is kept."""

    run_id: int
    folder: str
    experiment: ExperimentRecord


def insert_run(connection: sqlite3.Connection, experiment: ExperimentRecord, folder: str) -> int:
    """Write a run with its factors and points and give its number. The caller owns the transaction."""
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
    return run_id


def select_run(connection: sqlite3.Connection, run_id: int) -> StoredRun:
    """One run, and nothing of the others. Raises what `select_trials` raises."""
    row = connection.execute("SELECT * FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    factors: dict[str, list[str]] = {}
    for one in connection.execute(
        "SELECT factor, level FROM factor_levels WHERE run_id = ? ORDER BY factor_position, level_position",
        (run_id,),
    ):
        factors.setdefault(one["factor"], []).append(one["level"])
    place = {name: position for position, name in enumerate(factors)}
    levels: dict[str, dict[str, str]] = defaultdict(dict)
    for one in sorted(
        connection.execute("SELECT * FROM point_levels WHERE run_id = ?", (run_id,)),
        key=lambda one: place.get(one["factor"], len(place)),
    ):
        levels[one["point_id"]][one["factor"]] = one["level"]
    points = tuple(
        PointRecord(
            point_id=one["point_id"],
            levels=levels[one["point_id"]],
            title=one["title"],
            control_of=one["control_of"],
        )
        for one in connection.execute("SELECT * FROM points WHERE run_id = ? ORDER BY position", (run_id,))
    )
    _check_points(points, factors)
    return sound(StoredRun(run_id, row["folder"], _experiment(row, factors, points)), f"run {run_id}")


def _check_points(points: Sequence[PointRecord], factors: Mapping[str, Sequence[str]]) -> None:
    """Raises ValueError for points that are no points of these factors."""
    names = {point.point_id for point in points if point.control_of is None}
    for point in points:
        if point.control_of is not None and point.control_of not in names:
            raise ValueError(
                f"point {point.point_id}: it is the control of {point.control_of!r}, which is none"
            )
        for factor, level in point.levels.items():
            if level not in factors.get(factor, ()):
                raise ValueError(f"point {point.point_id}: {factor} has no level {level!r}")
    if points and not names:
        raise ValueError("every point is a control")


def newest_run(connection: sqlite3.Connection, name: str | None = None) -> int | None:
    """The number of the newest run; with `name`, of the newest whose experiment or folder is called so."""
    if name is None:
        row = connection.execute("SELECT max(run_id) FROM runs").fetchone()
    else:
        row = connection.execute(
            "SELECT max(run_id) FROM runs WHERE experiment = :name OR folder = :name", {"name": name}
        ).fetchone()
    return None if row[0] is None else int(row[0])


def runs_of_plan(connection: sqlite3.Connection, plan_fingerprint: str) -> list[int]:
    """The numbers of the runs of one plan, oldest first."""
    rows = connection.execute(
        "SELECT run_id FROM runs WHERE plan_fingerprint = ? ORDER BY run_id", (plan_fingerprint,)
    )
    return [row["run_id"] for row in rows]


def free_folder(
    connection: sqlite3.Connection, wanted: str, also_taken: Collection[str] = frozenset()
) -> str:
    """`wanted`, or with -2, -3... at its end when a run has that folder or it is among `also_taken`."""
    taken = {row["folder"] for row in connection.execute("SELECT folder FROM runs")} | set(also_taken)
    names = (f"{wanted}-{number}" for number in count(2))
    return wanted if wanted not in taken else next(name for name in names if name not in taken)


def _experiment(
    row: sqlite3.Row, factors: Mapping[str, Sequence[str]], points: tuple[PointRecord, ...]
) -> ExperimentRecord:
    return ExperimentRecord(
        name=row["experiment"],
        question=row["question"],
        source=row["source"],
        size=row["size"],
        spec_text=row["spec_text"],
        spec_file=row["spec_file"],
        plan_fingerprint=row["plan_fingerprint"],
        seed=int(row["seed"]),
        factors={name: tuple(levels) for name, levels in factors.items()},
        points=points,
        planned_trials=row["planned_trials"],
        created_at=row["created_at"],
        mydyno_version=row["mydyno_version"],
        work=row["work"],
        imported=bool(row["imported"]),
        claims=_document(_CLAIMS, row, "claims"),
        design=_document(_DESIGN, row, "design") if row["design"] else DesignRecord(),
    )


def _document(kind: TypeAdapter[Document], row: sqlite3.Row, column: str) -> Document:
    """Raises ValueError, which names the column."""
    try:
        return kind.validate_json(row[column])
    except ValidationError as error:
        raise ValueError(f"runs.{column}: {first_fault(error)}") from error
