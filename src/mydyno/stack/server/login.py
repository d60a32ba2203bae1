"""How a client gets into a server: where it listens, who to be, and the password that nothing else knows."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mydyno.core.errors import ServerError, UsageError
from mydyno.core.secrets import Secret
from mydyno.spec.external import DEFAULT_PORT, External
from mydyno.stack.server.credentials import read_option_file, read_password_file

if TYPE_CHECKING:
    from pymysql.connections import Connection
    from pymysql.cursors import Cursor

ANSWER_SECONDS = 30
"""How long an answer is waited for, where nobody says otherwise."""
_CONNECT_SECONDS = 10

TOO_MANY_CONNECTIONS = 1040
_DENIED = (1045, 1698)
_UNREACHED = (2002, 2003)


@dataclass(frozen=True)
class Login:
    """An account on the server behind a unix socket, or behind a host and port."""

    user: str
    password: Secret
    socket: Path | None = None
    host: str | None = None
    port: int | None = None

    @property
    def address(self) -> str:
        return str(self.socket) if self.socket else f"{self.host}:{self.port or DEFAULT_PORT}"

    @property
    def is_here(self) -> bool:
        """Whether the address is one of this very machine. A tunnel looks like one, too."""
        if self.socket is not None or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(str(self.host)).is_loopback
        except ValueError:
            return False

    def connect(
        self, database: str | None = None, answer_seconds: int = ANSWER_SECONDS
    ) -> Connection[Cursor]:
        """An autocommit session; over TCP encrypted where the server offers that. Raises pymysql.Error."""
        import pymysql

        return pymysql.connect(
            unix_socket=str(self.socket) if self.socket else None,
            host=self.host or "localhost",
            port=self.port or DEFAULT_PORT,
            user=self.user,
            password=self.password.reveal().encode(),  # As text it would be taken for Latin-1.
            database=database,
            charset="utf8mb4",
            autocommit=True,
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=answer_seconds,
            write_timeout=answer_seconds,
        )


def login_of(external: External) -> Login:
    """The login that an experiment names. Raises UsageError when a file does not give it."""
    home = external.at_home
    if home.defaults_file is not None:
        return _of_file(Path(home.defaults_file), home.group)
    password = read_password_file(Path(home.password_file)) if home.password_file else Secret("")
    assert home.user is not None, "the spec asks for one"
    if home.socket is not None:
        return Login(home.user, password, socket=Path(home.socket))
    return Login(home.user, password, host=home.host, port=home.port or DEFAULT_PORT)


def _of_file(path: Path, group: str | None) -> Login:
    options = read_option_file(path, group)
    if options.user is None:
        raise UsageError(f"{path} names no user", "a line `user = NAME` in its group [client]")
    password = options.password or Secret("")
    # As the clients of MySQL take it: localhost means the socket where there is one.
    if options.socket is not None and options.host in (None, "localhost"):
        return Login(options.user, password, socket=options.socket)
    if options.host is None:
        raise UsageError(
            f"{path} says neither socket nor host",
            "a line `socket = /run/mysqld/mysqld.sock`, or `host = NAME`",
        )
    return Login(options.user, password, host=options.host, port=options.port or DEFAULT_PORT)


def explained(error: BaseException, login: Login, what: str = "cannot get in") -> ServerError:
    """What a pymysql error on the way to, or on, this server means for a user."""
    number = error.args[0] if error.args and isinstance(error.args[0], int) else None
    said = str(error.args[1]) if len(error.args) > 1 else str(error)
    hint = None
    if number in _DENIED:
        hint = "the password comes from password_file or defaults_file; is it the right one for this account?"
        if login.socket is None:
            # So says MariaDB, as seen with 10.11 without a certificate and require_secure_transport=ON.
            hint += " (a server that takes encrypted connections only may say the same)"
    elif number in _UNREACHED:
        hint = "is the server running, and does it listen there?"
    elif number == TOO_MANY_CONNECTIONS:
        hint = "the server has no connection left: raise its max_connections, or load it at another time"
    return ServerError(f"{login.address}: {what}: {said}" + (f" (error {number})" if number else ""), hint)
