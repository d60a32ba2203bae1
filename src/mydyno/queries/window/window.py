"""A window into what a server runs: its slow log on for a while, everything back, then the entries."""

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from mydyno.apply.acts.held_variables import HoldVariables, holding
from mydyno.apply.apply_context import ApplyContext
from mydyno.apply.store.application import new_application
from mydyno.apply.store.store import Store
from mydyno.apply.transaction import held_while
from mydyno.core.errors import ServerError, UndoError
from mydyno.core.server_version import Version, parse_version
from mydyno.core.units import format_bytes
from mydyno.queries.window.connections import Sessions, must_be_allowed, sessions, still_there
from mydyno.queries.window.files import FileLog, Files, files_far, files_here
from mydyno.queries.window.settings import Settings, Wish, hidden, settings, unseen
from mydyno.queries.window.table import ANSWER_SECONDS, TableLog, has_fractions
from mydyno.queries.window.watching import Log, Watched, limits, watch
from mydyno.server.access import dbapi
from mydyno.server.access.login import Login
from mydyno.server.access.session import process_of, session, show_global, version_line
from mydyno.survey.host.machine import LocalMachine, Machine
from mydyno.survey.server.interval import Report, Wait, pause

_LOCK = "mydyno slowlog"
_FAST = 0.01
"""Seconds: below such a threshold a busy server may write more than its disk takes."""
_RATE_SECONDS = 1.0
_ENTRY_BYTES = 400
"""About, of an entry of a short statement."""
_ENTRY_SECONDS = 10e-6
"""About, of a server's CPU to format and write an entry: an estimate, to be shown before the log is on."""
_IDLE_SECONDS = 3600
"""More than the session is ever left alone: some servers cut idle ones off after a minute."""


@dataclass(frozen=True)
class Caught:
    """What a window has caught, its settings restored or not."""

    log: Log
    watched: Watched
    remarks: tuple[str, ...]
    """What went wrong or is not in it, a sentence each."""
    not_restored: UndoError | None = None


@dataclass(frozen=True)
class Window:
    """A server that was read, and on which nothing has been changed yet."""

    login: Login
    version: Version
    act: HoldVariables
    """What is to be set."""
    log: Log
    remarks: tuple[str, ...]
    """What will not be in the log, and what it may cost, a sentence each."""
    _cursor: dbapi.Cursor = field(repr=False)
    _unseen: Sessions | None = field(repr=False)
    """Connections that keep a separate threshold."""

    def catch(
        self,
        store: Store,
        seconds: float,
        most_bytes: int,
        reporting: AbstractContextManager[Report],
        wait: Wait = pause,
    ) -> Caught:
        """Turns the log on, waits, restores everything. The store is held by the caller.

        `reporting` is entered when the guardian has been forked: what shows progress may have threads.

        Raises ApplyError when the server refuses a setting, HostError when the log's machine is lost, both
        with everything restored; UndoError when that failed before anything was caught.
        """
        limit = limits(self.log, seconds, most_bytes)
        server = f"{self.version} at {self.login.address}"
        entry = store.add(new_application("hold", server, ("slow log",), (self.act,)), ())
        watched: Watched | None = None
        failure: UndoError | None = None
        messages: list[str] = []
        try:
            with held_while(entry, ApplyContext(login=self.login), messages.append):
                messages.clear()  # What it did was shown before; what it reports at its end was not.
                self.log.begin()
                with reporting as report:
                    watched = watch(self.log, limit, self._is_alive, report, wait)
                self._end(watched)
        except UndoError as error:
            if watched is None:
                raise
            failure = error
        assert watched is not None
        messages += self.log.settle()
        if limit.most_bytes < most_bytes:
            messages.append(f"the limit was {format_bytes(limit.most_bytes)}, half of what its disk has free")
        return Caught(self.log, watched, (*messages, *self._still_there()), failure)

    def _end(self, watched: Watched) -> None:
        try:
            self.log.end()
        except ServerError:
            if watched.ended is None:
                raise

    def _is_alive(self) -> bool:
        try:
            self._cursor.execute("DO 1")
        except (dbapi.Error, OSError):
            return False
        return True

    def _still_there(self) -> tuple[str, ...]:
        left = None if self._unseen is None else still_there(self.login, self._unseen)
        if not left:
            return ()
        return (
            f"{left} of the connections that were open before are still connected: statements of a "
            "connection pool are logged completely only after it has reconnected",
        )


@contextmanager
def open_window(
    login: Login, machine: Machine | None, wish: Wish, *, without_host: bool = False
) -> Iterator[Window]:
    """Reads the server, and changes nothing. `machine` None: this one, if the server is seen to run here.

    While it is open no other mydyno opens one on the same server.
    Raises ServerError when there is no way in, or a right is missing; UsageError as `settings` does.
    """
    with session(login, answer_seconds=ANSWER_SECONDS) as cursor:
        _must_be_the_only_one(cursor, login)
        variables = {name.lower(): value for name, value in show_global(cursor, "VARIABLES").items()}
        version = parse_version(version_line(variables))
        pid = process_of(cursor, login, variables)
        files = None if without_host else _files(machine, variables, pid)
        wanted = settings(variables, wish, levels=_levels(cursor, version), reads_file=files is not None)
        must_be_allowed(cursor, wanted.values, wanted.output)
        before = sessions(cursor, wish.threshold)
        _be_unseen(cursor)
        log: Log
        if wanted.output == "FILE" and files is not None:
            log = FileLog(files)
        else:
            log = TableLog(login, cursor, is_mariadb=version.is_mariadb)
        apart = unseen(version, variables, wish, before.count, before.above)
        remarks = list(_remarks(cursor, version, variables, wish, wanted))
        if apart is not None:
            remarks.append(apart + (f" ({before.who()})" if before.users else ""))
        act = holding(ApplyContext(login=login), wanted.values)
        yield Window(login, version, act, log, tuple(remarks), cursor, None if apart is None else before)


def _files(machine: Machine | None, variables: Mapping[str, str], pid: int | None) -> Files | None:
    if machine is None and pid is None:
        return None
    if machine is None or isinstance(machine, LocalMachine):
        return files_here(variables, pid)
    return files_far(variables, machine)


def _must_be_the_only_one(cursor: dbapi.Cursor, login: Login) -> None:
    """By a lock of the server's own, since the other may be on another machine."""
    # The server frees the lock of a connection a moment after it was closed.
    cursor.execute("SELECT GET_LOCK(%s, 2)", (_LOCK,))
    row = cursor.fetchone()
    if row is None or row[0] != 1:
        raise ServerError(
            f"{login.address}: another mydyno has turned this server's slow log on for a while",
            "wait until it ends, or stop it: two of them would restore each other's settings",
        )


def _be_unseen(cursor: dbapi.Cursor) -> None:
    """This session watches while the others are logged."""
    cursor.execute(f"SET SESSION wait_timeout = {_IDLE_SECONDS}")
    cursor.execute("SET SESSION long_query_time = 31536000")
    try:
        cursor.execute("SET SESSION min_examined_row_limit = 4294967295")
    except dbapi.Error:
        return  # MySQL 8 wants a right for this one; then a read of the table may be in the log, too.


def _levels(cursor: dbapi.Cursor, version: Version) -> frozenset[str]:
    """The words of log_slow_verbosity, which only MariaDB lists."""
    if not version.is_mariadb:
        return frozenset()
    cursor.execute(
        "SELECT enum_value_list FROM information_schema.system_variables"
        " WHERE variable_name = 'log_slow_verbosity'"
    )
    row = cursor.fetchone()
    return frozenset(str(row[0]).lower().split(",")) if row and row[0] else frozenset()


def _remarks(
    cursor: dbapi.Cursor,
    version: Version,
    variables: Mapping[str, str],
    wish: Wish,
    wanted: Settings,
) -> Iterator[str]:
    yield from hidden(version, variables, wish)
    if wanted.output == "TABLE" and not has_fractions(cursor):
        yield (
            "mysql.slow_log of this release has whole seconds only, so shorter statements count as 0 s: "
            "use the log's file (--ssh)"
        )
    if wanted.output == "TABLE" and version.is_mariadb:
        yield "mysql.slow_log of MariaDB is text: bytes that are not UTF-8 are replaced by ? in it"
    if wish.threshold < _FAST:
        yield _rate(cursor)


def _rate(cursor: dbapi.Cursor) -> str:
    """What a threshold near 0 may write in a second at most."""
    before, began = _queries(cursor), time.monotonic()
    pause(_RATE_SECONDS)
    rate = (_queries(cursor) - before) / (time.monotonic() - began)
    return (
        f"the server runs {rate:.0f} statements a second now, and with this threshold about all of them are"
        f" written: {format_bytes(int(rate * _ENTRY_BYTES))} a second, for about {rate * _ENTRY_SECONDS:.1%}"
        " of one CPU"
    )


def _queries(cursor: dbapi.Cursor) -> int:
    return int(show_global(cursor, "STATUS LIKE 'Queries'").get("Queries", 0))
