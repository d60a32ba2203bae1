"""The table sections of a `.smack` script: looked at, made and loaded before the load begins.

In the order of super-smack 1.3: count the rows, drop a table with too few, create it, make its data file,
load it. A table that mydyno did not make is never dropped unasked.
"""

from __future__ import annotations

from pathlib import Path

from mydyno.core.errors import ServerError, UsageError
from mydyno.core.sql_names import quote
from mydyno.lab.load import sessions
from mydyno.lab.load.job import Target
from mydyno.lab.load.smack import data
from mydyno.lab.load.smack.settings import Emit, Settings
from mydyno.lab.workload.smack.grammar import Section
from mydyno.server.access import dbapi

_BATCH = 1000


def make(table: Section, target: Target, folder: Path, settings: Settings, emit: Emit) -> None:
    """See that the table is there with at least min_rows rows.

    Raises ServerError when the server refuses a statement, UsageError when a table that is not ours would
    have to be dropped or the data file does not fit.
    """
    what = f"table {table.name}"
    try:
        with _connect(target, settings, emit) as connection, connection.cursor() as cursor:
            if not _is_wanted(cursor, table, target.database, settings, emit):
                return
            what = f"creating table {table.name}"
            emit("output", f"Creating table '{table.name}'")
            cursor.execute(table.text("create"))
            sessions.mark(cursor, table.name)
            what = f"loading table {table.name}"
            _load(cursor, table, folder, settings, emit)
            emit("output", f"Table {table.name} is now ready for the test")
    except dbapi.Error as error:
        raise sessions.failed(target, what, error) from None


def _connect(target: Target, settings: Settings, emit: Emit) -> dbapi.Connection[dbapi.Cursor]:
    """In the target's schema, which is made when it is missing."""
    try:
        return sessions.connect(target, target.database)
    except dbapi.Error as error:
        if settings.strict or sessions.code_of(error) != sessions.NO_SUCH_DATABASE:
            raise
    emit("note", f"creating the schema {target.database}, which is missing")
    connection = sessions.connect(target)
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {quote(target.database)}")
    connection.select_db(target.database)
    return connection


def _is_wanted(cursor: dbapi.Cursor, table: Section, database: str, settings: Settings, emit: Emit) -> bool:
    """Whether the table has to be made; one with too few rows is dropped on the way."""
    try:
        cursor.execute(f"SELECT COUNT(*) FROM {quote(table.name)}")
    except dbapi.Error as error:
        if not settings.strict and sessions.code_of(error) != sessions.NO_SUCH_TABLE:
            raise
        emit("note", f"table {table.name}: {dbapi.text_of(error)}")
        return True
    (rows,) = cursor.fetchone() or (0,)
    least = int(table.text("min_rows", "0"))
    if rows >= least:
        return False
    emit("output", f"Table '{table.name}' does not meet condition: {rows} of {least} rows")
    if not settings.drop_existing:
        sessions.refuse_foreign(sessions.foreign_tables(cursor, database, table.name), database)
    cursor.execute(f"DROP TABLE {quote(table.name)}")
    return True


def _load(cursor: dbapi.Cursor, table: Section, folder: Path, settings: Settings, emit: Emit) -> None:
    if not table.text("data_file"):
        return
    name = table.text("data_file")
    path = folder / name
    data.populate(table, folder, settings, emit)
    emit("output", f"Loading data from file '{path}' into table '{table.name}'")
    if settings.strict:
        cursor.execute(
            f"LOAD DATA INFILE %s INTO TABLE {quote(table.name)} FIELDS TERMINATED BY ','",
            (str(path.resolve()),),
        )
        return
    rows = data.rows(folder, name)
    cursor.execute(f"SELECT * FROM {quote(table.name)} LIMIT 0")
    columns = len(cursor.description or ())
    wrong = next((number for number, row in enumerate(rows, 1) if len(row) != columns), None)
    if wrong:
        raise UsageError(
            f"{path}: line {wrong} has {len(rows[wrong - 1])} fields,"
            f" table {table.name} has {columns} columns"
        )
    values = "(" + ", ".join(["%s"] * columns) + ")"
    cursor.execute("SET autocommit=0")
    for start in range(0, len(rows), _BATCH):
        batch = rows[start : start + _BATCH]
        cursor.executemany(f"INSERT INTO {quote(table.name)} VALUES {values}", batch)
    cursor.execute("COMMIT")
    cursor.execute("SET autocommit=1")
    cursor.execute(f"SELECT COUNT(*) FROM {quote(table.name)}")
    (found,) = cursor.fetchone() or (0,)
    if found != len(rows):
        raise ServerError(f"table {table.name} has {found} rows after loading {len(rows)} from {path}")
