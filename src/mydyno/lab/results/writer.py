"""Adding trials to a run, so that a kill at any moment costs at most the trial at work.

How a trial becomes safe, in this order:

1. Everything is written into `trials/.t001.partial`, the whole TrialRecord as `record.json` too, and synced.
2. The folder is renamed to `trials/t001`, and the rename is synced.
3. One SQLite transaction adds the trial's rows, and is synced.

Readers know trials by their rows only, so they never see half a trial. After a kill, the next start sweeps
what step 2 did not reach and adopts what step 3 did not: a folder with its final name is whole by
construction, so its `record.json` goes into the database. (Running that trial again instead would throw
away a finished measurement.)
"""

from __future__ import annotations

import dataclasses
import io
import json
import re
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from mydyno.core.durable import sync, sync_tree
from mydyno.lab.results import files, rows
from mydyno.lab.results.database import transaction
from mydyno.lab.results.records import Environment, ExperimentRecord, TrialRecord
from mydyno.lab.results.run import HISTOGRAMS, INTERVALS, SAMPLES, Run
from mydyno.lab.results.tables import insert

if TYPE_CHECKING:
    import polars as pl

RECORD = "record.json"
ENVIRONMENT = "environment.json"

_TRIAL: TypeAdapter[TrialRecord] = TypeAdapter(TrialRecord)
_PARTIAL = re.compile(r"\.(?P<trial>.+)\.partial")
_SMALLEST_TRIAL_BYTES = 1 << 20


@dataclass(frozen=True)
class Recovery:
    """What an earlier start that did not end well left behind, and what became of it; folder names."""

    swept: tuple[str, ...] = ()
    """Unfinished trials: removed, they run again."""
    adopted: tuple[str, ...] = ()
    """Finished trials that only lacked their rows in the database: taken in."""
    damaged: tuple[str, ...] = ()
    """Finished trials whose record cannot be read: moved aside as `.NAME.damaged`, they run again."""


class RunWriter(Run):
    """A run that takes trials. Made by `Lab.run`, while the lab's lock is held."""

    def __init__(
        self, experiment: ExperimentRecord, folder: Path, connection: sqlite3.Connection, run_id: int
    ) -> None:
        super().__init__(experiment, folder, connection, run_id)
        self._trials_folder = folder / "trials"
        self._trials_folder.mkdir(parents=True, exist_ok=True)
        self.recovery = self._recover()

    def record_environment(self, facts: Environment) -> None:
        """Keep the facts of the machine that this start runs on. `environment_changes` says what changed."""
        with self._explain_full_disk("recording the environment", None), transaction(self._connection):
            (last,) = self._connection.execute(
                "SELECT coalesce(max(start), 0) FROM environments WHERE run_id = ?", (self._run_id,)
            ).fetchone()
            for name, value in facts.items():
                insert(
                    self._connection,
                    "environments",
                    run_id=self._run_id,
                    start=last + 1,
                    name=name,
                    value=value,
                )

    def stop_after(self, trials: int) -> None:
        """The run is complete with so many trials: its design has found out all that it wanted to."""
        with self._explain_full_disk("ending the run", None), transaction(self._connection):
            self._connection.execute(
                "UPDATE runs SET planned_trials = ? WHERE run_id = ?", (trials, self._run_id)
            )
        self.experiment = dataclasses.replace(self.experiment, planned_trials=trials)

    def new_trial_folder(self, trial_id: str) -> Path:
        """An empty folder for the files of a trial that starts now (my.cnf, error.log, anything else).

        Raises LabError when the disk has no room for a trial as large as the largest so far: better now than
        after measuring.
        """
        self._next_attempt(trial_id)
        partial = self._partial(trial_id)
        with self._explain_full_disk(f"trial {trial_id}", self._largest_trial_bytes()):
            if files.free_bytes(self._trials_folder) < self._largest_trial_bytes():
                raise files.full_disk(
                    self._trials_folder,
                    f"trial {trial_id}",
                    self._largest_trial_bytes(),
                    len(self.completed()),
                )
            if partial.exists():
                shutil.rmtree(partial)
            partial.mkdir()
        return partial

    def save_trial(
        self,
        trial: TrialRecord,
        *,
        samples: pl.DataFrame,
        intervals: pl.DataFrame,
        histograms: Mapping[str, Mapping[str, str]],
    ) -> TrialRecord:
        """Make the trial and the files in its folder part of the lab; on return they survive a power loss.

        Takes the folder that `new_trial_folder` gave (made here without it) and numbers the
        attempt. Raises LabError when the disk is full; ValueError when the trial's point is not of this run.
        """
        if self._levels.get(trial.point_id) != trial.levels:
            raise ValueError(f"trial {trial.trial_id}: no point {trial.point_id} with levels {trial.levels}")
        trial = dataclasses.replace(trial, attempt=self._next_attempt(trial.trial_id))
        contents = {
            SAMPLES: _parquet(samples),
            INTERVALS: _parquet(intervals),
            HISTOGRAMS: json.dumps(histograms, indent=1).encode(),
            ENVIRONMENT: json.dumps(dict(self.environment()), indent=1).encode(),
            RECORD: _TRIAL.dump_json(trial, indent=1),
        }
        partial = self._partial(trial.trial_id)
        folder = self._trials_folder / _folder_name(trial)
        with self._explain_full_disk(f"saving trial {trial.trial_id}", sum(map(len, contents.values()))):
            partial.mkdir(exist_ok=True)
            for name, content in contents.items():
                (partial / name).write_bytes(content)
            file_bytes = files.tree_bytes(partial)
            sync_tree(partial)
            partial.rename(folder)
            sync(self._trials_folder)
            self._insert(trial, file_bytes)
        return trial

    def _insert(self, trial: TrialRecord, file_bytes: int) -> None:
        with transaction(self._connection):
            rows.insert_trial(self._connection, self._run_id, trial, _folder_name(trial), file_bytes)

    def _next_attempt(self, trial_id: str) -> int:
        row = self._connection.execute(
            "SELECT attempt, status FROM trials WHERE run_id = ? AND trial_id = ? "
            "ORDER BY attempt DESC LIMIT 1",
            (self._run_id, trial_id),
        ).fetchone()
        attempt, status = row or (0, "invalid")
        if status == "valid":
            raise ValueError(f"trial {trial_id} is finished and valid: only an invalid one may be repeated")
        return attempt + 1

    def _recover(self) -> Recovery:
        known = {
            str(row["folder"])
            for row in self._connection.execute("SELECT folder FROM trials WHERE run_id = ?", (self._run_id,))
        }
        swept, adopted, damaged = [], [], []
        for folder in sorted(path for path in self._trials_folder.iterdir() if path.name not in known):
            if unfinished := _PARTIAL.fullmatch(folder.name):
                shutil.rmtree(folder)
                swept.append(unfinished["trial"])
            elif folder.name.startswith("."):
                continue
            elif trial := self._adoptable(folder):
                with self._explain_full_disk(f"taking in trial {trial.trial_id}", None):
                    self._insert(trial, files.tree_bytes(folder))
                adopted.append(folder.name)
            else:
                _move_aside(folder)
                damaged.append(folder.name)
        return Recovery(tuple(swept), tuple(adopted), tuple(damaged))

    def _adoptable(self, folder: Path) -> TrialRecord | None:
        """The record of a finished folder; None unless it can be read and belongs here."""
        try:
            trial = _TRIAL.validate_json((folder / RECORD).read_bytes())
        except (OSError, ValidationError):
            return None
        fits = self._levels.get(trial.point_id) == trial.levels and folder.name == _folder_name(trial)
        return trial if fits else None

    def _largest_trial_bytes(self) -> int:
        (largest,) = self._connection.execute(
            "SELECT max(file_bytes) FROM trials WHERE run_id = ?", (self._run_id,)
        ).fetchone()
        return largest or _SMALLEST_TRIAL_BYTES

    def _partial(self, trial_id: str) -> Path:
        return self._trials_folder / f".{trial_id}.partial"

    def _explain_full_disk(self, doing: str, needed: int | None) -> AbstractContextManager[None]:
        return files.explain_full_disk(self._trials_folder, doing, needed, len(self.completed()))


def _folder_name(trial: TrialRecord) -> str:
    return trial.trial_id if trial.attempt == 1 else f"{trial.trial_id}.{trial.attempt}"


def _parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def _move_aside(folder: Path) -> None:
    aside = folder.with_name(f".{folder.name}.damaged")
    if aside.exists():
        shutil.rmtree(aside)
    folder.rename(aside)
