"""What runs a lab holds, each in a few numbers, from the database alone."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from mydyno.lab.results.files import plain_name, tree_bytes
from mydyno.lab.results.sound import sound


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


_SUMMARIES = """
    WITH attempts AS (
        SELECT run_id, status, started_at, file_bytes, folder,
               attempt = max(attempt) OVER (PARTITION BY run_id, trial_id) AS last
        FROM trials
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


def list_runs(connection: sqlite3.Connection, runs_folder: Path) -> tuple[RunSummary, ...]:
    """Every run, the newest first. Only trials that were saved before the lab kept their size are looked at
    on the disk."""
    unknown = connection.execute(
        "SELECT run_id, runs.folder AS run, trials.folder FROM trials JOIN runs USING (run_id) "
        "WHERE file_bytes IS NULL"
    )
    found: dict[int, int] = {}
    for row in unknown:
        trials = runs_folder / plain_name(row["run"], runs_folder) / "trials"
        size = tree_bytes(trials / plain_name(row["folder"], trials))
        found[row["run_id"]] = found.get(row["run_id"], 0) + size
    return tuple(
        sound(
            RunSummary(
                folder=row["folder"],
                experiment=row["experiment"],
                size=row["size"],
                created_at=row["created_at"],
                last_started_at=row["last_started_at"],
                planned=row["planned_trials"],
                valid=row["valid"],
                invalid=row["invalid"],
                file_bytes=row["file_bytes"] + found.get(row["run_id"], 0),
                imported=bool(row["imported"]),
            ),
            f"run {row['run_id']}",
        )
        for row in connection.execute(_SUMMARIES)
    )
