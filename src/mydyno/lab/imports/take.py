"""Reading the files of an import and keeping what comes of them in the lab."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
from ruamel.yaml import YAML

from mydyno.core.errors import UsageError
from mydyno.lab.imports import run_file
from mydyno.lab.imports.mapping import ImportFile, load, loads
from mydyno.lab.imports.records import imported
from mydyno.lab.imports.table import parse, read
from mydyno.lab.results.records import OperationTotal
from mydyno.lab.results.store import Lab
from mydyno.lab.results.writer import RunWriter

_YAML = (".yaml", ".yml")


@dataclass(frozen=True)
class Source:
    file: ImportFile
    text: str
    """The import file to the letter, or what the options would be as one."""
    spec_file: str
    table: Path
    content: bytes | None = None
    """The table's bytes, where it is made of other files."""
    operation_totals: tuple[tuple[OperationTotal, ...], ...] = ()
    """Of each row of a table that is made of RUN files."""


def from_options(
    file: Path,
    table: Path | None = None,
    *,
    name: str | None = None,
    factors: Sequence[str] = (),
    metrics: Sequence[str] = (),
    programs: Sequence[str] = (),
    connections: str | None = None,
    repetition: str | None = None,
) -> Source:
    """What the command line names. Raises UsageError or SpecErrors when it does not fit together."""
    described = [factors, metrics, programs, connections, repetition, name]
    if file.suffix.lower() in _YAML:
        if any(described):
            raise UsageError(
                f"{file} maps the columns, and so do the options", "change the file, or name a CSV file"
            )
        read_file, text = load(file)
        where = table or (None if read_file.table is None else file.parent / read_file.table)
        if where is None:
            raise UsageError(f"{file} names no table", "--table FILE.csv, or `table: FILE.csv` in it")
        return Source(read_file, text, file.name, where)
    if table is not None:
        raise UsageError(f"{file} and --table {table} are both tables", "name one of them")
    written: dict[str, Any] = {"import": name or _slug(file.stem), "table": str(file.name)}
    written["factors"] = {column: column for column in factors}
    if metrics:
        written["metrics"] = dict(map(_metric, metrics))
    if programs:
        written["programs"] = list(programs)
    if connections is not None:
        written["connections"] = int(connections) if connections.isdigit() else connections
    if repetition is not None:
        written["repetition"] = repetition
    if not factors:
        columns = ", ".join(parse(read(file), str(file)).columns)
        raise UsageError("no factor is given", f"--factor COLUMN, for one or more of its columns: {columns}")
    text = _yaml(written)
    return Source(loads(text, "the options"), text, f"{written['import']}.yaml", file)


def from_run_files(files: Sequence[Path], name: str | None) -> tuple[Source, str]:
    """RUN files of sql-bench as an experiment, and their totals as text.

    Servers are the levels where they differ, else the files' names are. Where those are equal, too, all files
    are repetitions of the only point. Raises UsageError for a file that is none.
    """
    runs = [run_file.parse(read(file).decode("utf-8", "replace"), file.name) for file in files]
    levels = {"server": {run.server for run in runs}, "run": {run.name for run in runs}}
    factor = next((column for column, values in levels.items() if len(values) > 1), None)
    written: dict[str, Any] = {
        "import": name or "sql-bench",
        "source": ", ".join(str(file) for file in files),
        "factors": {} if factor is None else {factor: factor},
        "metrics": {"running_time": {"column": "total", "unit": "s"}},
        # Where none came to its end there are operations all the same, with their sum.
        "programs": run_file.programs_of(runs) or ["total"],
    }
    text = _yaml(written)
    loaded = loads(text, "the RUN files")
    source = Source(
        loaded,
        text,
        f"{loaded.name}.yaml",
        files[0],
        run_file.as_csv(runs),
        tuple(run.operation_totals for run in runs),
    )
    return source, run_file.as_text(runs)


def are_run_files(files: Sequence[Path]) -> bool:
    """Whether the first is a RUN file of sql-bench. Raises UsageError when it cannot be read."""
    first = files[0]
    return first.suffix.lower() not in (*_YAML, ".csv") and run_file.is_run_file(
        read(first).decode("utf-8", "replace")
    )


def take(source: Source, lab: Lab) -> tuple[RunWriter, tuple[str, ...]]:
    """The run that the table became, and what one should know of how it was read.

    A table that is in the lab already is not taken twice: its run is given. Raises UsageError and LabError.
    """
    content = read(source.table) if source.content is None else source.content
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    results = imported(
        source.file, source.text, source.spec_file, parse(content, str(source.table)), content, now
    )
    run = lab.run(results.experiment, "{}")
    (run.folder / "table.csv").write_bytes(content)
    known = run.completed()
    nothing = pl.DataFrame()
    # RUN files have neither connections nor repetitions in columns: each row is a trial, in their order.
    totals = dict(enumerate(source.operation_totals))
    for trial in results.trials:
        trial = replace(trial, operation_totals=totals.get(trial.index, ()))
        if trial.trial_id not in known:
            run.save_trial(trial, samples=nothing, intervals=nothing, histograms={})
    already = (f"the lab has this table already, as {run.folder.name}",) if known else ()
    return run, (*already, *results.notes)


def _metric(text: str) -> tuple[str, dict[str, str]]:
    match = re.fullmatch(r"(?P<name>[^=]+)=(?P<column>.+?)(:(?P<unit>[^:]+))?", text)
    if match is None:
        raise UsageError(f"--metric {text}: not METRIC=COLUMN[:UNIT]", "as queries_per_second=qps")
    unit = {} if match["unit"] is None else {"unit": match["unit"]}
    return match["name"], {"column": match["column"], **unit}


def _slug(stem: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:64].strip("-") or "imported"


def _yaml(content: dict[str, Any]) -> str:
    stream = io.StringIO()
    YAML().dump(content, stream)
    return stream.getvalue()
