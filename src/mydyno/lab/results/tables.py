"""Rows of lab.sqlite: how a record becomes a row and a row a record, and the rows of one run."""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from mydyno.lab.results.sound import first_fault

Record = TypeVar("Record")


@dataclass(frozen=True)
class Stored:
    """How a field is stored that SQLite has no type for."""

    write: Callable[[Any], object]
    read: Callable[[Any], Any]


FLAG = Stored(int, bool)
SEED = Stored(str, int)
"""Decimal text: seeds go up to 2^64 - 1, SQLite integers only to 2^63 - 1."""


def document(column: str, kind: Any, default: object = None) -> Stored:
    """JSON; `default` is what NULL means. Reading raises ValueError, which names the column."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)

    def read(text: str | None) -> object:
        try:
            return default if text is None else adapter.validate_json(text)
        except ValidationError as error:
            raise ValueError(f"{column}: {first_fault(error)}") from error

    return Stored(lambda value: None if value is None else adapter.dump_json(value).decode(), read)


class RecordTable(Generic[Record]):
    """A table with one row a record: its columns are named as the record's fields, but for `columns`.

    `elsewhere` are fields that other tables hold.
    """

    def __init__(
        self,
        name: str,
        record: type[Record],
        *,
        columns: Mapping[str, str] | None = None,
        stored: Mapping[str, Stored] | None = None,
        elsewhere: Collection[str] = (),
    ) -> None:
        self.name = name
        self._record = record
        named = [field.name for field in fields(record) if field.name not in elsewhere]  # type: ignore[arg-type]
        self._columns = {field: (columns or {}).get(field, field) for field in named}
        hints = get_type_hints(record)
        self._stored = {field: FLAG for field in named if hints[field] is bool} | dict(stored or {})

    def insert(self, connection: sqlite3.Connection, record: Record, **place: object) -> int:
        """Inserts one row; `place` are the columns that say to what it belongs. Returns its rowid."""
        values = {column: getattr(record, field) for field, column in self._columns.items()}
        for field, stored in self._stored.items():
            values[self._columns[field]] = stored.write(getattr(record, field))
        return insert(connection, self.name, **place, **values)

    def record(self, row: sqlite3.Row, **others: object) -> Record:
        """The record of a row, with `others` from elsewhere."""
        values = {field: row[column] for field, column in self._columns.items()}
        for field, stored in self._stored.items():
            values[field] = stored.read(values[field])
        return self._record(**values, **others)

    def by_trial(self, connection: sqlite3.Connection, run_id: int, order: str) -> dict[int, list[Record]]:
        """Key of a trial -> its records, as `rows_by_trial`."""
        by_trial = rows_by_trial(connection, run_id, self.name, order)
        return defaultdict(list, {key: list(map(self.record, rows)) for key, rows in by_trial.items()})


def insert(connection: sqlite3.Connection, table: str, **values: object) -> int:
    """Inserts one row and returns its rowid. Table and columns are names of the code, never of a user."""
    columns, marks = ", ".join(values), ", ".join("?" * len(values))
    cursor = connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", tuple(values.values()))
    return cursor.lastrowid or 0


def insert_each(
    connection: sqlite3.Connection,
    table: RecordTable[Record],
    records: Iterable[Record],
    **place: object,
) -> None:
    """Inserts records with their positions."""
    for position, record in enumerate(records):
        table.insert(connection, record, **place, position=position)


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
    by_trial: dict[int, list[sqlite3.Row]] = defaultdict(list)
    for row in rows_of_run(connection, run_id, table, f"{table}.{order}"):
        by_trial[row["trial_key"]].append(row)
    return by_trial
