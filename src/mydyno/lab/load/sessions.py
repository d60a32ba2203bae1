"""A connection of Python's own to a server under load: for set-up and tear-down, never for load;
and dropping what a load has made: tables by their mark, and the database when nothing else is in it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from mydyno.core.errors import ServerError, UsageError
from mydyno.core.plurals import counted
from mydyno.core.sql_names import quote
from mydyno.lab.load.job import Target
from mydyno.lab.stack.tables_layer import MARK
from mydyno.server.access import dbapi

_LOCK_WAIT_S = 30
_TABLES = (
    "SELECT table_name, table_comment, COALESCE(table_rows, 0) FROM information_schema.tables"
    " WHERE table_schema = %s ORDER BY table_name"
)
_PROGRAMS = (
    "SELECT (SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = %s)"
    " + (SELECT COUNT(*) FROM information_schema.events WHERE event_schema = %s)"
    " FROM information_schema.schemata WHERE schema_name = %s"
)


@dataclass(frozen=True)
class Leftovers:
    """What a load has left in a schema."""

    schema: str
    tables: dict[str, int]
    """Tables that mydyno made, with the rows that the server guesses they have."""
    foreign: tuple[str, ...]
    """Tables of the workload's names that mydyno did not make; they stay."""
    with_schema: bool
    """The schema is mydyno's too, and would be empty."""


def leftovers(
    cursor: dbapi.Cursor, schema: str, names: Collection[str] | None, default_schema: str
) -> Leftovers:
    """What there is of a workload's tables; `names` None: of all that mydyno made. Raises dbapi.Error.

    `default_schema` is mydyno's own by its name. A table's name that ends in a number stands for all that do:
    how many tables a workload has is an option.
    """
    patterns = [re.sub(r"(?<=\D)\d+$", r"\\d+", re.escape(name)) for name in names or ()]
    cursor.execute(_TABLES, (schema,))
    rows = [(str(name), str(comment), int(str(count))) for name, comment, count in cursor.fetchall()]
    of_workload = [row for row in rows if names is None or any(re.fullmatch(p, row[0]) for p in patterns)]
    made = {name: count for name, comment, count in of_workload if comment.startswith(MARK)}
    foreign = () if names is None else tuple(name for name, *_ in of_workload if name not in made)
    with_schema = (
        len(made) == len(rows)
        and (_is_marked(cursor, schema) or schema == default_schema)
        and _is_empty_otherwise(cursor, schema)
    )
    return Leftovers(schema, made, foreign, with_schema)


def drop(cursor: dbapi.Cursor, left: Leftovers, order: Collection[str]) -> None:
    """Drops them, tables that refer to others first: `order` is that of making them. Raises dbapi.Error."""
    cursor.execute(f"SET SESSION lock_wait_timeout = {_LOCK_WAIT_S}")
    places = {name: place for place, name in enumerate(order)}
    for name in sorted(left.tables, key=lambda name: places.get(name, -1), reverse=True):
        cursor.execute(f"DROP TABLE {quote(left.schema, name)}")
    if left.with_schema:
        cursor.execute(f"DROP DATABASE {quote(left.schema)}")


def _is_marked(cursor: dbapi.Cursor, schema: str) -> bool:
    """Only MariaDB keeps comments of databases."""
    cursor.execute("SELECT * FROM information_schema.schemata WHERE schema_name = %s", (schema,))
    columns = [str(column[0]).lower() for column in cursor.description or ()]
    found = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    return any(str(one.get("schema_comment")).startswith(MARK) for one in found)


def _is_empty_otherwise(cursor: dbapi.Cursor, schema: str) -> bool:
    """The schema exists, and has no routines and events, which no load makes."""
    cursor.execute(_PROGRAMS, (schema, schema, schema))
    return [int(str(count)) for (count,) in cursor.fetchall()] == [0]


NO_SUCH_DATABASE = 1049
NO_SUCH_TABLE = 1146
_ANSWER_S = 600


def connect(target: Target, database: str | None = None) -> dbapi.Connection[dbapi.Cursor]:
    """An autocommit session as the target's account, in `database` if that is given.

    Every statement has a timeout of 10 minutes. Raises dbapi.Error.
    """
    return target.login.connect(database, answer_seconds=_ANSWER_S)


def code_of(error: BaseException) -> int:
    """The number of an error; 2000 (unknown) when it has none."""
    return dbapi.number_of(error) or 2000


def failed(target: Target, what: str, error: BaseException) -> ServerError:
    """The error to raise when the server refused `what`."""
    return ServerError(f"{what} on {target.address}: error {code_of(error)}: {dbapi.text_of(error)}")


def foreign_tables(
    cursor: dbapi.Cursor, database: str, table: str | None = None, mark: str = MARK
) -> list[tuple[str, int | None]]:
    """Tables of the schema without the mark, with the rows that the server guesses they have.

    A schema that is not there has none. `table` looks at one alone.
    """
    try:
        cursor.execute(f"SHOW TABLE STATUS FROM {quote(database)}")
    except dbapi.Error as error:
        if code_of(error) == NO_SUCH_DATABASE:
            return []
        raise
    names = [column[0] for column in cursor.description or ()]
    found = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return [
        (str(one["Name"]), one["Rows"])
        for one in found
        if not str(one["Comment"]).startswith(mark) and table in (None, one["Name"])
    ]


def refuse_foreign(tables: list[tuple[str, int | None]], database: str) -> None:
    """Raises UsageError when there are tables that mydyno did not make: it drops none of them unasked."""
    if not tables:
        return
    name, rows = tables[0]
    more = f" and {len(tables) - 1} more" if len(tables) > 1 else ""
    raise UsageError(
        f"table {database}.{name} (about {counted(rows or 0, 'row')}){more} would be dropped,"
        " and mydyno did not make it",
        "name another schema with --database, or drop it with --drop-existing",
    )


def mark(cursor: dbapi.Cursor, table: str, mark: str = MARK) -> None:
    """Write into the table's comment that mydyno made it."""
    cursor.execute(f"ALTER TABLE {quote(table)} COMMENT='{mark}'")
