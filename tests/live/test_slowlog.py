"""`mydyno slowlog` on real servers: whatever ends it, every setting is as before.

The child of the kill tests counts what it sends to the server, and kills itself before one of its packets: so
every place where a kill can leave a setting behind is tried.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from live.slow_servers import run, server, set_globals, unchanged, variables
from mydyno.apply.store.store import Store, changes_folder
from mydyno.cli.main import app
from mydyno.core.errors import LabError, UndoError, UsageError
from mydyno.lab.stack import RunningServer
from mydyno.queries.saved import read_saved
from mydyno.queries.window import Wish, open_window

pytestmark = pytest.mark.live

__all__ = ["server"]

_SLOW = pytest.mark.slow
_EVERY = pytest.mark.parametrize("step", [7, pytest.param(1, marks=_SLOW)])
"""Which packets are tried."""


class Slowlog:
    """The command line against one server, with a folder of applications of its own."""

    def __init__(self, server: RunningServer, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self.options = folder / "client.cnf"
        self.options.write_text(
            f"[client]\nuser={server.login.user}\npassword={server.login.password.reveal()}\n"
            f"socket={server.login.socket}\n"
        )
        self.options.chmod(0o600)

    @property
    def store(self) -> Store:
        return Store(changes_folder(Path("/")))

    def run(self, *words: str) -> Result:
        """Raises what the command raises."""
        words = (words[0], "--defaults-file", str(self.options), *words[1:])
        return CliRunner().invoke(app, words, catch_exceptions=False)

    def start(self, *words: str, command: str = "slowlog") -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", "mydyno", command, "--defaults-file", str(self.options)]
        return subprocess.Popen(
            [*argv, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )

    def wait_until_it_watches(self, child: subprocess.Popen[bytes]) -> bytes:
        """All that it has said by then."""
        assert child.stderr is not None
        said = b""
        while b"watching" not in said:
            line = child.stderr.readline()
            assert line, said
            said += line
        assert variables(self.server.login)["slow_query_log"] == "ON"
        return said

    def wait_for_the_guardian(self) -> None:
        """It holds the store's lock until it is through."""
        with (self.store.folder / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)


@pytest.fixture
def slowlog(server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Slowlog:
    monkeypatch.setenv("MYDYNO_STATE", str(tmp_path / "state"))
    return Slowlog(server, tmp_path)


def test_a_window_is_digested_saved_and_kept_in_the_history(slowlog: Slowlog, tmp_path: Path) -> None:
    log = tmp_path / "kept.log"
    with unchanged(slowlog.server.login):
        child = slowlog.start("--for", "2s", "--threshold", "50ms", "--json", "--save", str(log))
        announced = slowlog.wait_until_it_watches(child)
        run(slowlog.server.login, *["SELECT SLEEP(0.06)"] * 3, "SELECT SLEEP(0.07), 'b'", "SELECT 1")
        output, said = child.communicate(timeout=60)
        assert child.returncode == 0, said
    found = read_saved(output, "standard output")
    assert [(group.fingerprint, group.count) for group in found.groups] == [
        ("select sleep(?)", 3),
        ("select sleep(?), ?", 1),
    ]
    assert found.sources[0].name == str(log)
    assert log.read_bytes().count(b"SLEEP(0.06)") == 3
    assert log.stat().st_mode & 0o777 == 0o600
    assert b"SET GLOBAL for a while: " in announced
    assert b"all settings are restored" in said
    assert b"without plans" not in said
    (row,) = json.loads(_history())
    assert (row["does"], row["findings"], row["state"]) == ("hold", ["slow log"], "restored")
    with pytest.raises(UsageError, match="exists already"):
        slowlog.run("slowlog", "--for", "1s", "--save", str(log))


@pytest.mark.parametrize(
    "number", [signal.SIGINT, *(pytest.param(each, marks=_SLOW) for each in (signal.SIGTERM, signal.SIGHUP))]
)
def test_a_signal_ends_it_early_and_what_was_caught_is_reported(
    slowlog: Slowlog, number: signal.Signals
) -> None:
    with unchanged(slowlog.server.login):
        child = slowlog.start("--for", "1h", "--threshold", "0.05")
        slowlog.wait_until_it_watches(child)
        run(slowlog.server.login, "SELECT SLEEP(0.06)")
        child.send_signal(number)
        output, said = child.communicate(timeout=60)
    assert b"ended early" in said
    assert b"select sleep(?)" in output
    assert child.returncode == 0, said


def test_a_kill_in_the_window_is_put_back_by_the_guardian(slowlog: Slowlog) -> None:
    with unchanged(slowlog.server.login):
        child = slowlog.start("--for", "1h", "--threshold", "0.05")
        slowlog.wait_until_it_watches(child)
        child.kill()
        child.communicate(timeout=60)
        slowlog.wait_for_the_guardian()
    assert slowlog.store.unfinished() == []


@pytest.mark.parametrize(
    "command", ["rollback", *(pytest.param(each, marks=_SLOW) for each in ("cleanup", "slowlog"))]
)
def test_a_kill_of_both_is_put_back_by_the_next_mydyno(slowlog: Slowlog, command: str) -> None:
    more = {
        "rollback": (),
        "cleanup": ("--lab", str(slowlog.folder / "none")),
        "slowlog": ("--for", "1ms", "--threshold", "1"),
    }
    with unchanged(slowlog.server.login):
        child = slowlog.start("--for", "1h", "--threshold", "0.05")
        slowlog.wait_until_it_watches(child)
        guardian = _child_of(child.pid)
        os.kill(guardian, signal.SIGKILL)
        child.kill()
        child.communicate(timeout=60)
        assert len(slowlog.store.unfinished()) == 1
        result = slowlog.run(command, *more[command])
        assert result.exit_code == 0
    assert "everything has been restored" in result.output
    assert slowlog.store.unfinished() == []


@_EVERY
@pytest.mark.parametrize("both", [False, True], ids=["alone", "with-its-guardian"])
def test_a_kill_before_any_packet_to_the_server_leaves_no_setting_behind(
    slowlog: Slowlog, step: int, both: bool
) -> None:
    login = slowlog.server.login
    before = variables(login)
    set_globals(login, min_examined_row_limit=7)
    try:
        before = variables(login)
        for number in range(1, 500, step):
            if not _killed(
                lambda: _window(slowlog), main_at=number, guardian_at=1 + number % 9 if both else None
            ):
                break
            slowlog.wait_for_the_guardian()
            if slowlog.store.unfinished():
                slowlog.run("rollback")
            assert slowlog.store.unfinished() == []
            assert variables(login) == before, f"killed before packet {number}"
        else:
            pytest.fail("it never ended by itself")
        assert number > 20
        assert variables(login) == before
    finally:
        set_globals(login, min_examined_row_limit=0)


def test_while_one_is_at_work_others_are_refused_and_shown_what_it_does(slowlog: Slowlog) -> None:
    child = slowlog.start("--for", "1h", "--threshold", "0.05")
    try:
        slowlog.wait_until_it_watches(child)
        for command in (("slowlog", "--for", "1s"), ("rollback",)):
            with pytest.raises(LabError, match=r"another mydyno changes this system .*hold slow log"):
                slowlog.run(*command)
    finally:
        child.terminate()
        child.communicate(timeout=60)
    assert variables(slowlog.server.login)["slow_query_log"] == "OFF"


def test_what_was_left_on_another_server_is_not_put_back_on_this_one(slowlog: Slowlog) -> None:
    from mydyno.apply.store.application import new_application

    with open_window(slowlog.server.login, None, Wish(0.05)) as window:
        act = window.act.model_copy(update={"server": "elsewhere:3306/var/lib/mysql/"})
    store = slowlog.store
    with store.held():
        entry = store.add(new_application("hold", "another", ("slow log",), (act,)), ())
        entry.journal.begin(0)
    with unchanged(slowlog.server.login), pytest.raises(UndoError, match="was set on elsewhere:3306"):
        slowlog.run("rollback")
    assert len(store.unfinished()) == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--for", "soon"), "--for soon: not a duration"),
        (("--threshold", "fast"), "--threshold fast: not a duration"),
        (("--threshold", "-1"), "--threshold -1: not a duration"),
        (("--max-size", "big"), "--max-size big: not a size"),
        (("--ssh", "a b"), "not a machine that can be read"),
    ],
)
def test_what_cannot_be_understood_is_refused_before_anything_is_done(
    slowlog: Slowlog, words: tuple[str, ...], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        slowlog.run("slowlog", *words)


def _history() -> str:
    return CliRunner().invoke(app, ["history", "--json"], catch_exceptions=False).output


def _window(slowlog: Slowlog) -> None:
    with (
        slowlog.store.held(),
        open_window(slowlog.server.login, None, Wish(0.05)) as window,
    ):
        window.catch(slowlog.store, 0.001, 1 << 30, nullcontext(lambda text: None), lambda seconds: None)


def _child_of(pid: int) -> int:
    while True:
        with suppress(OSError):
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            if children:
                return int(children[0])


def _killed(work: Callable[[], None], main_at: int, guardian_at: int | None) -> bool:
    """Runs `work` in a child that is killed before its packet `main_at`; whether it came to that."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _kill_before(main_at, guardian_at)
            work()
            code = 0
        finally:
            sys.setprofile(None)
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def _kill_before(main_at: int, guardian_at: int | None) -> None:
    main, packets = os.getpid(), {}

    def count(frame: FrameType, event: str, function: Any) -> None:
        # An encrypted connection's is written in Python.
        name = frame.f_code.co_name if event == "call" else getattr(function, "__name__", None)
        if event not in ("call", "c_call") or name != "sendall":
            return
        me = os.getpid()
        packets[me] = packets.get(me, 0) + 1
        if packets[me] == (main_at if me == main else guardian_at):
            os.kill(me, signal.SIGKILL)

    sys.setprofile(count)
