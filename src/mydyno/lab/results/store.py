"""The lab: one folder that holds every run, for one writer and any number of readers.

lab/lab.sqlite        the numbers (docs/reference/lab-format.md)
lab/lock              held by the one writer
lab/cache/            what can be made again
lab/runs/NAME/        experiment.yaml, plan.json, events.jsonl, report/, trials/
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from mydyno.core.closing import Closing
from mydyno.core.durable import replace_file, sync, sync_tree
from mydyno.core.errors import LabError, UsageError
from mydyno.core.nearest import nearest
from mydyno.core.plurals import listed
from mydyno.lab.results import files, overviews, run_rows
from mydyno.lab.results.database import Upgrade, open_for_reading, open_for_writing, transaction
from mydyno.lab.results.files import DATABASE as DATABASE
from mydyno.lab.results.ownership import WriterLock, must_be_sound
from mydyno.lab.results.plain_rows import Placement, PlainWriter, free_numbers
from mydyno.lab.results.records import ExperimentRecord
from mydyno.lab.results.run import Run
from mydyno.lab.results.schema import MIGRATIONS
from mydyno.lab.results.sound import damage_explained
from mydyno.lab.results.staged import StagedRun
from mydyno.lab.results.writer import RunWriter

_NAMED = 8
"""Runs that an error names."""


class Lab(Closing):
    """Open with `Lab.open`, close when done (or use `with`)."""

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        lock: WriterLock | None,
        upgrade: Upgrade | None = None,
    ) -> None:
        self.path = path
        self.upgrade = upgrade
        """What opening it came to, when it was of an older version."""
        self._connection = connection
        self._lock = lock

    @classmethod
    def open(cls, path: Path, *, write: bool, trust: bool = False) -> Lab:
        """Open the lab at `path`. A writer makes it when it is missing and keeps every other writer out.

        One of an older format is upgraded (`upgrade`). `trust`: another user may have written it.
        Raises LabError: in use by another writer, missing (for a reader), not a lab, damaged, of a newer
        format, of another user, with a link in it, disk full.
        """
        # Guests, servers and load programs get paths of the lab, and none of them shares our working folder.
        path = path.resolve()
        if path.is_dir():
            must_be_sound(path, trust=trust)
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
                connection, upgrade = open_for_writing(path / DATABASE)
        except BaseException:
            lock.close()
            raise
        return cls(path, connection, lock, upgrade)

    @classmethod
    def _open_reader(cls, path: Path) -> Lab:
        database = path / DATABASE
        if not database.is_file():
            raise LabError(
                f"there is no lab at {path} (no {DATABASE} in it)",
                "`mydyno run EXPERIMENT` creates one; name another folder with --lab FOLDER",
            )
        connection, upgrade = open_for_reading(database)
        return cls(path, connection, None, upgrade)

    def run(self, experiment: ExperimentRecord, plan_json: str, *, again: bool = False) -> RunWriter:
        """The run of this plan: made now, or the latest one taken up where it stopped.

        The plan's fingerprint decides. A run that is taken up keeps its first record (`created_at` and all);
        `RunWriter.recovery` says what was found of an earlier start. With `again`, a finished run is left as
        it is and another one of the same plan is made. Raises LabError when the disk is full,
        ValueError when the lab was opened for reading.
        """
        if self._lock is None:
            raise ValueError("the lab was opened for reading")
        explained = files.explain_full_disk(self.path, "starting the run", None, self._finished_trials())
        with self._damage_explained(), explained:
            earlier = run_rows.runs_of_plan(self._connection, experiment.plan_fingerprint)
            run_id = earlier[-1] if earlier else None
            if run_id is None or (again and self._is_complete(run_id)):
                run_id = self._new_run(experiment, plan_json)
            stored = run_rows.select_run(self._connection, run_id)
            return RunWriter(stored.experiment, self._folder(stored.folder), self._connection, run_id)

    def runs(self, experiment: str | None = None) -> list[Run]:
        """Every run in the lab, or those of one experiment, the newest first."""
        with self._damage_explained():
            rows = self._connection.execute(
                "SELECT run_id FROM runs ORDER BY run_id DESC"
                if experiment is None
                else "SELECT run_id FROM runs WHERE experiment = ? ORDER BY run_id DESC",
                () if experiment is None else (experiment,),
            )
            return [self._reader(row["run_id"]) for row in rows.fetchall()]

    def list_runs(self) -> tuple[run_rows.RunSummary, ...]:
        """Every run in a few numbers, the newest first."""
        with self._damage_explained():
            return run_rows.list_runs(self._connection, self.path / "runs")

    def summarise_runs(self) -> tuple[run_rows.RunSummary | run_rows.DamagedRun, ...]:
        """The same, with the damaged ones among them."""
        with self._damage_explained():
            return tuple(run_rows.summarise_runs(self._connection, self.path / "runs"))

    def run_facets(self) -> dict[str, overviews.RunFacets]:
        """What every run is searched and filtered by, by its folder."""
        with self._damage_explained():
            return overviews.run_facets(self._connection)

    @property
    def current(self) -> bool:
        """Whether it still has the format that it was opened in: a newer mydyno may have upgraded it."""
        with self._damage_explained():
            return int(self._connection.execute("PRAGMA user_version").fetchone()[0]) == len(MIGRATIONS)

    def find_run(self, name: str | None = None) -> Run:
        """The newest run; with `name`, the newest whose experiment or folder is called so. No other is read.

        Raises UsageError when there is none, with the nearest name and the newest ones.
        """
        with self._damage_explained():
            run_id = run_rows.newest_run(self._connection, name)
            if run_id is not None:
                return self._reader(run_id)
            rows = self._connection.execute(
                "SELECT experiment, folder FROM runs ORDER BY run_id DESC"
            ).fetchall()
        if not rows or name is None:
            raise UsageError(f"no run in {self.path} yet", "`mydyno run EXPERIMENT` creates one")
        known = list(dict.fromkeys(row["folder"] for row in rows))
        likely = nearest(
            name, dict.fromkeys(one for row in rows for one in (row["experiment"], row["folder"]))
        )
        raise UsageError(
            f"no run {name!r} in {self.path}",
            (f"did you mean {likely}? " if likely else "")
            + f"it holds: {listed(known, _NAMED)}"
            + (" (`mydyno runs` lists them)" if len(known) > _NAMED else ""),
        )

    def take_in(
        self, run: StagedRun, name: str, fill: Callable[[Path], None], file_bytes: int
    ) -> tuple[Run, bool]:
        """A run that comes from another lab, and whether it was here already; then nothing is changed.

        `name`: the folder that it would like to have; `fill` writes its files, of `file_bytes`, into an empty
        one. Raises LabError when the disk is full, ValueError when the lab was opened for reading.
        """
        if self._lock is None:
            raise ValueError("the lab was opened for reading")
        for run_id in run_rows.runs_of_plan(self._connection, run.plan_fingerprint):
            if run.is_run(self._connection, run_id):
                return self._reader(run_id), True
        runs = self.path / "runs"
        on_disk = {path.name for path in runs.iterdir()}
        folder = runs / run_rows.free_folder(self._connection, name, also_taken=on_disk)
        partial = runs / ".taken-in.partial"
        with files.explain_full_disk(runs, f"the run {name}", file_bytes, self._finished_trials()):
            if partial.exists():
                shutil.rmtree(partial)
            partial.mkdir()
            try:
                fill(partial)
                sync_tree(partial)
                sizes = {each: files.tree_bytes(partial / "trials" / each) for each in run.trial_folders}
                partial.rename(folder)
            except BaseException:
                shutil.rmtree(partial)
                raise
            try:
                sync(runs)
                run_id, first_key = free_numbers(self._connection)
                with transaction(self._connection):
                    # Tables refer to each other, and come in no order of theirs.
                    self._connection.execute("PRAGMA defer_foreign_keys = ON")
                    placement = Placement(folder.name, run_id, first_key, sizes)
                    writer = PlainWriter(self._connection, placement)
                    for table, columns, rows in run.tables():
                        for row in rows:
                            writer.insert(table, columns, row)
            except BaseException:
                shutil.rmtree(folder)
                raise
        return self._reader(run_id), False

    def close(self) -> None:
        """Fold the log into the database and let the next writer in."""
        self._connection.close()
        if self._lock is not None:
            self._lock.close()

    def _damage_explained(self) -> AbstractContextManager[None]:
        return damage_explained(self.path / DATABASE)

    def _reader(self, run_id: int) -> Run:
        stored = run_rows.select_run(self._connection, run_id)
        return Run(stored.experiment, self._folder(stored.folder), self._connection, run_id)

    def _folder(self, name: str) -> Path:
        runs = self.path / "runs"
        return runs / files.plain_name(name, runs)

    def _is_complete(self, run_id: int) -> bool:
        run = self._reader(run_id)
        return len(run.completed() | run.failed()) >= run.experiment.planned_trials

    def _new_run(self, experiment: ExperimentRecord, plan_json: str) -> int:
        """Its files first: a row whose folder is missing would be a broken run, the reverse is nothing."""
        wanted = f"{experiment.name}-{experiment.size}-{experiment.plan_fingerprint[:8]}"
        name = run_rows.free_folder(self._connection, wanted)
        folder = self.path / "runs" / name
        folder.mkdir(exist_ok=True)
        replace_file(folder / "experiment.yaml", experiment.spec_text)
        replace_file(folder / "plan.json", plan_json)
        sync(folder.parent)
        with transaction(self._connection):
            return run_rows.insert_run(self._connection, experiment, name)

    def _finished_trials(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM trials").fetchone()[0])
