"""A private server: started on a data directory of ours, reached by a socket of ours, gone when we are."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from mydyno.core.errors import HostError, ServerError
from mydyno.core.secrets import Secret
from mydyno.core.server_variables import Setting
from mydyno.core.writing import writing
from mydyno.lab.stack.server.accounts import ADMIN_USER, init_file, set_password
from mydyno.lab.stack.server.initialise import place_settings, room_settings
from mydyno.lab.stack.server.opening import Opening, usable_port
from mydyno.lab.stack.server.server import Server
from mydyno.lab.stack.site import PrivateFolder, Site
from mydyno.lab.stack.undo import EndProcesses
from mydyno.machine.local import LocalHost
from mydyno.machine.process_limits import Limits, check
from mydyno.machine.protocol import HeldFile, Host, Process
from mydyno.server.access import dbapi
from mydyno.server.access.login import Login
from mydyno.server.access.session import show_global
from mydyno.server.program.binary import ServerBinary
from mydyno.server.program.command import refuse_covered, server_command
from mydyno.server.program.config import render
from mydyno.server.program.errorlog import hint, telling_lines
from mydyno.server.variables.names import canonical

# Since 8.0.16 MySQL would by itself upgrade a data directory of another release, from which there is no way
# back (MySQL Reference Manual, "Server Command Options", --upgrade).
_NO_UPGRADE: dict[str, Setting] = {"upgrade": "NONE"}

# The copy of a replica must not go on replicating, nor that of a server with events go on running them.
_ADOPTED: dict[str, Setting] = {
    "skip_slave_start": True,
    "skip_replica_start": True,
    "event_scheduler": False,
}

_LOOPBACK = "127.0.0.1"
_POLL_SECONDS = 0.02
_ANSWER_SECONDS = 30
_HURRY_SECONDS = 5


@dataclass(eq=False, kw_only=True)
class RunningServer(Server):
    """A server that runs now. `socket` always works; `port` (on 127.0.0.1) only when it was requested.

    `error_log` and `config` (its my.cnf) are kept files of this machine that outlive the server.
    """

    pid: int
    socket: Path
    port: int | None
    error_log: Path
    config: Path
    datadir: Path
    places: Mapping[str, Setting]
    """Settings of ours that say where files are that do not lie in the data directory."""
    load_login: Login | None = None
    """How generators on other machines get in; None: it is not open to them."""
    _process: Process = field(repr=False)
    _site: Site = field(repr=False)
    _private: PrivateFolder = field(repr=False)
    _ending: int | None = field(repr=False)
    _log: Path = field(repr=False)
    """Where it writes its log: `error_log`, but on another machine."""
    _log_start: int = field(repr=False)

    def alive(self) -> bool:
        """Whether the process runs; not whether it answers."""
        return self._process.returncode() is None

    def connect(self, *, answer_seconds: int = _ANSWER_SECONDS) -> dbapi.Connection[dbapi.Cursor]:
        """A new connection as root. Raises dbapi.Error."""
        return _connect(self.host, self.socket, self.login.password, answer_seconds)

    def variables(self) -> dict[str, str]:
        """`SHOW GLOBAL VARIABLES`: the settings in force. Raises ServerError when it does not answer."""
        return self._show("VARIABLES")

    def status(self) -> dict[str, str]:
        """`SHOW GLOBAL STATUS`. Raises ServerError when it does not answer."""
        return self._show("STATUS")

    def leave_pages_unwritten(self) -> None:
        """Lets `stop` be quick where its data is thrown away: slow disks write a full pool for minutes.

        InnoDB then flushes its log only, and the next start on that data would have to recover. A server that
        does not take it is stopped as any other.
        """
        with (
            suppress(dbapi.Error, HostError),
            self.connect(answer_seconds=_HURRY_SECONDS) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute("SET GLOBAL innodb_fast_shutdown = 2")

    def stop(self, *, patience_seconds: float = 60.0) -> bool:
        """Shuts it down cleanly, kills it when that takes too long, and removes its private folder.

        True when the server ended by itself and without an error. Stopping a stopped or dead server
        only tidies up.
        """
        self._process.terminate()
        code = self._process.wait(patience_seconds)
        if code is None:
            self._process.kill()
            self._process.wait(10.0)
        self._site.undo(self._ending)
        _fetch(self.host, self._log, self.error_log)
        self._site.remove(self._private)
        return code == 0

    def _show(self, what: str) -> dict[str, str]:
        try:
            with self.connect() as connection, connection.cursor() as cursor:
                return show_global(cursor, what)
        except dbapi.Error as error:
            raise ServerError(f"SHOW GLOBAL {what} was not answered: {_failure(self, error)}") from error


def start_server(
    site: Site,
    binary: ServerBinary,
    *,
    datadir: Path,
    scratch: Path,
    config: Mapping[str, Setting],
    folder: Path,
    port: int | None = None,
    places: Mapping[str, Setting] = MappingProxyType({}),
    limits: Limits | None = None,
    opening: Opening | None = None,
    adopt: bool = False,
    ready_seconds: float = 120.0,
) -> RunningServer:
    """Starts a server on `datadir` with the settings `config` and waits until it answers.

    `places` say where else files are; `adopt`: they are another server's, perhaps of an older release.
    `folder` gets `my.cnf` and `error.log`. Raises SettingsError, MissingToolError (limits), ServerError.
    """
    settings = canonical(binary, config)
    if limits is not None:
        check(site.host, limits)
    port, password = _usable_port(port), Secret.random()
    gate = None if opening is None else _Gate(opening, usable_port(site.host, opening), Secret.random())
    with ExitStack() as failed, _init_file(site, binary, password, port, gate, adopt) as login:
        private = site.short_folder()
        failed.callback(site.remove, private)
        refuse_covered(binary.root, (datadir, scratch, private.path))
        own = place_settings(binary, datadir, scratch) | _unasked(room_settings(binary, site.host), settings)
        own |= {**places, **_access_settings(binary, private.path, port, gate, adopt)}
        _write(site, private, folder, render({**own, "init_file": login.path}, _unasked(settings, own)))
        log, log_start = _open_log(site, private, folder / "error.log", failed)
        ending = site.intend(EndProcesses(argument=_defaults(private)))
        failed.callback(site.undo, ending)
        process = _start(site, binary, private, log, login, limits)
        server = RunningServer(
            login=Login(ADMIN_USER, password, socket=private.path / "s.sock"),
            pid=process.pid,
            socket=private.path / "s.sock",
            port=port,
            version=binary.version,
            error_log=folder / "error.log",
            config=folder / "my.cnf",
            datadir=datadir,
            settings=settings,
            places=places,
            _process=process,
            host=site.host,
            _site=site,
            _private=private,
            _ending=ending,
            _log=log,
            _log_start=log_start,
        )
        _wait_until_it_answers(server, ready_seconds)
        server.load_login = None if gate is None else gate.login(site.host, datadir)
        failed.pop_all()
        return server


@dataclass(frozen=True)
class _Gate:
    """What one start opens to generators."""

    opening: Opening
    port: int
    password: Secret

    def login(self, host: Host, datadir: Path) -> Login:
        return self.opening.login(host, datadir, self.port, self.password)


@contextmanager
def _init_file(
    site: Site, binary: ServerBinary, password: Secret, port: int | None, gate: _Gate | None, adopt: bool
) -> Iterator[HeldFile]:
    """The statements of the server's first start, which it has read when it answers."""
    statements = set_password(binary.version, password, over_network=port is not None, adopt=adopt)
    if gate is not None:
        statements += gate.opening.statements(binary, gate.password)
    file = site.host.hold(init_file(statements))
    try:
        yield file
    finally:
        file.wipe()


def _write(site: Site, private: PrivateFolder, folder: Path, config: str) -> None:
    """my.cnf where the server reads it, and where it is kept."""
    site.host.write_text(private.path / "my.cnf", config, owner=site.host.server_identity)
    LocalHost().write_text(folder / "my.cnf", config)


def _defaults(private: PrivateFolder) -> str:
    return f"--defaults-file={private.path / 'my.cnf'}"


def _open_log(site: Site, private: PrivateFolder, kept: Path, failed: ExitStack) -> tuple[Path, int]:
    """Where the server writes its log, and how many bytes are there already.

    An empty one is made where there is none. From another machine it is fetched, also when the start fails.
    """
    with writing(kept):
        kept.touch()
    if site.host.work_folder is None:
        return kept, kept.stat().st_size
    log = private.path / "error.log"
    failed.callback(_fetch, site.host, log, kept)
    return log, 0


def _start(
    site: Site,
    binary: ServerBinary,
    private: PrivateFolder,
    log: Path,
    login: HeldFile,
    limits: Limits | None,
) -> Process:
    command = server_command(site.host, binary.path, [_defaults(private)], root=binary.root, limits=limits)
    return site.host.start(command.argv, identity=command.identity, output=log, held=[login])


def _fetch(host: Host, log: Path, kept: Path) -> None:
    """Adds what a server of another machine has written to its log to the one that is kept here."""
    if log != kept and (text := host.read_text(log)):
        with writing(kept), kept.open("a") as file:
            file.write(text)


def _unasked(settings: Mapping[str, Setting], others: Mapping[str, Setting]) -> dict[str, Setting]:
    """Those for which `others` has no value."""
    return {name: value for name, value in settings.items() if name not in others}


def _access_settings(
    binary: ServerBinary, private: Path, port: int | None, gate: _Gate | None, adopt: bool
) -> dict[str, Setting]:
    first = _ADOPTED if adopt else _NO_UPGRADE
    settings = {name: value for name, value in first.items() if name in binary.options}
    settings |= {"socket": str(private / "s.sock"), "pid_file": str(private / "pid")}
    if gate is not None:
        settings |= gate.opening.settings(gate.port)
    elif port is None:
        settings["skip_networking"] = True
    else:
        settings |= {"port": port, "bind_address": _LOOPBACK}
    return settings


def _wait_until_it_answers(server: RunningServer, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    last: Exception | None = None
    while server.alive():
        if server.host.exists(server.socket):
            try:
                server.connect(answer_seconds=5).close()
                return
            except dbapi.Error as error:
                last = error
        if time.monotonic() > deadline:
            server._process.kill()
            raise ServerError(
                f"the server did not answer within {seconds:g} s: {_failure(server, last)}",
                "see its error log",
            )
        time.sleep(_POLL_SECONDS)
    raise ServerError(f"the server ended while starting: {_failure(server, None)}", hint(_log(server)))


def _failure(server: RunningServer, error: Exception | None) -> str:
    """What is known of a server that failed: how it ended, what the client heard, what its log says."""
    code = server._process.returncode()
    parts = []
    if code is not None:
        parts.append(f"it was killed by signal {-code}" if code < 0 else f"it ended with exit code {code}")
    if error is not None:
        parts.append(str(error))
    lines = "".join(f"\n    {line}" for line in telling_lines(_log(server)))
    return f"{'; '.join(parts) or 'it is still starting'}\n  {server.error_log} says:{lines}"


def _log(server: RunningServer) -> str:
    """What this very start has written; the file may hold an earlier one's words.

    Read where the server runs: the newest words may not be on this side of a shared folder yet.
    """
    try:
        text = server.host.read_text(server._log)
    except HostError:
        text = LocalHost().read_text(server.error_log)
    return (text or "").encode()[server._log_start :].decode(errors="replace")


def _connect(host: Host, path: Path, password: Secret, answer_seconds: int) -> dbapi.Connection[dbapi.Cursor]:
    from mydyno.server.access.client import BoundedConnection

    # The stream is the host's own unix socket, so MySQL's password may go over it without encryption.
    connection = BoundedConnection(
        path,
        user=ADMIN_USER,
        password=password.reveal().encode(),
        connect_seconds=answer_seconds,
        answer_seconds=answer_seconds,
    )
    try:
        stream = host.dial(path)
    except OSError as error:
        raise dbapi.OperationalError(2002, f"cannot connect to {path}: {error.strerror}") from error
    try:
        connection.connect(stream)
    except BaseException:
        stream.close()
        raise
    return connection


def _usable_port(port: int | None) -> int | None:
    """`port` when a server could listen there now, a free one for 0. Raises ServerError."""
    if port is None:
        return None
    if not 0 <= port <= 65535:
        raise ServerError(f"{port} is not a port", "ports go from 1 to 65535; 0 means any free one")
    with socket.socket() as probe:
        # The server sets the same option, so a connection that lingers in TIME_WAIT stops neither.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_LOOPBACK, port))
            probe.listen()
        except PermissionError as error:
            raise ServerError(
                f"port {port} is reserved for root", "choose a port above 1023, or 0 for any free one"
            ) from error
        except OSError as error:
            raise ServerError(
                f"port {port} on {_LOOPBACK} is in use by another program",
                "choose another port, or 0 for any free one",
            ) from error
        chosen: int = probe.getsockname()[1]
        return chosen
