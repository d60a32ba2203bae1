"""A session of a server, its errors with what was wanted; and what every reader of a server asks first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from mydyno.core.errors import ServerError
from mydyno.server.access import dbapi
from mydyno.server.access.login import ANSWER_SECONDS, Login, server_errors


@contextmanager
def session(
    login: Login, what: str = "cannot get in", answer_seconds: int = ANSWER_SECONDS
) -> Iterator[dbapi.Cursor]:
    """A cursor of a session of its own. Raises ServerError for whatever the server refuses inside."""
    with (
        server_errors(login, what),
        login.connect(answer_seconds=answer_seconds) as connection,
        connection.cursor() as cursor,
    ):
        yield cursor


def show_global(cursor: dbapi.Cursor, what: str) -> dict[str, str]:
    cursor.execute(f"SHOW GLOBAL {what}")
    return {str(name): str(value) for name, value in cursor.fetchall()}


def version_line(variables: Mapping[str, str]) -> str:
    """What `--version` of the running server's binary would say of its release."""
    return f"mysqld  Ver {variables.get('version', '')} ({variables.get('version_comment', '')})"


def refuse_encryption(login: Login) -> None:
    """The engine speaks no TLS; over a unix socket none is needed. Raises ServerError when it would be."""
    if login.socket is None:
        with session(login) as cursor:
            must_take_plain(cursor, login, show_global(cursor, "VARIABLES LIKE 'require_secure_transport'"))


def must_take_plain(cursor: dbapi.Cursor, login: Login, variables: Mapping[str, str]) -> None:
    """The engine has no TLS. Raises ServerError when the account or the server requires it."""
    if login.socket is not None:
        return
    why = None
    if login.transport.requires_tls:
        why = f"ssl-mode {login.transport.mode} wants encrypted connections only"
    elif variables.get("require_secure_transport", "OFF").upper() in ("ON", "1"):
        why = "the server takes encrypted connections only (require_secure_transport=ON)"
    elif _account_requires_encryption(cursor):
        why = f"the account {login.user} may come over encrypted connections only (REQUIRE SSL)"
    if why is not None:
        raise ServerError(
            f"{login.address}: {why}, and mydyno's engine has no TLS",
            "run mydyno on the server's machine and use its socket, or lift the rule for this account",
        )


def _account_requires_encryption(cursor: dbapi.Cursor) -> bool:
    try:
        cursor.execute("SHOW CREATE USER CURRENT_USER()")
    except dbapi.Error:
        return False  # Not every server has the statement, nor every account the right to it.
    text = " ".join(str(cell) for row in cursor.fetchall() for cell in row).upper()
    return any(f"REQUIRE {rule}" in text for rule in ("SSL", "X509", "ISSUER", "SUBJECT", "CIPHER"))
