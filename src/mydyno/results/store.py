"""The lab: one folder that holds every run, for one writer and any number of readers.

lab/lab.sqlite        the numbers (docs/lab-format.md)
lab/lock              held by the one writer
lab/cache/            what can be made again
lab/runs/NAME/        experiment.yaml, plan.json, events.jsonl, report/, trials/
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from types import TracebackType
from typing import Self

from mydyno.core.errors import LabError
from mydyno.results import files
from mydyno.results.database import open_for_reading, open_for_writing, transaction
from mydyno.results.lock import WriterLock
from mydyno.results.records import ExperimentRecord
from mydyno.results.run import Run
from mydyno.results.run_rows import StoredRun, insert_run, select_runs
from mydyno.results.writer import RunWriter

DATABASE = "lab.sqlite"


class Lab:
    """Open with `Lab.open`, close when done (or use `with`)."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriterLock | None) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock

    @classmethod
    def open(cls, path: Path, *, write: bool) -> Lab:
        """Open the lab at `path`. A writer makes it when it is missing and keeps every other writer out.

        Raises LabError: in use by another writer, missing (for a reader), not a lab, damaged, of a newer or
        older format, disk full.
        """
        return cls._open_writer(path) if write else cls._open_reader(path)

    @classmethod
    def _open_writer(cls, path: Path) -> Lab:
        try:
            path.mkdir(parents=True, exist_ok=True)
            lock = WriterLock(path)
        except OSError as error:
            raise LabError(
                f"cannot write the lab {path}: {error.strerror}", "name another folder with --lab FOLDER"
            ) from error
        try:
            with files.explain_full_disk(path, "opening the lab", None, 0):
                for folder in ("cache", "runs"):
                    (path / folder).mkdir(exist_ok=True)
                connection = open_for_writing(path / DATABASE)
        except BaseException:
            lock.close()
            raise
        return cls(path, connection, lock)

    @classmethod
    def _open_reader(cls, path: Path) -> Lab:
        database = path / DATABASE
        if not database.is_file():
            raise LabError(
                f"there is no lab at {path} (no {DATABASE} in it)",
                "`mydyno run EXPERIMENT` makes one; name another folder with --lab FOLDER",
            )
        return cls(path, open_for_reading(database), None)

    def run(self, experiment: ExperimentRecord, plan_json: str, *, again: bool = False) -> RunWriter:
        """The run of this plan: made now, or the latest one taken up where it stopped.

        The plan's fingerprint decides. A run that is taken up keeps its first record (`created_at` and all);
        `RunWriter.recovery` tells what was found of an earlier start. With `again`, a finished run is left as
        it is and another one of the same plan is made. Raises LabError when the disk is full,
        ValueError when the lab was opened for reading.
        """
        if self._lock is None:
            raise ValueError("the lab was opened for reading")
        with files.explain_full_disk(self.path, "starting the run", None, self._finished_trials()):
            latest = self._latest_of(experiment)
            if latest is None or (again and self._is_complete(latest)):
                latest = self._new_run(experiment, plan_json)
            return RunWriter(
                latest.experiment, self.path / "runs" / latest.folder, self._connection, latest.run_id
            )

    def runs(self) -> list[Run]:
        """Every run in the lab, the newest first."""
        return [self._reader(one) for one in reversed(select_runs(self._connection))]

    def find_run(self, name: str | None = None) -> Run:
        """The newest run; with `name`, the newest whose experiment or folder is called so.

        Raises LabError when there is none, with the names that there are.
        """
        runs = self.runs()
        for run in runs:
            if name is None or name in (run.experiment.name, run.folder.name):
                return run
        if not runs:
            raise LabError(f"the lab {self.path} holds no run yet", "`mydyno run EXPERIMENT` makes one")
        known = ", ".join(run.folder.name for run in runs)
        raise LabError(f"the lab {self.path} holds no run {name!r}", f"it holds: {known}")

    def close(self) -> None:
        """Fold the log into the database and let the next writer in."""
        self._connection.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _reader(self, stored: StoredRun) -> Run:
        return Run(stored.experiment, self.path / "runs" / stored.folder, self._connection, stored.run_id)

    def _of_plan(self, experiment: ExperimentRecord) -> list[StoredRun]:
        fingerprint = experiment.plan_fingerprint
        runs = select_runs(self._connection)
        return [one for one in runs if one.experiment.plan_fingerprint == fingerprint]

    def _latest_of(self, experiment: ExperimentRecord) -> StoredRun | None:
        runs = self._of_plan(experiment)
        return runs[-1] if runs else None

    def _is_complete(self, stored: StoredRun) -> bool:
        return len(self._reader(stored).completed()) >= stored.experiment.planned_trials

    def _new_run(self, experiment: ExperimentRecord, plan_json: str) -> StoredRun:
        """Its files first: a row whose folder is missing would be a broken run, the reverse is nothing."""
        name = f"{experiment.name}-{experiment.size}-{experiment.plan_fingerprint[:8]}"
        if before := len(self._of_plan(experiment)):
            name = f"{name}-{before + 1}"
        folder = self.path / "runs" / name
        folder.mkdir(exist_ok=True)
        files.replace_file(folder / "experiment.yaml", experiment.spec_text)
        files.replace_file(folder / "plan.json", plan_json)
        files.sync(folder.parent)
        with transaction(self._connection):
            insert_run(self._connection, experiment, name)
        return self._of_plan(experiment)[-1]

    def _finished_trials(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM trials").fetchone()[0])
