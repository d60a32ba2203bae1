"""How a client gets into a server: where it listens, who to be, and the password that nothing else knows."""

from __future__ import annotations

import ipaddress
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mydyno.core.errors import ServerError, UsageError
from mydyno.core.secrets import Secret
from mydyno.core.visible import one_line
from mydyno.server.access import dbapi
from mydyno.server.access.address import DEFAULT_PORT, External
from mydyno.server.access.credentials import read_option_file, read_password_file, transport_of
from mydyno.server.access.transport import Transport

if TYPE_CHECKING:
    from mydyno.server.access.client import BoundedConnection

ANSWER_SECONDS = 30
"""How long a whole answer is waited for, unless a timeout is given."""

TOO_MANY_CONNECTIONS = 1040
_DENIED = (1045, 1698)
_UNREACHED = (2002, 2003, 2005)
_WHICH_PASSWORD = (
    "the password comes from password_file or defaults_file; is it the right one for this account?"
)
_HINTS = {
    **dict.fromkeys(_DENIED, _WHICH_PASSWORD),
    **dict.fromkeys(_UNREACHED, "is the server running, and does it listen there?"),
    TOO_MANY_CONNECTIONS: "the server has no connection left: raise its max_connections, or load it at "
    "another time",
    # The client's own refusal to send the password (client.REFUSED), and an answer that is none.
    2061: "the server's unix socket; --ssl-ca CA.PEM, by which its certificate is checked; or, for accounts"
    " of caching_sha2_password and sha256_password, --ssl-mode DISABLED --server-public-key KEY.PEM",
    2027: "is it a MySQL or MariaDB server that listens there?",
    # TLS failed, and ER_SECURE_TRANSPORT_REQUIRED.
    2026: "--ssl-ca names the server's authority; --ssl-mode VERIFY_CA does not check the host's name",
    3159: "--ssl-mode REQUIRED, or VERIFY_CA with --ssl-ca, or the server's unix socket",
}
_NONSENSE = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, AssertionError)
"""What comes of taking an answer for what it is not: no row, NULL for a number, a column that is missing."""
_LONGEST_SOCKET = 107
"""Bytes of a unix socket's path (unix(7))."""


@dataclass(frozen=True)
class Login:
    """An account on the server behind a unix socket, or behind a host and port."""

    user: str
    password: Secret
    socket: Path | None = None
    host: str | None = None
    port: int | None = None
    transport: Transport = field(default_factory=Transport)

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
        self, database: str | None = None, answer_seconds: float = ANSWER_SECONDS
    ) -> BoundedConnection:
        """An autocommit session, encrypted and bounded as `transport` and `client` say.

        Raises dbapi.Error; UsageError when a file of `transport` cannot be used.
        """
        from mydyno.server.access.client import BoundedConnection

        connection = BoundedConnection(
            self.socket or (self.host or "localhost", self.port or DEFAULT_PORT),
            user=self.user,
            password=self.password.reveal().encode(),
            database=database,
            transport=self.transport,
            answer_seconds=answer_seconds,
        )
        connection.connect()
        return connection


def socket_path(path: Path) -> Path:
    """The absolute path of a unix socket, or as it was given where only that is short enough.

    Raises UsageError when neither is.
    """
    given = path.expanduser()
    for each in (given.absolute(), given):
        if len(str(each).encode()) <= _LONGEST_SOCKET:
            return each
    raise UsageError(
        f"{given}: the path of a unix socket has at most {_LONGEST_SOCKET} bytes",
        "go to its folder and give its name, or make a symbolic link to the folder",
    )


def login_of(external: External) -> Login:
    """The login that an experiment names. Raises UsageError when a file does not give it."""
    home = external.at_home
    if home.defaults_file is not None:
        return _of_file(Path(home.defaults_file), home)
    password = read_password_file(Path(home.password_file)) if home.password_file else Secret("")
    assert home.user is not None, "the spec asks for one"
    protected = transport_of(home)
    if home.socket is not None:
        return Login(home.user, password, socket=Path(home.socket), transport=protected)
    return Login(home.user, password, host=home.host, port=home.port or DEFAULT_PORT, transport=protected)


def _of_file(path: Path, home: External) -> Login:
    options = read_option_file(path, home.group)
    if options.user is None:
        raise UsageError(f"{path} names no user", "a line `user = NAME` in its group [client]")
    password = options.password or Secret("")
    protected = transport_of(home if home.says_transport else options)
    protected = protected.compressed(
        *(
            getattr(options, name) if getattr(home, name) is None else getattr(home, name)
            for name in ("compression_algorithms", "zstd_compression_level")
        )
    )
    # As the clients of MySQL take it: localhost means the socket where there is one.
    if options.socket is not None and options.host in (None, "localhost"):
        return Login(options.user, password, socket=options.socket, transport=protected)
    if options.host is None:
        raise UsageError(
            f"{path} says neither socket nor host",
            "a line `socket = /run/mysqld/mysqld.sock`, or `host = NAME`",
        )
    return Login(
        options.user, password, host=options.host, port=options.port or DEFAULT_PORT, transport=protected
    )


@contextmanager
def server_errors(login: Login, what: str = "cannot get in") -> Iterator[None]:
    """What a server does wrong inside is raised as a ServerError that says so.

    Inside is only what comes from the server: an answer that cannot be understood is the server's fault here.
    """
    try:
        yield
    except (dbapi.Error, OSError, RuntimeError) as error:
        raise explained(error, login, what) from error
    except _NONSENSE as error:
        raise _not_understood(error, login) from error


def _not_understood(error: Exception, login: Login) -> ServerError:
    place = traceback.extract_tb(error.__traceback__)[-1]
    for each in traceback.extract_tb(error.__traceback__):
        if f"{Path(__file__).parents[2]}/" in each.filename:
            place = each
    detail = one_line(f"{type(error).__name__}: {str(error).strip()}", 200)
    return ServerError(
        f"{login.address}: an answer of the server cannot be understood"
        f" ({detail}, {Path(place.filename).name}:{place.lineno})",
        "is it a MySQL or MariaDB server that listens there? If it is one, this is a fault of mydyno's",
    )


def explained(error: BaseException, login: Login, what: str = "cannot get in") -> ServerError:
    """What an error on the way to, or on, this server means for a user."""
    number, detail = dbapi.number_of(error), one_line(dbapi.text_of(error))
    return ServerError(
        f"{login.address}: {what}: {detail}" + (f" (error {number})" if number else ""), _hint(number, login)
    )


def _hint(number: int | None, login: Login) -> str | None:
    if number in _DENIED and login.socket is None:
        # So says MariaDB, as seen with 10.11 without a certificate and require_secure_transport=ON.
        return f"{_WHICH_PASSWORD} (a server that takes encrypted connections only may say the same)"
    return _HINTS.get(number or 0)
