"""The options by which commands reach a server and its host, or the facts that were saved of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints
from urllib.parse import unquote, urlsplit

import typer

from mydyno.cli.options import SSL_HELP
from mydyno.core.errors import UsageError

if TYPE_CHECKING:
    from mydyno.server.access.login import Login
    from mydyno.survey.facts import System
    from mydyno.survey.host.machine import Machine

_USUAL_SOCKETS = ("/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock")
_SSH = re.compile(r"ssh:(?://)?(?P<target>[^\s:/-][^\s:/]*)(?::(?P<port>\d{1,5}))?")
_PANEL = "Server and host"


def _option(flag: str, **more: Any) -> Any:
    return typer.Option(flag, rich_help_panel=_PANEL, show_default=False, **more)


@dataclass(frozen=True)
class ServerReach:
    """The way into a server. A command takes one as its parameter `reach` and is decorated with `options`."""

    other_ways: ClassVar[str] = ""
    """What else a command takes when no server is found."""

    server: Annotated[
        str | None,
        _option(
            "--server",
            metavar="SOCKET|DSN",
            help="The server's unix socket, or mysql://USER@HOST:PORT. Default: --defaults-file, else the"
            " usual sockets.",
        ),
    ] = None
    user: Annotated[str | None, _option("--user", help="Account [default: root].")] = None
    defaults_file: Annotated[
        Path | None,
        _option("--defaults-file", help="Client option file with socket or host, user, password."),
    ] = None
    password_file: Annotated[
        Path | None, _option("--password-file", help="File whose first line is the password.")
    ] = None
    ask_password: Annotated[bool, _option("--ask-password", help="Ask for the password.")] = False
    ssl_mode: Annotated[str | None, _option("--ssl-mode", metavar="MODE", help=SSL_HELP["ssl_mode"])] = None
    ssl_ca: Annotated[Path | None, _option("--ssl-ca", help=SSL_HELP["ssl_ca"])] = None
    ssl_cert: Annotated[Path | None, _option("--ssl-cert", help=SSL_HELP["ssl_cert"])] = None
    ssl_key: Annotated[Path | None, _option("--ssl-key", help=SSL_HELP["ssl_key"])] = None
    server_public_key: Annotated[
        Path | None, _option("--server-public-key", help=SSL_HELP["server_public_key"])
    ] = None

    def login(self) -> Login:
        """The way into the server. Raises UsageError."""
        from mydyno.cli.server_login import login_of

        socket, host, port, user = _place(self.server)
        if self.server is None and self.defaults_file is None:
            socket = next((path for path in map(Path, _USUAL_SOCKETS) if path.is_socket()), None)
        login = login_of(
            socket=socket,
            host=host,
            port=port,
            user=self.user or user,
            defaults_file=self.defaults_file,
            password_file=self.password_file,
            ask_password=self.ask_password,
            **{name: getattr(self, name) for name in SSL_HELP},
        )
        if login is None:
            looked = (
                f"{self.defaults_file} says neither socket nor host"
                if self.defaults_file
                else f"there is no socket at {', '.join(_USUAL_SOCKETS)}"
            )
            raise UsageError(
                f"which server? {looked}",
                f"--server /path/to/mysqld.sock, --server mysql://USER@HOST:3306{self.other_ways}",
            )
        return login


@dataclass(frozen=True)
class HostReach(ServerReach):
    """A server and the machine that it runs on."""

    host: Annotated[
        str | None,
        _option(
            "--host",
            metavar="ssh:USER@HOST|local|none",
            help="The machine that the server runs on, by SSH without a password; `local`: this one; `none`:"
            " leave it out. Default: this one, if the server's process is seen here.",
        ),
    ] = None

    @contextmanager
    def machine(self) -> Iterator[Machine | None]:
        """The machine that --host names; None without one."""
        from mydyno.survey.host.machine import LocalMachine
        from mydyno.survey.host.ssh import SshMachine

        if self.host is None or self.host == "none":
            yield None
        elif self.host == "local":
            yield LocalMachine()
        elif (found := _SSH.fullmatch(self.host)) is not None:
            with closing(SshMachine(found["target"], int(found["port"]) if found["port"] else None)) as far:
                yield far
        else:
            raise UsageError(
                f"--host {self.host} is no machine that can be read",
                "--host ssh:USER@HOST or ssh:USER@HOST:PORT, --host local, or --host none",
            )


@dataclass(frozen=True)
class Reach(HostReach):
    """A server and its host, or the facts that were saved of them."""

    other_ways = ", or --facts FILE"

    facts: Annotated[
        Path | None,
        _option("--facts", metavar="FILE", help="Facts that `mydyno facts` wrote, instead of a live system."),
    ] = None
    seconds: Annotated[
        float,
        typer.Option(
            "--for",
            metavar="SECONDS",
            min=0.0,
            help="How long to watch the server's counters; Ctrl-C ends it early.",
            rich_help_panel=_PANEL,
        ),
    ] = 10.0
    measure: Annotated[
        bool,
        _option(
            "--measure",
            help="Measure the data's disk with fio: half a minute of reads and writes in a file of at most"
            " 1G, which is removed at the end.",
        ),
    ] = False

    def system(self) -> System:
        """The facts: read from the file, or surveyed now, with progress on standard error.

        Raises UsageError, ServerError, HostError, MissingToolError.
        """
        if self.facts is not None:
            return self._saved(self.facts)
        from mydyno.advisor.registry import variables
        from mydyno.cli.progress import telling
        from mydyno.survey import survey

        login = self.login()
        with telling() as tell, self.machine() as machine:
            return survey(
                login,
                machine,
                settable=variables(),
                without_host=self.host == "none",
                seconds=self.seconds,
                tell=tell,
            )

    def _saved(self, path: Path) -> System:
        from mydyno.survey.facts.system import read_system

        given = [name for name in ("server", "defaults_file", "host", "measure") if getattr(self, name)]
        if given:
            raise UsageError(
                f"--facts and --{given[0].replace('_', '-')} exclude each other", "give one of them"
            )
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {path}: {error}", "mydyno facts > FILE makes one") from None
        return read_system(text, str(path))


def options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of `Reach`, or whatever its parameter `reach` is, in that one's place."""
    hints = get_type_hints(command, include_extras=True)
    own = [each for name, each in inspect.signature(command).parameters.items() if name != "reach"]
    kind = hints["reach"]
    of_reach = get_type_hints(kind, include_extras=True)
    names = [field.name for field in fields(kind)]

    def run(**values: Any) -> None:
        reach = kind(**{name: values.pop(name) for name in names})
        command(reach=reach, **values)

    run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, command.__module__
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            *(each.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[each.name]) for each in own),
            *(
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=field.default,
                    annotation=of_reach[field.name],
                )
                for field in fields(kind)
            ),
        ]
    )
    run.__annotations__ = {each.name: hints[each.name] for each in own} | of_reach
    return run


def _place(server: str | None) -> tuple[Path | None, str | None, int | None, str | None]:
    """Socket, host, port and user that --server means."""
    if server is None:
        return None, None, None, None
    if "://" not in server:
        if not server.startswith(("/", ".", "~")) and not Path(server).is_socket():
            raise UsageError(
                f"--server {server} is neither a path nor a DSN",
                f"--server mysql://{server} for a host, --server /path/to/mysqld.sock for a socket",
            )
        return Path(server), None, None, None
    try:
        parts = urlsplit(server)
        port = parts.port
    except ValueError:
        raise UsageError("--server is not a DSN that can be read", "mysql://USER@HOST:PORT") from None
    if parts.password is not None:
        raise UsageError(
            "--server has a password in it, which other users of this machine can see",
            "--password-file, --ask-password or --defaults-file",
        )
    if parts.scheme not in ("mysql", "mariadb") or not parts.hostname:
        raise UsageError(f"--server {server} is not a DSN", "mysql://USER@HOST:PORT, without a password")
    return None, parts.hostname, port, unquote(parts.username) if parts.username else None
