"""A connection of Python's own to a server under load: for set-up and tear-down, never for load."""

from __future__ import annotations

from mydyno.core.errors import ServerError, UsageError
from mydyno.core.plurals import counted
from mydyno.core.sql_names import quote
from mydyno.lab.load.job import Target
from mydyno.lab.stack.tables_layer import MARK
from mydyno.server.access import dbapi

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
