"""`mydyno apply` and `rollback` on a real server of the test's own: its variables and its option file."""

from __future__ import annotations

import fcntl
import os
import re
import signal
from pathlib import Path

import pytest
from apply.builders import advice, finding
from typer.testing import CliRunner, Result

from live.conftest import Start
from mydyno.apply import allowed
from mydyno.apply.apply_context import ApplyContext
from mydyno.apply.change import SetVariable
from mydyno.apply.preparing import prepare
from mydyno.apply.reading import find_server
from mydyno.apply.store.application import new_application
from mydyno.apply.store.store import Store, changes_folder
from mydyno.apply.transaction import carry_out
from mydyno.cli.main import app
from mydyno.core.errors import ApplyError, MydynoError
from mydyno.core.server_version import Version
from mydyno.lab.stack import RunningServer, ServerBinary
from mydyno.server.access.session import session

pytestmark = pytest.mark.live


class Applying:
    """The command line against one server, with a folder of applications of its own."""

    def __init__(
        self, server: RunningServer, version: Version, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.server = server
        self.version = version
        self.folder = folder
        self.options = folder / "client.cnf"
        self.options.write_text(
            f"[client]\nuser={server.login.user}\npassword={server.login.password.reveal()}\n"
            f"socket={server.login.socket}\n"
        )
        self.options.chmod(0o600)
        monkeypatch.setenv("MYDYNO_STATE", str(folder / "state"))

    def run(self, *words: str) -> str:
        """Raises what the command raises."""
        done: Result = CliRunner().invoke(app, [*words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    def apply(self, *changes: SetVariable, words: tuple[str, ...] = ("--yes",)) -> str:
        file = self.folder / "advice.json"
        version = f"{self.version} at {self.server.login.socket}"
        file.write_text(advice(finding("tried", *changes)).model_copy(update={"server": version}).to_json())
        return self.run("apply", str(file), "--defaults-file", str(self.options), *words)

    def rollback(self) -> str:
        return self.run("rollback", "--yes", "--defaults-file", str(self.options))

    @property
    def option_file(self) -> Path:
        """The one that the server was started with."""
        words = Path(f"/proc/{self.server.pid}/cmdline").read_text().split("\0")
        (path,) = (word.partition("=")[2] for word in words if word.startswith("--defaults-file="))
        return Path(path)

    def value(self, name: str) -> str:
        with session(self.server.login) as cursor:
            cursor.execute("SHOW GLOBAL VARIABLES LIKE %s", (name,))
            row = cursor.fetchone()
        assert row is not None
        return str(row[1])


@pytest.fixture
def applying(start: Start, binary: ServerBinary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Applying:
    return Applying(start({"thread_cache_size": 8}), binary.version, tmp_path, monkeypatch)


def _set(name: str, value: str, was: str | None = None, *, restart: bool = False) -> SetVariable:
    return SetVariable(name=name, value=value, was=was, restart=restart)


def wait_for_guardian(store: Store) -> None:
    """Returns when the guardian of a killed process is through: it holds the store's lock until then."""
    with (store.folder / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)


def test_variables_are_set_at_once_and_written_down_and_both_are_taken_back(
    applying: Applying,
) -> None:
    mine = applying.option_file
    before = mine.read_bytes(), mine.stat().st_mode, mine.stat().st_uid
    done = applying.apply(
        _set("thread_cache_size", "20", "8"), _set("innodb_log_file_size", "32M", restart=True)
    )
    assert "+thread_cache_size = 20" in done
    assert "SET GLOBAL thread_cache_size = 20 (was 8)" in done
    assert re.search(r"next start:\n  innodb_log_file_size = 32M", done)
    assert applying.value("thread_cache_size") == "20"
    assert "thread_cache_size = 20\ninnodb_log_file_size = 32M\n" in mine.read_text()
    assert "Nothing to do." in applying.apply(_set("thread_cache_size", "20", "8"))
    applying.rollback()
    assert applying.value("thread_cache_size") == "8"
    assert (mine.read_bytes(), mine.stat().st_mode, mine.stat().st_uid) == before


def test_a_value_that_somebody_has_changed_since_the_advice_is_left_alone_unless_named(
    applying: Applying,
) -> None:
    change = _set("thread_cache_size", "20", "16")
    done = applying.apply(change)
    assert "variable thread_cache_size was 16 when the advice was made, and is 8 now" in done
    assert applying.value("thread_cache_size") == "8"
    applying.apply(change, words=("--yes", "--only", "tried"))
    assert applying.value("thread_cache_size") == "20"


def test_a_value_that_the_server_rounds_is_as_it_was_asked_and_is_not_set_again(applying: Applying) -> None:
    change = _set("table_definition_cache", "1234"), _set("join_buffer_size", "300001")
    done = applying.apply(*change)
    assert "join_buffer_size = 300001 (was" in done
    assert applying.value("join_buffer_size") == "299904"
    done = applying.apply(*change)
    assert "Nothing to do." in done
    assert "next start" not in done


def allow(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """As if the variable were among those that mydyno sets."""
    monkeypatch.setattr(allowed, "_ALSO", allowed._ALSO | {name})


def test_a_value_that_the_server_does_not_take_takes_everything_back(
    applying: Applying, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(monkeypatch, "slow_query_log_file")
    before = applying.option_file.read_bytes()
    with pytest.raises(ApplyError, match=r"slow_query_log_file.*everything is as it was before"):
        applying.apply(_set("thread_cache_size", "20"), _set("slow_query_log_file", "/nowhere/slow.log"))
    assert applying.value("thread_cache_size") == "8"
    assert applying.option_file.read_bytes() == before
    assert "restored" in applying.run("history")


def test_a_name_that_the_servers_own_program_does_not_know_never_gets_into_its_file(
    applying: Applying, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(monkeypatch, "innodb_xyzzy")
    before = applying.option_file.read_bytes()
    with pytest.raises(MydynoError, match=r"unknown variable.*innodb_xyzzy"):
        applying.apply(_set("innodb_xyzzy", "20", restart=True))
    assert applying.option_file.read_bytes() == before


def test_a_value_that_only_innodb_refuses_never_gets_into_the_servers_file(applying: Applying) -> None:
    before = applying.option_file.read_bytes()
    with pytest.raises(MydynoError, match=r"banana.*innodb-flush-method"):
        applying.apply(_set("innodb_flush_method", "banana", restart=True))
    assert applying.option_file.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "value", "because"),
    [
        ("innodb_page_size", "8192", "cannot become 8192 on existing data"),
        ("innodb_data_file_path", "garbage", "cannot become garbage on existing data"),
        ("innodb_buffer_pool_size", "200T", "more than the memory of this machine"),
        ("innodb_log_file_size", "200T", "more than the space for the redo log"),
        ("thread_cache_size", "20\nport = 1", "a line break as character 3"),
    ],
)
def test_a_value_with_which_the_server_would_not_start_is_refused_before_anything_is_written(
    applying: Applying, name: str, value: str, because: str
) -> None:
    before = applying.option_file.read_bytes()
    done = applying.apply(_set(name, value, restart=True))
    assert re.search(rf"Left out:\n  tried: .*{because}", done)
    assert "Nothing to do." in done
    assert applying.option_file.read_bytes() == before


def test_a_value_that_the_server_would_replace_by_its_bound_never_gets_into_its_file(
    applying: Applying,
) -> None:
    before = applying.option_file.read_bytes()
    with pytest.raises(MydynoError, match=r"net_buffer_length.* 2097152 adjusted to 1048576"):
        applying.apply(_set("net_buffer_length", "2M", restart=True))
    assert applying.option_file.read_bytes() == before


def test_the_page_size_that_the_data_has_already_is_written_down(applying: Applying) -> None:
    applying.apply(_set("innodb_page_size", "16K", restart=True))
    assert "innodb_page_size = 16K" in applying.option_file.read_text()


def test_the_password_is_in_none_of_the_files_that_are_kept(applying: Applying, tmp_path: Path) -> None:
    applying.apply(_set("thread_cache_size", "20"))
    password = applying.server.login.password.reveal().encode()
    kept = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if password in path.read_bytes()]
    assert {path.stat().st_mode & 0o77 for path in (tmp_path / "state/changes").rglob("*")} == {0}


def test_killed_after_everything_was_set_the_guardian_logs_in_and_puts_it_back(applying: Applying) -> None:
    before = applying.option_file.read_bytes()
    context = ApplyContext(login=applying.server.login)
    found = finding("tried", _set("thread_cache_size", "20"))
    prepared = prepare([found], context, find_server(applying.server.login))
    store = Store(changes_folder(Path("/")))

    def die(line: str) -> None:
        if line == "verify":
            assert applying.value("thread_cache_size") == "20"
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        try:
            with store.held():
                application = new_application("apply", "a server", ("tried",), prepared.acts)
                carry_out(store.add(application, prepared.contents), context, die)
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    wait_for_guardian(store)
    assert applying.value("thread_cache_size") == "8"
    assert applying.option_file.read_bytes() == before
    assert "was interrupted" in applying.run("history")
