"""A client killed inside SET GLOBAL: the statement runs on, and nothing is put back before it has ended."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from apply.builders import finding

from live.conftest import Start
from live.test_apply import wait_for_guardian
from live.test_external_server import ask, option_file
from mydyno.apply.acts.held_variables import holding
from mydyno.apply.apply_context import ApplyContext
from mydyno.apply.change import SetVariable
from mydyno.apply.preparing import prepare
from mydyno.apply.reading import find_server
from mydyno.apply.store.application import AnyAct, new_application
from mydyno.apply.store.store import Entry, Store
from mydyno.apply.transaction import carry_out, held_while
from mydyno.core.errors import ServerError
from mydyno.lab.stack import Journal, RunningServer, ServerBinary, Site
from mydyno.lab.stack.server.external import attach
from mydyno.machine.local import LocalHost
from mydyno.server.access.address import External
from mydyno.server.access.session import session
from mydyno.server.variables.setting_lock import new_lock, take_lock

pytestmark = pytest.mark.live

NAME = "innodb_log_file_size"
OLD, NEW = 16 << 20, 6 << 30
"""Growing to this size takes the server about a second."""
RUNNING = f"SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SET GLOBAL {NAME}%'"


@pytest.fixture
def server(start: Start, binary: ServerBinary) -> RunningServer:
    if not binary.version.is_mariadb or binary.version.numbers < (10, 9):
        pytest.skip(f"{binary.version} does not resize its redo log inside SET GLOBAL")
    return start({NAME: OLD})


@contextmanager
def killed_inside_set_global(server: RunningServer, act: Callable[[], object]) -> Iterator[None]:
    """The block runs when a child that did `act` has been killed while its SET GLOBAL runs on."""
    child = os.fork()
    if child == 0:
        try:
            act()
        finally:
            os._exit(1)
    deadline = time.monotonic() + 60
    try:
        while ask(server, RUNNING) != (1,):
            assert time.monotonic() < deadline, f"no SET GLOBAL {NAME} was seen"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    yield


def settled(server: RunningServer) -> object:
    """The value when no statement changes it any more."""
    deadline = time.monotonic() + 60
    while ask(server, RUNNING) != (0,):
        assert time.monotonic() < deadline, "SET GLOBAL runs on"
        time.sleep(0.02)
    return ask(server, f"SELECT @@GLOBAL.{NAME}")[0]


def _stored(store: Store, act: AnyAct) -> Entry:
    return store.add(new_application("apply", "a server", ("tried",), (act,)), ())


def _applied(store: Store, context: ApplyContext) -> None:
    change = SetVariable(name=NAME, value=str(NEW), was=None, restart=False)
    assert context.login is not None
    live = prepare([finding("tried", change)], context, find_server(context.login)).live
    with store.held():
        carry_out(_stored(store, live[0]), context, lambda line: None)


def _held(store: Store, context: ApplyContext) -> None:
    with store.held(), held_while(_stored(store, holding(context, {NAME: NEW})), context, lambda line: None):
        pass


@pytest.mark.parametrize("way", [_applied, _held])
def test_what_a_killed_mydyno_was_setting_is_put_back_by_its_guardian(
    server: RunningServer, tmp_path: Path, way: Callable[[Store, ApplyContext], None]
) -> None:
    store, context = Store(tmp_path / "changes"), ApplyContext(login=server.login)
    store.folder.mkdir()
    with killed_inside_set_global(server, lambda: way(store, context)):
        wait_for_guardian(store)
    [entry] = store.entries()
    assert entry.progress.phase == "restored", entry.progress.because
    assert settled(server) == OLD


def test_what_a_killed_run_was_setting_on_a_foreign_server_is_put_back_by_the_journal(
    server: RunningServer, tmp_path: Path
) -> None:
    lab = tmp_path / "lab"
    lab.mkdir()
    external = External.model_validate(
        {"defaults_file": str(option_file(tmp_path, server)), "database": "test"}
    )

    def set_it() -> None:
        attach(Site(lab, LocalHost(), Journal(lab)), external, {NAME: NEW})

    with killed_inside_set_global(server, set_it):
        journal = Journal(lab)
        assert journal.replay() != []
    assert settled(server) == OLD


def test_a_session_that_does_not_end_is_named_and_waited_for_no_longer_than_said(
    server: RunningServer,
) -> None:
    lock = new_lock()
    with session(server.login) as holder, session(server.login) as other:
        take_lock(holder, lock)
        holder.execute("SELECT CONNECTION_ID()")
        row = holder.fetchone()
        assert row is not None
        with pytest.raises(ServerError, match=f"connection {row[0]} still runs"):
            take_lock(other, lock, patience_seconds=-1.0)


def test_a_session_that_the_account_may_not_end_is_reported_as_such(server: RunningServer) -> None:
    lock = new_lock()
    ask(server, "CREATE USER nobody_much@localhost")
    weak = type(server.login)("nobody_much", type(server.login.password)(""), socket=server.socket)
    with session(server.login) as holder, session(weak) as other:
        take_lock(holder, lock)
        with pytest.raises(ServerError, match="this account may not end it"):
            take_lock(other, lock)
