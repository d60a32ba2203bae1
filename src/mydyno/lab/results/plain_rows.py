"""A run as the rows of its tables, without the numbers that only its own lab knows: to carry it to another.

Any table with a `run_id` or a `trial_key` belongs; nothing else is known of them, so one that a later format
adds is carried too. The run gets the number 1 and its trials 1, 2, 3... in planned order, so that the same
run is the same rows wherever it is.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mydyno.lab.results.schema import MIGRATIONS

Value = str | int | float | None

_PLACES = {"folder": ("runs",), "file_bytes": ("trials",)}
"""Columns that say where a lab keeps a run, which differs from lab to lab: name -> tables."""


@dataclass(frozen=True)
class TableRows:
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def column(self, name: str) -> tuple[Value, ...]:
        place = self.columns.index(name)
        return tuple(row[place] for row in self.rows)


@dataclass(frozen=True)
class PlainRun:
    """All rows of a run. `format`: the version of the lab's tables."""

    format: int
    tables: Mapping[str, TableRows] = field(default_factory=dict)

    @property
    def trial_folders(self) -> frozenset[str]:
        trials = self.tables.get("trials")
        return frozenset(map(str, trials.column("folder"))) if trials else frozenset()

    def lines(self) -> bytes:
        """JSON lines: for each table one with its name and columns, then one for each row; the same run gives
        the same bytes."""
        lines = []
        for table, content in self.tables.items():
            lines.append(json.dumps({"table": table, "columns": content.columns}))
            lines += [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in content.rows]
        return ("\n".join(lines) + "\n").encode()


def plain_run(connection: sqlite3.Connection, run_id: int) -> PlainRun:
    """The rows of one run of a lab that is up to date."""
    tables = {
        name: TableRows(columns, tuple(rows)) for name, columns, rows in plain_tables(connection, run_id)
    }
    return PlainRun(len(MIGRATIONS), {name: table for name, table in tables.items() if table.rows})


PlainTable = tuple[str, tuple[str, ...], Iterable[tuple[Value, ...]]]
"""Its name, its columns and its rows."""


def plain_tables(connection: sqlite3.Connection, run_id: int) -> Iterator[PlainTable]:
    """The tables of `plain_run`, empty ones too, whose rows are read one by one."""
    for table, columns in tables_of_runs(connection).items():
        kept = [name for name in columns if table not in _PLACES.get(name, ())]
        order = [name for name in kept if columns[name]]
        yield table, tuple(kept), _rows(connection, run_id, table, kept, order)


_NUMBERS = (
    "WITH numbers AS (SELECT trial_key AS key_here, "
    "row_number() OVER (ORDER BY position, trial_id, attempt) AS number FROM trials WHERE run_id = ?) "
)


def _rows(
    connection: sqlite3.Connection, run_id: int, table: str, columns: list[str], order: list[str]
) -> Iterator[tuple[Value, ...]]:
    """SQLite sorts, on the disk where there are many."""
    renumbered = {"run_id": "1", "trial_key": "number"}
    chosen = ", ".join(renumbered.get(name, f"{table}.{name}") for name in columns)
    sorted_by = ", ".join(str(columns.index(name) + 1) for name in order)
    if "trial_key" in columns:
        query = f"{_NUMBERS}SELECT {chosen} FROM {table} JOIN numbers ON key_here = {table}.trial_key"
    else:
        query = f"SELECT {chosen} FROM {table} WHERE run_id = ?"
    cursor = connection.cursor()
    cursor.row_factory = None
    yield from cursor.execute(f"{query} ORDER BY {sorted_by}", (run_id,))


@dataclass(frozen=True)
class Placement:
    """Where the rows of a run go in a database. `file_bytes`: of each trial's folder."""

    folder: str = "run"
    run_id: int = 1
    first_key: int = 1
    file_bytes: Mapping[str, int] = field(default_factory=dict)


class PlainWriter:
    """Writes rows under the numbers of `placement`. The caller owns the transaction."""

    def __init__(self, connection: sqlite3.Connection, placement: Placement) -> None:
        self._connection = connection
        self._placement = placement
        self._known = tables_of_runs(connection)

    def check(self, table: str, columns: Sequence[str]) -> None:
        """Raises ValueError for a table or a column that these tables do not have."""
        if table not in self._known:
            raise ValueError(f"there is no table {table!r} in this format")
        if strange := set(columns) - set(self._known[table]):
            raise ValueError(f"the table {table} has no column {min(strange)!r} in this format")

    def insert(self, table: str, columns: Sequence[str], row: Sequence[Value]) -> None:
        """A row of columns that `check` has seen."""
        placed = _placed(table, dict(zip(columns, row, strict=True)), self._known[table], self._placement)
        self._connection.execute(
            f"INSERT INTO {table} ({', '.join(placed)}) VALUES ({', '.join('?' * len(placed))})",
            tuple(placed.values()),
        )


def _placed(
    table: str, row: dict[str, Value], columns: Mapping[str, int], placement: Placement
) -> dict[str, Value]:
    """The row as this database keeps it."""
    if "run_id" in columns:
        row["run_id"] = placement.run_id
    if "trial_key" in row:
        key = row["trial_key"]
        if not isinstance(key, int):
            raise ValueError(f"a row of {table} names its trial {key!r}")
        row["trial_key"] = placement.first_key + key - 1
    if table == "runs":
        row["folder"] = placement.folder
    if table == "trials" and "file_bytes" in columns:
        row["file_bytes"] = placement.file_bytes.get(str(row["folder"]))
    return row


def free_numbers(connection: sqlite3.Connection) -> tuple[int, int]:
    """The next number of a run and of a trial."""
    run = connection.execute("SELECT coalesce(max(run_id), 0) + 1 FROM runs").fetchone()[0]
    key = connection.execute("SELECT coalesce(max(trial_key), 0) + 1 FROM trials").fetchone()[0]
    return int(run), int(key)


def tables_of_runs(connection: sqlite3.Connection) -> dict[str, dict[str, int]]:
    """Table of runs or trials -> its columns -> place in the primary key, 0 for those outside; parents
    first."""
    names = [
        row[0]
        for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    ]
    tables = {
        name: {row[1]: row[5] for row in connection.execute(f"PRAGMA table_info({name})")} for name in names
    }
    parents = ("runs", "points", "trials", "phases")
    order = [*parents, *(name for name in names if name not in parents)]
    return {name: tables[name] for name in order if {"run_id", "trial_key"} & tables[name].keys()}
