"""Runs to rows of lab.sqlite and back, and each run of a lab in a few numbers."""

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from mydyno.lab.results.files import plain_name, tree_bytes
from mydyno.lab.results.records import ClaimRecord, DesignRecord, ExperimentRecord, PointRecord
from mydyno.lab.results.sound import sound
from mydyno.lab.results.tables import SEED, RecordTable, document, insert

_RUNS = RecordTable(
    "runs",
    ExperimentRecord,
    columns={"name": "experiment"},
    stored={
        "seed": SEED,
        "claims": document("runs.claims", tuple[ClaimRecord, ...]),
        "design": document("runs.design", DesignRecord, default=DesignRecord()),
    },
    elsewhere=("factors", "points"),
)
_POINTS = RecordTable("points", PointRecord, elsewhere=("levels",))


_SUMMARIES = """
    WITH attempts AS (
        SELECT run_id, status, started_at, file_bytes, folder,
               attempt = max(attempt) OVER (PARTITION BY run_id, trial_id) AS last
        FROM trials WHERE block >= 0
    ), counted AS (
        SELECT run_id, sum(last AND status = 'valid') AS valid, sum(last AND status = 'invalid') AS invalid,
               max(started_at) AS last_started_at, coalesce(sum(file_bytes), 0) AS file_bytes
        FROM attempts GROUP BY run_id
    )
    SELECT r.run_id, r.folder, r.experiment, r.size, r.created_at, r.planned_trials, r.imported,
           c.last_started_at, coalesce(c.valid, 0) AS valid, coalesce(c.invalid, 0) AS invalid,
           coalesce(c.file_bytes, 0) AS file_bytes
    FROM runs r LEFT JOIN counted c USING (run_id)
    ORDER BY r.run_id DESC
"""


@dataclass(frozen=True)
class StoredRun:
    """A run's record and where it is kept."""

    run_id: int
    folder: str
    experiment: ExperimentRecord


def insert_run(connection: sqlite3.Connection, experiment: ExperimentRecord, folder: str) -> int:
    """Write a run with its factors and points and give its number. The caller owns the transaction."""
    run_id = _RUNS.insert(connection, experiment, folder=folder)
    for factor_position, (factor, levels) in enumerate(experiment.factors.items()):
        for level_position, level in enumerate(levels):
            place = {"factor_position": factor_position, "level_position": level_position}
            insert(connection, "factor_levels", run_id=run_id, **place, factor=factor, level=level)
    for position, point in enumerate(experiment.points):
        _POINTS.insert(connection, point, run_id=run_id, position=position)
        for factor, level in point.levels.items():
            insert(
                connection,
                "point_levels",
                run_id=run_id,
                point_id=point.point_id,
                factor=factor,
                level=level,
            )
    return run_id


def select_run(connection: sqlite3.Connection, run_id: int) -> StoredRun:
    """One run, and none of the others. Raises what `select_trials` raises."""
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
        _POINTS.record(one, levels=levels[one["point_id"]])
        for one in connection.execute("SELECT * FROM points WHERE run_id = ? ORDER BY position", (run_id,))
    )
    _check_points(points, factors)
    names = {name: tuple(levels) for name, levels in factors.items()}
    experiment = _RUNS.record(row, factors=names, points=points)
    return sound(StoredRun(run_id, row["folder"], experiment), f"run {run_id}")


def _check_points(points: Sequence[PointRecord], factors: Mapping[str, Sequence[str]]) -> None:
    """Raises ValueError for points whose factors are not these."""
    names = {point.point_id for point in points if point.control_of is None}
    for point in points:
        if point.control_of is not None and point.control_of not in names:
            raise ValueError(
                f"point {point.point_id}: it is the control of {point.control_of!r}, which does not exist"
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


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """One run. A trial counts once, by its last attempt."""

    folder: str
    experiment: str
    size: str
    created_at: str
    """ISO 8601, UTC."""
    last_started_at: str | None
    """When its last trial began; None before the first."""
    planned: int
    valid: int
    invalid: int
    file_bytes: int
    """Of the files of all its trials, every attempt."""
    imported: bool

    @property
    def finished(self) -> bool:
        return self.valid + self.invalid >= self.planned


@dataclass(frozen=True)
class DamagedRun:
    """A run whose numbers cannot be right."""

    folder: str
    fault: str


def list_runs(connection: sqlite3.Connection, runs_folder: Path) -> tuple[RunSummary, ...]:
    """Every run, the newest first. Raises ValueError for a damaged one."""
    summaries = []
    for each in summarise_runs(connection, runs_folder):
        if isinstance(each, DamagedRun):
            raise ValueError(each.fault)  # noqa: TRY004 - a value of the lab
        summaries.append(each)
    return tuple(summaries)


def summarise_runs(connection: sqlite3.Connection, runs_folder: Path) -> Iterator[RunSummary | DamagedRun]:
    """Every run, the newest first. Only trials that were saved before the lab kept their size are looked at
    on the disk."""
    unknown = connection.execute(
        "SELECT run_id, runs.folder AS run, trials.folder FROM trials JOIN runs USING (run_id) "
        "WHERE file_bytes IS NULL"
    )
    sizes: dict[int, int] = {}
    for row in unknown:
        trials = runs_folder / plain_name(row["run"], runs_folder) / "trials"
        size = tree_bytes(trials / plain_name(row["folder"], trials))
        sizes[row["run_id"]] = sizes.get(row["run_id"], 0) + size
    for row in connection.execute(_SUMMARIES).fetchall():
        try:
            yield sound(
                RunSummary(
                    folder=row["folder"],
                    experiment=row["experiment"],
                    size=row["size"],
                    created_at=row["created_at"],
                    last_started_at=row["last_started_at"],
                    planned=row["planned_trials"],
                    valid=row["valid"],
                    invalid=row["invalid"],
                    file_bytes=row["file_bytes"] + sizes.get(row["run_id"], 0),
                    imported=bool(row["imported"]),
                ),
                f"run {row['run_id']}",
            )
        except (ValueError, TypeError) as error:
            yield DamagedRun(str(row["folder"]), str(error))
