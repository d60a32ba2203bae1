"""One run of one experiment, as read from the lab."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from pydantic import TypeAdapter, ValidationError

from mydyno.core.errors import LabError
from mydyno.lab.results import overviews, records, rows
from mydyno.lab.results.files import DATABASE, damaged, look_at_parquet, plain_name, unreadable
from mydyno.lab.results.plain_rows import PlainRun, plain_run
from mydyno.lab.results.sound import damage_explained, first_fault

if TYPE_CHECKING:
    import polars as pl

SAMPLES = "samples.parquet"
INTERVALS = "intervals.parquet"
HISTOGRAMS = "histograms.json"
REHEARSAL = "report/rehearsal.json"
_HISTOGRAMS = TypeAdapter(dict[str, dict[str, str]])

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def _rows_explained(read: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """A method of Run whose damaged rows become a LabError."""

    @wraps(read)
    def explained(*arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        (run, *_) = arguments
        assert isinstance(run, Run)
        with damage_explained(run.folder.parent.parent / DATABASE):
            return read(*arguments, **named)

    return explained


@dataclass(frozen=True)
class TrialSeconds:
    """What one attempt at a trial took, set-up included."""

    point_id: str
    valid: bool
    seconds: float


class Run:
    """Reads are consistent while a writer adds trials: a trial is seen whole or not at all."""

    def __init__(
        self, experiment: records.ExperimentRecord, folder: Path, connection: sqlite3.Connection, run_id: int
    ) -> None:
        self.experiment = experiment
        self.folder = folder
        self._connection = connection
        self._run_id = run_id
        self._levels = {point.point_id: point.levels for point in experiment.points}

    @property
    def events_file(self) -> Path:
        """Where progress is written, one JSON object a line."""
        return self.folder / "events.jsonl"

    @property
    def report_folder(self) -> Path:
        return self.folder / "report"

    @property
    def rehearsal_file(self) -> Path:
        return self.folder / REHEARSAL

    def plan_json(self) -> str:
        """The plan as it was given. Raises LabError when its file is gone or damaged."""
        path = self.folder / "plan.json"
        try:
            return _read(path).decode()
        except UnicodeDecodeError as error:
            raise damaged(path, error) from error

    @_rows_explained
    def trials(self) -> list[records.TrialRecord]:
        """Every finished trial in planned order; where an invalid one was repeated, every attempt at it."""
        return [trial for trial in self._all_trials() if trial.block != records.CONTROL_BLOCK]

    @_rows_explained
    def control_trials(self) -> list[records.TrialRecord]:
        """Those of the A/A over the hosts of a fleet, which no comparison of points counts."""
        return [trial for trial in self._all_trials() if trial.block == records.CONTROL_BLOCK]

    def _all_trials(self) -> list[records.TrialRecord]:
        return rows.select_trials(self._connection, self._run_id, self._levels)

    @_rows_explained
    def attempts(self) -> tuple[overviews.AttemptSummary, ...]:
        """Every attempt in the order in which they ended, in a few numbers; a damaged one says so."""
        return overviews.list_attempts(self._connection, self._run_id)

    @_rows_explained
    def trial_seconds(self) -> list[TrialSeconds]:
        """How long every attempt at a trial took, in the order in which they ended."""
        found = self._connection.execute(
            "SELECT point_id, status, seconds FROM trials WHERE run_id = ? ORDER BY trial_key",
            (self._run_id,),
        )
        return [TrialSeconds(row["point_id"], row["status"] == "valid", row["seconds"]) for row in found]

    @_rows_explained
    def plain(self) -> PlainRun:
        """All its rows as they are, to be carried to another lab."""
        return plain_run(self._connection, self._run_id)

    def completed(self) -> frozenset[str]:
        """The trials that need not run again, whether they turned out valid or not."""
        return frozenset(self._last_attempts()) - self.failed()

    @_rows_explained
    def failed(self) -> frozenset[str]:
        """The trials whose last attempt failed or was skipped: nothing was measured."""
        rows = self._connection.execute(
            "SELECT t.trial_id FROM trials t JOIN invalidities i USING (trial_key) "
            "WHERE t.run_id = ? AND t.block <> ? AND i.check_name IN (?, ?) AND t.attempt = "
            "(SELECT max(attempt) FROM trials WHERE run_id = t.run_id AND trial_id = t.trial_id)",
            (self._run_id, records.CONTROL_BLOCK, *records.NOT_MEASURED),
        )
        return frozenset(row["trial_id"] for row in rows)

    def invalid(self) -> frozenset[str]:
        """The trials whose last attempt is invalid or failed: a writer may repeat them."""
        return frozenset(
            trial_id for trial_id, (_, status) in self._last_attempts().items() if status == "invalid"
        )

    def samples(
        self, trial_id: str, attempt: int | None = None, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """The raw readings of a trial, one row a sample, columns as docs/reference/lab-format.md lists them.

        Without `attempt`, the last one. With `columns`, those of them that the file has, and nothing else of
        it is read; `*` in a name stands for any text. Raises LabError when there is no such trial or its file
        is damaged.
        """
        from mydyno.lab.results.parquet import read_parquet

        return read_parquet(self.trial_folder(trial_id, attempt) / SAMPLES, columns)

    def intervals(
        self, trial_id: str, attempt: int | None = None, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """What finished in each interval of a trial, one row an interval; otherwise as `samples`."""
        from mydyno.lab.results.parquet import read_parquet

        return read_parquet(self.trial_folder(trial_id, attempt) / INTERVALS, columns)

    def series_columns(
        self, trial_id: str, attempt: int | None = None
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns of the samples, and of the intervals; otherwise as `samples`."""
        from mydyno.lab.results.parquet import columns_of

        folder = self.trial_folder(trial_id, attempt)
        return columns_of(folder / SAMPLES), columns_of(folder / INTERVALS)

    def look_at_series(self, trial_id: str, attempt: int | None = None) -> None:
        """Raises LabError when a series of the trial is missing or cut off, without reading it."""
        folder = self.trial_folder(trial_id, attempt)
        for name in (SAMPLES, INTERVALS):
            look_at_parquet(folder / name)

    def histograms(self, trial_id: str, attempt: int | None = None) -> dict[str, dict[str, str]]:
        """Phase index -> series -> base64 of an HdrHistogram; otherwise as `samples`."""
        path = self.trial_folder(trial_id, attempt) / HISTOGRAMS
        try:
            return _HISTOGRAMS.validate_json(_read(path), strict=True)
        except ValidationError as error:
            raise damaged(path, first_fault(error)) from error

    @_rows_explained
    def trial_folder(self, trial_id: str, attempt: int | None = None) -> Path:
        """Where the files of a finished trial are. Raises LabError when there is no such trial."""
        row = self._connection.execute(
            "SELECT folder FROM trials WHERE run_id = ? AND trial_id = ? AND attempt = coalesce(?, attempt) "
            "ORDER BY attempt DESC LIMIT 1",
            (self._run_id, trial_id, attempt),
        ).fetchone()
        if row is None:
            which = trial_id if attempt is None else f"attempt {attempt} at {trial_id}"
            raise LabError(f"the run {self.folder.name} has no finished trial {which}")
        trials = self.folder / "trials"
        return trials / plain_name(row["folder"], trials)

    @_rows_explained
    def environment(self) -> records.Environment:
        """The facts of the machine as of the latest start of this run; empty when none were recorded."""
        rows = self._connection.execute(
            "SELECT name, value FROM environments WHERE run_id = :run "
            "AND start = (SELECT max(start) FROM environments WHERE run_id = :run) ORDER BY name",
            {"run": self._run_id},
        )
        return {row["name"]: row["value"] for row in rows}

    @_rows_explained
    def environment_changes(self) -> dict[str, tuple[str | int | float | None, ...]]:
        """Facts that were not the same at every start of this run -> their values, in order of starts."""
        starts: dict[int, dict[str, str | int | float | None]] = {}
        for row in self._connection.execute(
            "SELECT start, name, value FROM environments WHERE run_id = ? ORDER BY start, name",
            (self._run_id,),
        ):
            starts.setdefault(row["start"], {})[row["name"]] = row["value"]
        names = sorted({name for facts in starts.values() for name in facts})
        values = {name: tuple(facts.get(name) for facts in starts.values()) for name in names}
        return {
            name: seen
            for name, seen in values.items()
            if len(_known(name, seen)) > 1 and not name.endswith(records.LOAD_AVERAGE)
        }

    def finished_by(self) -> dict[str, str | None]:
        """The trials of `completed`, each with the host of the fleet that ran it."""
        completed = self.completed()
        rows = self._connection.execute(
            "SELECT trial_id, host FROM trials WHERE run_id = ? ORDER BY attempt", (self._run_id,)
        )
        return {row["trial_id"]: row["host"] for row in rows if row["trial_id"] in completed}

    @_rows_explained
    def _last_attempts(self) -> dict[str, tuple[int, records.TrialStatus]]:
        rows = self._connection.execute(
            "SELECT trial_id, attempt, status FROM trials WHERE run_id = ? AND block <> ? ORDER BY attempt",
            (self._run_id, records.CONTROL_BLOCK),
        )
        return {row["trial_id"]: (row["attempt"], row["status"]) for row in rows}


def _known(name: str, seen: Iterable[str | int | float | None]) -> set[str | int | float | None]:
    """The values of a fact at several starts; a host need not have taken part in all of them."""
    return set(seen) - ({None} if name.startswith(records.OF_HOST) else set())


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
