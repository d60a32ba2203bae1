"""The options of every command that logs in to a server, and the login that they mean."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote, urlsplit

from mydyno.cli.declare import option, option_group
from mydyno.core.errors import UsageError

if TYPE_CHECKING:
    from mydyno.core.secrets import Secret
    from mydyno.server.access.credentials import ClientOptions
    from mydyno.server.access.login import Login
    from mydyno.server.access.transport import Transport

_USUAL_SOCKETS = ("/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock")
_TRANSPORT = (
    *("ssl_mode", "ssl_ca", "ssl_cert", "ssl_key", "server_public_key"),
    *("compression_algorithms", "zstd_compression_level"),
)


@option_group
class LoginOptions:
    """How to log in to a server; a command takes them as a parameter of this type."""

    panel: ClassVar = "Server"
    other_ways: ClassVar[str] = ""
    """What else a command takes when no server is found."""

    server: str | None = option(
        "--server SOCKET|DSN", "Unix socket or mysql://USER@HOST:PORT, in one option."
    )
    socket: Path | None = option("--socket", "Unix socket of the server.")
    host: str | None = option("--host", "Host of the server.")
    port: int | None = option("--port", "Port of the server [default: 3306].")
    user: str | None = option("--user", "Account [default: root].")
    defaults_file: Path | None = option(
        "--defaults-file", "Client option file with socket or host, user, password."
    )
    password_file: Path | None = option("--password-file", "File whose first line is the password.")
    ask_password: bool = option("--ask-password", "Prompt for the password.", default=False)
    ssl_mode: str | None = option(
        "--ssl-mode MODE",
        "DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY, as with the MySQL clients"
        " [default: PREFERRED, with --ssl-ca VERIFY_CA].",
    )
    ssl_ca: Path | None = option("--ssl-ca", "Certificate authority (PEM) of the server's certificate.")
    ssl_cert: Path | None = option("--ssl-cert", "The account's certificate (PEM).")
    ssl_key: Path | None = option("--ssl-key", "Key of --ssl-cert (PEM, without a passphrase).")
    server_public_key: Path | None = option(
        "--server-public-key", "The server's RSA key (PEM), for passwords over TCP without TLS."
    )

    @classmethod
    def of(cls, values: dict[str, Any]) -> LoginOptions:
        """Of the values of a command that is put together from lists of options."""
        return cls(**{field.name: values[field.name] for field in fields(cls)})

    @property
    def is_given(self) -> bool:
        """Whether a server is named."""
        return any((self.server, self.socket, self.host, self.port, self.defaults_file))

    def login(self) -> Login:
        """The server that is named, else one at a usual socket. Raises UsageError."""
        usual = next((path for path in map(Path, _USUAL_SOCKETS) if path.is_socket()), None)
        login = self.named_login() if self.is_given else replace(self, socket=usual).named_login()
        if login is None:
            why = (
                f"{self.defaults_file} has neither socket nor host"
                if self.defaults_file
                else f"there is no socket at {', '.join(_USUAL_SOCKETS)}"
            )
            raise UsageError(
                f"which server? {why}",
                f"--socket /path/to/mysqld.sock, or --host HOST --user USER{self.other_ways}",
            )
        return login

    def named_login(self) -> Login | None:
        """The login of these options, which win over the option file. Raises UsageError.

        None when neither names a server.
        """
        from mydyno.server.access.address import DEFAULT_PORT
        from mydyno.server.access.login import Login, socket_path

        address = self.address
        if address.socket is None and address.host is None:
            return None
        user = self.user or address.user or self.option_file.user or "root"
        return Login(
            user,
            self.password(user),
            socket=None if address.socket is None else socket_path(address.socket),
            host=address.host,
            port=(address.port or DEFAULT_PORT) if address.host else None,
            transport=self.transport(),
        )

    def transport(self) -> Transport:
        """How connections are protected and compressed. Raises UsageError."""
        from mydyno.server.access.credentials import transport_of

        given = {name: getattr(self, name) for name in _TRANSPORT if getattr(self, name, None)}
        return transport_of(replace(self.option_file, **given))

    @cached_property
    def option_file(self) -> ClientOptions:
        """That of --defaults-file; an empty one without it."""
        from mydyno.server.access import credentials

        if self.defaults_file is None:
            return credentials.ClientOptions()
        return credentials.read_option_file(self.defaults_file)

    @cached_property
    def address(self) -> Address:
        """Where the server is: as the options say, else as the option file says. Raises UsageError."""
        address = Address(self.socket, self.host, self.port, None)
        if self.server is not None:
            if any((self.socket, self.host, self.port)):
                raise UsageError("--server excludes --socket, --host and --port", "give one of them")
            address = _address(self.server)
        if address.socket and (address.host or address.port):
            raise UsageError("--socket and --host exclude each other", "give one of them")
        if address.socket or address.host or address.port:
            return address
        file = self.option_file
        if file.socket and file.host in (None, "localhost"):
            return Address(file.socket, None, None, None)
        return Address(None if file.host else file.socket, file.host, file.port, None)

    def password(self, user: str) -> Secret:
        """From --password-file, a prompt or the option file; empty without any of them."""
        from mydyno.core.secrets import Secret
        from mydyno.server.access import credentials

        if self.password_file:
            return credentials.read_password_file(self.password_file)
        if self.ask_password:
            return credentials.prompt(user)
        return self.option_file.password or Secret("")


@option_group
class LoadLogin(LoginOptions):
    """How a load logs in."""

    compression_algorithms: str | None = option(
        "--compression-algorithms LIST",
        "Compress the load's connections: zlib, zstd, uncompressed or several, as with the MySQL clients"
        " [default: uncompressed].",
    )
    zstd_compression_level: int | None = option(
        "--zstd-compression-level N", "Level of zstd, from 1 to 22 [default: 3]."
    )


@dataclass(frozen=True)
class Address:
    """Where a server is, and for whom."""

    socket: Path | None
    host: str | None
    port: int | None
    user: str | None


def _address(server: str) -> Address:
    """What --server means. Raises UsageError."""
    if "://" not in server:
        if not server.startswith(("/", ".", "~")) and not Path(server).is_socket():
            raise UsageError(
                f"--server {server} is neither a path nor a DSN",
                f"--server mysql://{server} for a host, --server /path/to/mysqld.sock for a socket",
            )
        return Address(Path(server), None, None, None)
    try:
        parts = urlsplit(server)
        port = parts.port
    except ValueError:
        raise UsageError("--server is not a valid DSN", "mysql://USER@HOST:PORT") from None
    if parts.password is not None:
        raise UsageError(
            "--server has a password in it, which other users of this machine can see",
            "--password-file, --ask-password or --defaults-file",
        )
    if parts.scheme not in ("mysql", "mariadb") or not parts.hostname:
        raise UsageError(
            f"--server {server} is not a valid DSN", "mysql://USER@HOST:PORT, without a password"
        )
    return Address(None, parts.hostname, port, unquote(parts.username) if parts.username else None)
