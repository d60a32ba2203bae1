"""Queries that a server may refuse: what is not answered becomes an `Unread`, never an error."""

from dataclasses import dataclass
from typing import Any

from mydyno.server.access import dbapi
from mydyno.survey.facts import Unread

_DENIED = frozenset({1044, 1045, 1142, 1143, 1227, 1370})
"""Errors that a GRANT fixes (MySQL Server Error Message Reference): no right to a database, a table, a
column, an operation, a routine."""
_LOST = frozenset({0, 2006, 2013})
_TIMED_OUT = frozenset({1317, 1969, 3024})
"""ER_QUERY_INTERRUPTED, ER_STATEMENT_TIMEOUT of MariaDB, ER_QUERY_TIMEOUT of MySQL."""


@dataclass
class Asking:
    """A session, its account, and what it could not read."""

    cursor: dbapi.Cursor
    account: str
    """As GRANT writes it: `'monitor'@'%'`."""
    unread: list[Unread]

    def rows(self, what: str, statement: str, grant: str | None = None) -> list[tuple[Any, ...]] | None:
        """The answer; None when the server gives none, and then `unread` says why and what would help.

        `grant`: the right that the statement needs, as GRANT writes it with its ON.
        """
        try:
            self.cursor.execute(statement)
            return list(self.cursor.fetchall())
        except dbapi.Error as error:
            self.missed(what, error, grant)
            return None

    def missed(self, what: str, error: BaseException, grant: str | None = None) -> None:
        """Keeps that `what` could not be read."""
        number, why = dbapi.number_of(error), dbapi.text_of(error) or type(error).__name__
        hint = None
        if number in _DENIED and grant is not None:
            hint = f"GRANT {grant} TO {self.account}"
        elif number in _LOST:
            why = f"the connection ended: {why}"
        elif number in _TIMED_OUT:
            why = "it took too long and was cancelled"
        self.unread.append(Unread(what=what, why=why, hint=hint))

    def lacks(self, what: str, why: str, grant: str) -> None:
        """Keeps that `what` is incomplete without the right `grant`, though the server gave no error."""
        self.unread.append(Unread(what=what, why=why, hint=f"GRANT {grant} TO {self.account}"))


def text_of(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def account_of(cursor: dbapi.Cursor) -> str:
    """The account that the server takes this session for, quoted as GRANT wants it."""
    cursor.execute("SELECT CURRENT_USER()")
    row = cursor.fetchone()
    user, _, host = str(row[0] if row else "").rpartition("@")
    return f"'{user}'@'{host}'"
