"""The slow log of real servers on for a while: what it catches, and that every setting is as before."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path

import pymysql
import pytest

from live.conftest import Start
from live.slow_servers import run, server, set_globals, unchanged, variables
from live.sshd import private_sshd
from mydyno.apply.apply_context import ApplyContext
from mydyno.apply.store.store import Store
from mydyno.core.errors import ServerError
from mydyno.core.secrets import Secret
from mydyno.lab.stack import RunningServer
from mydyno.queries.window import Caught, Wish, open_window
from mydyno.server.access.login import Login
from mydyno.server.access.session import session
from mydyno.survey.host.ssh import SshMachine

pytestmark = pytest.mark.live

__all__ = ["server"]

WISH = Wish(threshold=0.05)
SLOW, FAST = "SELECT SLEEP(0.07), '%s'", "SELECT '%s'"


def sleeps_in(text: bytes) -> int:
    """Entries of statements that sleep: any other may be slow too, where the disk or the CPU is busy."""
    return text.count(b"\nSELECT SLEEP(")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "changes")


def catch(
    login: Login,
    store: Store,
    during: Callable[[], None],
    *,
    table: bool = False,
    seconds: float = 0.6,
    most_bytes: int = 1 << 30,
    wish: Wish = WISH,
) -> tuple[Caught, bytes]:
    """A window in which `during` happens, and the text of what it has caught."""
    to_do = [during]

    def wait(left: float) -> None:
        if to_do:
            to_do.pop()()
        else:
            threading.Event().wait(min(left, 0.05))

    with open_window(login, None, wish, without_host=table) as window, store.held():
        caught = window.catch(store, seconds, most_bytes, nullcontext(lambda text: None), wait)
        return caught, b"".join(caught.log.blocks())


@pytest.mark.parametrize("table", [False, True], ids=["file", "table"])
@pytest.mark.parametrize("was_on", [False, True], ids=["was-off", "was-on"])
def test_what_is_slower_than_the_threshold_in_the_window_and_nothing_else_is_caught(
    server: RunningServer, store: Store, table: bool, was_on: bool
) -> None:
    login = server.login
    if was_on:
        set_globals(login, long_query_time=0.01, slow_query_log="ON")
    try:
        with unchanged(login):
            run(login, SLOW % "before", FAST % "before")
            caught, text = catch(
                login,
                store,
                lambda: run(login, *[SLOW % "within"] * 3, *[FAST % "within"] * 5, "SELECT SLEEP(0.07)"),
                table=table,
            )
            run(login, SLOW % "after", FAST % "after")
    finally:
        set_globals(login, long_query_time=10, slow_query_log="OFF")
    assert text.count(b"SLEEP(0.07), 'within'") == 3
    assert sleeps_in(text) == 4
    assert b"before" not in text
    assert b"after" not in text
    assert caught.watched.amount.entries == text.count(b"# User@Host: ") >= 4
    assert caught.watched.ended is None
    assert caught.not_restored is None
    assert store.unfinished() == []


@pytest.mark.parametrize("table", [False, True], ids=["file", "table"])
def test_with_threshold_0_mydyno_is_not_in_what_it_catches(
    server: RunningServer, store: Store, table: bool
) -> None:
    with unchanged(server.login):
        _, text = catch(
            server.login, store, lambda: run(server.login, "SELECT 'seen'"), table=table, wish=Wish(0)
        )
    assert b"SELECT 'seen'" in text
    for ours in (b"SHOW GLOBAL", b"@@GLOBAL", b"SET GLOBAL", b"slow_log", b"DO 1", b"GET_LOCK"):
        assert ours not in text


def test_a_log_that_is_rotated_in_the_window_is_caught_whole(server: RunningServer, store: Store) -> None:
    login = server.login
    with session(login) as cursor:
        cursor.execute("SELECT @@GLOBAL.datadir, @@GLOBAL.slow_query_log_file")
        path = Path(*cursor.fetchone())

    def rotate() -> None:
        for number in (1, 2):
            run(login, SLOW % f"within {number}")
            path.rename(path.with_name(f"{path.name}.{number}"))
            if number == 2:
                path.with_name(f"{path.name}.2").unlink()
            run(login, SLOW % f"late {number}", "FLUSH SLOW LOGS")
        run(login, SLOW % "within 3")

    with unchanged(login):
        caught, text = catch(login, store, rotate)
    lines = [name for name in ("within 1", "late 1", "within 3") if name.encode() in text]
    assert lines == ["within 1", "late 1", "within 3"]
    assert caught.not_restored is None


@pytest.mark.slow
def test_over_ssh_the_same_is_caught_from_file_to_file(
    server: RunningServer, store: Store, tmp_path: Path
) -> None:
    login = server.login
    with session(login) as cursor:
        cursor.execute("SELECT @@GLOBAL.datadir, @@GLOBAL.slow_query_log_file")
        path = Path(*cursor.fetchone())

    def rotate() -> None:
        run(login, SLOW % "within \xe9 1")
        path.rename(path.with_name(f"{path.name}.old"))
        run(login, SLOW % "late 1", "FLUSH SLOW LOGS", SLOW % "within 2")

    with (
        unchanged(login),
        private_sshd(tmp_path) as sshd,
        closing(SshMachine("root@127.0.0.1", sshd.port, sshd.options)) as far,
    ):
        run(login, SLOW % "before")
        steps = iter([rotate])
        with open_window(login, far, WISH) as window, store.held():
            assert window.log.name == f"root@127.0.0.1:{path}"
            caught = window.catch(
                store, 0.8, 1 << 30, nullcontext(lambda text: None), lambda left: next(steps, lambda: None)()
            )
        text = b"".join(caught.log.blocks())
    assert sleeps_in(text) == 3
    assert "'within \xe9 1'".encode() in text
    assert caught.watched.amount.bytes >= len(text)


def test_a_cut_log_is_reported(server: RunningServer, store: Store) -> None:
    login = server.login
    with session(login) as cursor:
        cursor.execute("SELECT @@GLOBAL.datadir, @@GLOBAL.slow_query_log_file")
        path = Path(*cursor.fetchone())
    steps = iter([lambda: run(login, SLOW % "lost"), lambda: os.truncate(path, 0)])
    with open_window(login, None, WISH) as window, store.held():
        caught = window.catch(
            store,
            0.6,
            1 << 30,
            nullcontext(lambda text: None),
            lambda left: next(steps, lambda: run(login, SLOW % "kept"))(),
        )
        text = b"".join(caught.log.blocks())
    assert b"kept" in text
    assert any("was truncated while it was watched" in line for line in caught.remarks)


def test_it_ends_when_it_has_caught_as_much_as_it_may(server: RunningServer, store: Store) -> None:
    with unchanged(server.login):
        caught, _ = catch(
            server.login,
            store,
            lambda: run(server.login, *[SLOW % ("x" * 500)] * 3),
            seconds=30,
            most_bytes=1000,
        )
    assert "1000 is the limit" in (caught.watched.ended or "")


def test_an_account_without_the_right_is_shown_the_grant_and_nothing_is_set(
    server: RunningServer, store: Store
) -> None:
    run(server.login, "CREATE USER poor@localhost IDENTIFIED BY 'pw'")
    poor = Login("poor", Secret("pw"), socket=server.login.socket)
    try:
        with (
            unchanged(server.login),
            pytest.raises(ServerError, match=r"'poor'@'localhost' cannot set .*slow_query_log") as raised,
            open_window(poor, None, WISH),
        ):
            pytest.fail("it began")
    finally:
        run(server.login, "DROP USER poor@localhost")
    assert "GRANT S" in (raised.value.hint or "")
    assert "ON *.* TO 'poor'@'localhost'" in (raised.value.hint or "")


def test_a_second_window_on_the_server_is_refused_whoever_opens_it(server: RunningServer) -> None:
    with (
        open_window(server.login, None, WISH),
        pytest.raises(ServerError, match="another mydyno has turned this server's slow log on"),
        open_window(server.login, None, WISH),
    ):
        pytest.fail("it began")


def test_what_somebody_else_sets_in_the_window_stays_and_is_reported(
    server: RunningServer, store: Store
) -> None:
    try:
        caught, _ = catch(server.login, store, lambda: set_globals(server.login, long_query_time=3))
        assert variables(server.login)["long_query_time"] == "3.000000"
        assert variables(server.login)["slow_query_log"] == "OFF"
        assert any(
            "long_query_time = 3.000000 has been set by another session" in line for line in caught.remarks
        )
    finally:
        set_globals(server.login, long_query_time=10)


def test_after_a_restart_of_the_server_nothing_is_put_back(server: RunningServer) -> None:
    with open_window(server.login, None, WISH) as window:
        context = ApplyContext(login=server.login)
        earlier = window.act.model_copy(update={"started_at": window.act.started_at - 100})
    with unchanged(server.login):
        assert "has been restarted since" in str(earlier.take_back(context))


def test_connections_that_were_open_before_are_reported_unless_they_are_seen(
    server: RunningServer, store: Store
) -> None:
    """What the remark says of them is what the server does."""
    with session(server.login) as idle:

        def old_and_new() -> None:
            idle.execute(SLOW % "old")
            idle.fetchall()
            run(server.login, SLOW % "new")

        with open_window(server.login, None, WISH) as window, store.held():
            assert any("open before" in line and "(root 1)" in line for line in window.remarks)
            steps = iter([old_and_new])
            caught = window.catch(
                store, 0.4, 1 << 30, nullcontext(lambda text: None), lambda left: next(steps, lambda: None)()
            )
            text = b"".join(caught.log.blocks())
    assert b"'new'" in text
    assert b"'old'" not in text
    assert any(line.startswith("1 of the connections") for line in caught.remarks)


def test_a_database_and_a_statement_with_odd_bytes_come_through_the_table(
    server: RunningServer, store: Store
) -> None:
    odd = "SELECT SLEEP(0.07), 'a\\';\nb' AS `c d`"
    run(server.login, "CREATE DATABASE IF NOT EXISTS `a b`")

    def during() -> None:
        run(server.login, "USE `a b`", odd + ";")

    _, text = catch(server.login, store, during, table=True)
    assert b"\nuse a b;\n" + odd.encode() + b";\n" in text
    run(server.login, "DROP DATABASE `a b`")


def test_a_server_that_goes_away_in_the_window_leaves_what_was_caught(start: Start, store: Store) -> None:
    server = start()

    def die() -> None:
        run(server.login, SLOW % "last")
        os.kill(server.pid, signal.SIGKILL)

    caught, text = catch(server.login, store, die, seconds=30)
    assert caught.watched.ended == "the server is no longer reachable"
    assert b"'last'" in text
    assert caught.not_restored is not None
    assert len(store.unfinished()) == 1
    with pytest.raises(pymysql.Error):
        server.login.connect()
