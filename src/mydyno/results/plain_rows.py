"""A run as the rows of its tables, without the numbers that only its own lab knows: to carry it to another.

Any table with a `run_id` or a `trial_key` belongs; nothing else is known of them, so one that a later format
adds is carried too. The run gets the number 1 and its trials 1, 2, 3... in planned order, so that the same
run is the same rows wherever it is.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import TypeGuard

from mydyno.results.rows import select_trials
from mydyno.results.run_rows import select_run
from mydyno.results.schema import MIGRATIONS
from mydyno.results.upgrade import migrate, upgraded_copy

Value = str | int | float | None

_PLACES = {"folder": ("runs",), "file_bytes": ("trials",)}
"""Columns that tell where a lab keeps a run, which is its own affair: name -> tables."""


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


def read_lines(content: bytes, version: int) -> PlainRun:
    """What `lines` wrote. Raises ValueError with the line that cannot be read."""
    found: dict[str, tuple[tuple[str, ...], list[tuple[Value, ...]]]] = {}
    table = ""
    for number, line in enumerate(content.decode().removesuffix("\n").split("\n"), start=1):
        try:
            one = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {number}: {error}") from error
        if isinstance(one, dict):
            name, columns = one.get("table"), one.get("columns")
            if not isinstance(name, str) or name in found or not _texts(columns):
                raise ValueError(f"line {number}: not the head of a table")
            table = name
            found[table] = (tuple(columns), [])
        elif (
            not isinstance(one, list)
            or table not in found
            or len(one) != len(found[table][0])
            or not all(value is None or isinstance(value, str | int | float) for value in one)
        ):
            raise ValueError(f"line {number}: not a row of the table {table!r}")
        else:
            found[table][1].append(tuple(one))
    return PlainRun(version, {name: TableRows(head, tuple(rows)) for name, (head, rows) in found.items()})


def _texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def plain_run(connection: sqlite3.Connection, run_id: int) -> PlainRun:
    """The rows of one run of a lab that is up to date."""
    keys = [
        row["trial_key"]
        for row in connection.execute(
            "SELECT trial_key FROM trials WHERE run_id = ? ORDER BY position, trial_id, attempt", (run_id,)
        )
    ]
    number = {key: place for place, key in enumerate(keys, start=1)}
    tables = {}
    for table, columns in _tables(connection).items():
        kept = [name for name in columns if table not in _PLACES.get(name, ())]
        if "run_id" in columns:
            rows = connection.execute(f"SELECT * FROM {table} WHERE run_id = ?", (run_id,))
        else:
            rows = connection.execute(
                f"SELECT {table}.* FROM {table} JOIN trials USING (trial_key) WHERE run_id = ?", (run_id,)
            )
        renumbered = {"run_id": lambda _: 1, "trial_key": number.__getitem__}
        plain = [
            tuple(renumbered[name](row[name]) if name in renumbered else row[name] for name in kept)
            for row in rows
        ]
        if plain:
            key = [kept.index(name) for name in columns if columns[name] and name in kept]
            tables[table] = TableRows(
                tuple(kept), tuple(sorted(plain, key=lambda row: tuple(row[place] for place in key)))
            )
    return PlainRun(len(MIGRATIONS), tables)


def brought_up_to_date(run: PlainRun) -> PlainRun:
    """The same run in the tables of this version, and seen to be whole: every row fits its table, refers to
    rows that are there, and makes a record.

    Raises ValueError when it does not.
    """
    with closing(sqlite3.connect("", isolation_level=None)) as database:
        database.row_factory = sqlite3.Row
        migrate(database, MIGRATIONS[: run.format], 0)
        database.execute("PRAGMA foreign_keys = OFF")
        try:
            insert_plain(database, run, folder="run", run_id=1, first_key=1, file_bytes={})
            with closing(upgraded_copy(database, MIGRATIONS, run.format)) as copy:
                dangling = copy.execute("PRAGMA foreign_key_check").fetchone()
                if dangling is not None:
                    raise ValueError(f"a row of {dangling['table']} refers to one that is not there")
                (runs,) = copy.execute("SELECT count(*) FROM runs").fetchone()
                if runs != 1:
                    raise ValueError(f"it holds {runs} runs, not one")
                stored = select_run(copy, 1)
                levels = {point.point_id: point.levels for point in stored.experiment.points}
                select_trials(copy, 1, levels)
                return plain_run(copy, 1)
        except (sqlite3.Error, KeyError, TypeError, OverflowError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error


def insert_plain(
    connection: sqlite3.Connection,
    run: PlainRun,
    *,
    folder: str,
    run_id: int,
    first_key: int,
    file_bytes: Mapping[str, int],
) -> None:
    """Write the rows under numbers that are free. `file_bytes`: of each trial's folder. The caller owns the
    transaction. Raises ValueError for a table or a column that these tables do not have."""
    known = _tables(connection)
    for table, content in run.tables.items():
        if table not in known:
            raise ValueError(f"there is no table {table!r} in format {run.format}")
        if strange := set(content.columns) - set(known[table]):
            raise ValueError(f"the table {table} has no column {min(strange)!r} in format {run.format}")
        rows = (dict(zip(content.columns, row, strict=True)) for row in content.rows)
        placed = [_placed(table, row, known[table], folder, run_id, first_key, file_bytes) for row in rows]
        names = list(placed[0]) if placed else []
        marks = ", ".join("?" * len(names))
        connection.executemany(
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})",
            [list(row.values()) for row in placed],
        )


def _placed(
    table: str,
    row: dict[str, Value],
    columns: Mapping[str, int],
    folder: str,
    run_id: int,
    first_key: int,
    file_bytes: Mapping[str, int],
) -> dict[str, Value]:
    """The row as this lab keeps it."""
    if "run_id" in columns:
        row["run_id"] = run_id
    if "trial_key" in row:
        key = row["trial_key"]
        if not isinstance(key, int):
            raise ValueError(f"a row of {table} names its trial {key!r}")
        row["trial_key"] = first_key + key - 1
    if table == "runs":
        row["folder"] = folder
    if table == "trials" and "file_bytes" in columns:
        row["file_bytes"] = file_bytes.get(str(row["folder"]))
    return row


def free_numbers(connection: sqlite3.Connection) -> tuple[int, int]:
    """The next number of a run and of a trial."""
    run = connection.execute("SELECT coalesce(max(run_id), 0) + 1 FROM runs").fetchone()[0]
    key = connection.execute("SELECT coalesce(max(trial_key), 0) + 1 FROM trials").fetchone()[0]
    return int(run), int(key)


def _tables(connection: sqlite3.Connection) -> dict[str, dict[str, int]]:
    """Table of runs or trials -> its columns -> place in the primary key, 0 for those outside; parents
    first."""
    names = [
        row[0]
        for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    ]
    found = {
        name: {row[1]: row[5] for row in connection.execute(f"PRAGMA table_info({name})")} for name in names
    }
    parents = ("runs", "points", "trials", "phases")
    order = [*parents, *(name for name in names if name not in parents)]
    return {name: found[name] for name in order if {"run_id", "trial_key"} & found[name].keys()}
