"""Rows of lab.sqlite, whatever their table: insert one, read those of a run."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from typing import Any


def insert(connection: sqlite3.Connection, table: str, **values: object) -> int:
    """Insert one row and give its rowid. Table and columns are names of the code, never of a user."""
    columns, marks = ", ".join(values), ", ".join("?" * len(values))
    cursor = connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", tuple(values.values()))
    return cursor.lastrowid or 0


def rows_of_run(connection: sqlite3.Connection, run_id: int, table: str, order: str) -> list[sqlite3.Row]:
    """The rows of a run's trials in a table that has a `trial_key`; `order` is of ORDER BY."""
    columns = f"SELECT {table}.* FROM {table} JOIN trials USING (trial_key)"
    return connection.execute(f"{columns} WHERE run_id = ? ORDER BY {order}", (run_id,)).fetchall()


def named_values(connection: sqlite3.Connection, trial_key: int, table: str, column: str) -> dict[str, Any]:
    """Name -> value of one column of a trial's rows, in order of names, without the missing ones.

    A trial has a thousand settings and counters: they come as plain pairs, in the order of the table's key.
    """
    cursor = connection.cursor()
    cursor.row_factory = None
    return dict(
        cursor.execute(
            f"SELECT name, {column} FROM {table} WHERE trial_key = ? AND {column} IS NOT NULL ORDER BY name",
            (trial_key,),
        )
    )


def rows_by_trial(
    connection: sqlite3.Connection, run_id: int, table: str, order: str
) -> dict[int, list[sqlite3.Row]]:
    """Key of a trial -> its rows in a table, in order of a column of that table; none: an empty list."""
    found: dict[int, list[sqlite3.Row]] = defaultdict(list)
    for row in rows_of_run(connection, run_id, table, f"{table}.{order}"):
        found[row["trial_key"]].append(row)
    return found
