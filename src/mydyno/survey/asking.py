"""Questions to a server that it may refuse: what is not answered becomes an `Unread`, never an error."""

from __future__ import annotations

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
    """A session, who it is, and what it was not told."""

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
            why = "it took too long and was given up"
        self.unread.append(Unread(what=what, why=why, hint=hint))


def account_of(cursor: dbapi.Cursor) -> str:
    """The account that the server takes this session for, quoted as GRANT wants it."""
    cursor.execute("SELECT CURRENT_USER()")
    row = cursor.fetchone()
    user, _, host = str(row[0] if row else "").rpartition("@")
    return f"'{user}'@'{host}'"
