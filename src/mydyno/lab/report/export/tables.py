"""Every number of a run as tables: those of the lab, without the numbers that only the lab itself knows, and
the series of all trials below each other.

Folders that are whole or not there, whatever stops their writing.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl
import polars.selectors as cs

from mydyno.core.errors import LabError, MydynoError
from mydyno.core.writing import writing_hint
from mydyno.lab.report.csv import without_formulas
from mydyno.lab.report.export.dictionary import describe
from mydyno.lab.results.plain_rows import PlainRun, TableRows
from mydyno.lab.results.run import INTERVALS, SAMPLES, Run


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """An empty folder that takes the name of `path` when the block has ended well.

    Raises MydynoError when something is there already, or it cannot be written.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise MydynoError(f"{path} exists already", "another folder may do: --out FOLDER")
    partial = path.with_name(f".{path.name}.partial")
    with _explained(path):
        try:
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
            yield partial
            partial.replace(path)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        hint = writing_hint(error, path) if isinstance(error, OSError) else None
        raise MydynoError(f"cannot write {path}: {why}", hint) from error


Form = Literal["csv", "parquet", "json"]
SUFFIXES: dict[Form, str] = {"csv": ".csv", "parquet": ".parquet", "json": ".jsonl"}

DICTIONARY = "dictionary"
_HIDDEN = ("run_id", "trial_key", "folder")


@dataclass(frozen=True)
class Written:
    """`tables`: the names of the files. `lost`: the series that the lab cannot give, one sentence each."""

    tables: tuple[str, ...]
    lost: tuple[str, ...]


def write_tables(run: Run, folder: Path, form: Form) -> Written:
    """Write a file for each table that has a row, and one that explains their columns, into an empty folder.

    Raises OSError when the disk is full.
    """
    names: list[str] = []
    described: list[dict[str, str | None]] = []

    def write(name: str, frame: pl.LazyFrame) -> None:
        target = folder / f"{name}{SUFFIXES[form]}"
        _SINKS[form](frame, target)
        names.append(target.name)
        described.extend(describe(name, frame.collect_schema()))

    for name, frame in table_frames(run.plain()):
        write(name, frame.lazy())
    lost: list[str] = []
    for kind, file in (("samples", SAMPLES), ("intervals", INTERVALS)):
        series = _series(run, file, lost)
        if series is not None:
            try:
                write(kind, series)
            except pl.exceptions.PolarsError as error:
                raise _damaged_series(run, file, error) from error
    dictionary = pl.DataFrame(described, schema=dict.fromkeys(("table", "column", "unit", "is"), pl.String))
    target = folder / f"{DICTIONARY}{SUFFIXES[form]}"
    _SINKS[form](dictionary.lazy(), target)
    return Written((*names, target.name), tuple(dict.fromkeys(lost)))


def table_frames(run: PlainRun) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each table of the lab that has a row; a trial is named by its trial and attempt."""
    trials = run.tables.get("trials")
    who: dict[object, tuple[object, object]] = {}
    if trials is not None:
        columns = (trials.column("trial_key"), trials.column("trial_id"), trials.column("attempt"))
        who = {key: (name, attempt) for key, name, attempt in zip(*columns, strict=True)}
    for name, table in run.tables.items():
        columns_of = _columns(table, who if name != "trials" else {})
        yield name, pl.DataFrame(columns_of)


def _columns(table: TableRows, who: dict[object, tuple[object, object]]) -> list[pl.Series]:
    columns = []
    if who and "trial_key" in table.columns:
        keys = table.column("trial_key")
        columns.append(_column("trial_id", [who[key][0] for key in keys]))
        columns.append(_column("attempt", [who[key][1] for key in keys]))
    return columns + [_column(name, table.column(name)) for name in table.columns if name not in _HIDDEN]


def _column(name: str, values: Sequence[object]) -> pl.Series:
    """Whole numbers, numbers, or text, whatever holds all: a fact of the environment may be any of them."""
    known = [value for value in values if value is not None]
    if all(isinstance(value, int) for value in known) and known:
        return pl.Series(name, values, dtype=pl.Int64)
    if all(isinstance(value, int | float) for value in known) and known:
        return pl.Series(name, values, dtype=pl.Float64, strict=False)
    return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)


def _series(run: Run, file: str, lost: list[str]) -> pl.LazyFrame | None:
    """Of all trials, with columns that some of them lack; None where the lab has none."""
    frames = []
    for trial in run.trials():
        try:
            run.series_columns(trial.trial_id, trial.attempt)
        except LabError as error:
            lost.append(error.message)
            continue
        path = run.trial_folder(trial.trial_id, trial.attempt) / file
        which = (
            pl.lit(trial.trial_id).alias("trial_id"),
            pl.lit(trial.attempt).cast(pl.Int64).alias("attempt"),
            pl.lit(trial.point_id).alias("point_id"),
        )
        frames.append(pl.scan_parquet(path, glob=False).select(*which, pl.all()))
    if not frames:
        return None
    # A histogram is bytes, which only Parquet knows: as base64 it is the same text in all forms.
    return pl.concat(frames, how="diagonal_relaxed").with_columns(cs.binary().bin.encode("base64"))


def _damaged_series(run: Run, file: str, error: Exception) -> LabError:
    """The error of the file that cannot be read, which polars does not name."""
    read = run.samples if file == SAMPLES else run.intervals
    try:
        for trial in run.trials():
            read(trial.trial_id, trial.attempt)
    except LabError as named:
        return named
    return LabError(f"{run.folder}: the {file} of its trials cannot be put together: {error}")


def _to_parquet(frame: pl.LazyFrame, path: Path) -> None:
    frame.sink_parquet(path)


def _to_csv(frame: pl.LazyFrame, path: Path) -> None:
    without_formulas(frame).sink_csv(path)


def _to_json(frame: pl.LazyFrame, path: Path) -> None:
    frame.sink_ndjson(path)


_SINKS: dict[Form, Callable[[pl.LazyFrame, Path], None]] = {
    "csv": _to_csv,
    "parquet": _to_parquet,
    "json": _to_json,
}
