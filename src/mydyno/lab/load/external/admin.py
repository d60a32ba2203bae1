"""What mydyno itself does on the server next to an external program: it makes the schema, counts rows, marks
the tables that were made for it and refuses to have others dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mydyno.core.errors import EngineError
from mydyno.core.plurals import plural
from mydyno.core.sql_names import quote
from mydyno.lab.load.job import Target
from mydyno.lab.stack.tables_layer import MARK
from mydyno.server.access import dbapi

_ANSWER_SECONDS = 30


class Admin:
    """A connection for administration. Raises EngineError whatever the server refuses."""

    def __init__(self, connection: dbapi.Connection[dbapi.Cursor]) -> None:
        self._connection = connection

    @property
    def server_version(self) -> str:
        [(version,)] = self._ask("SELECT VERSION()")
        return str(version)

    def make_schema(self, name: str) -> None:
        # MySQL has no comments of databases, and takes this one for an ordinary comment.
        self._ask(f"CREATE DATABASE IF NOT EXISTS {quote(name)} /*M!100500 COMMENT '{MARK}' */")

    def drop_schema(self, name: str) -> None:
        self._ask(f"DROP DATABASE IF EXISTS {quote(name)}")

    def tables(self, schema: str) -> dict[str, bool]:
        """Every table and view of `schema`, and whether it is ours."""
        rows = self._ask(
            "SELECT table_name, table_comment FROM information_schema.tables WHERE table_schema = %s", schema
        )
        return {str(name): str(comment).startswith(MARK) for name, comment in rows}

    def rows(self, schema: str, table: str) -> int:
        [(count,)] = self._ask(f"SELECT COUNT(*) FROM {quote(schema)}.{quote(table)}")
        return int(str(count))

    def mark(self, schema: str, table: str) -> None:
        self._ask(f"ALTER TABLE {quote(schema)}.{quote(table)} COMMENT = '{MARK}'")

    def refuse_foreign(self, schema: str, doomed: Sequence[str], what: str) -> None:
        """Raises EngineError when one of the tables that are about to be dropped is not ours."""
        for table, ours in self.tables(schema).items():
            if table in doomed and not ours:
                rows = self.rows(schema, table)
                raise EngineError(
                    f"{what}, but {schema}.{table} ({rows:,} {plural(rows, 'row')}) was not made by mydyno;"
                    " nothing was dropped",
                    "use another schema, or --drop-existing if these tables are not needed",
                )

    def _ask(self, sql: str, *values: str) -> list[tuple[object, ...]]:
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(sql, values or None)
                return list(cursor.fetchall())
        except dbapi.Error as error:
            raise EngineError(f"the server refused {sql!r}: {_described(error)}") from None


@contextmanager
def administration(target: Target) -> Iterator[Admin]:
    """A connection to no schema in particular. Raises EngineError when there is no way in."""
    try:
        connection = target.login.connect(answer_seconds=_ANSWER_SECONDS)
    except dbapi.Error as error:
        raise EngineError(f"cannot connect to {target.address}: {_described(error)}") from None
    with connection:
        yield Admin(connection)


def _described(error: Exception) -> str:
    """`Access denied for user ... (error 1045)`."""
    number = dbapi.number_of(error)
    return dbapi.text_of(error) + (f" (error {number})" if number else "")
