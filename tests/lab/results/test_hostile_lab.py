"""Labs that somebody else has made, on purpose or not as mydyno makes them: what is in them is not obeyed."""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lab.results.builders import experiment, save, trial
from mydyno.cli.main import app
from mydyno.core.errors import LabError, MydynoError, UndoError
from mydyno.lab.results.store import DATABASE, Lab
from mydyno.lab.stack import journal as journals
from mydyno.lab.stack.journal import Journal, cleanup
from mydyno.lab.stack.undo import LiftThrottle, RestoreSysfs, RestoreVariables, StopArray, Undo
from mydyno.server.access.address import External

COMMANDS = (
    ("runs",),
    ("report",),
    ("compare", "x"),
    ("trend", "x"),
    ("export", "x", "--format", "csv"),
    ("bundle", "x"),
    ("baseline", "list"),
    ("baseline", "pin"),
    ("baseline", "unpin", "x"),
    ("datasets", "list"),
    ("datasets", "verify", "x"),
    ("datasets", "remove", "x"),
    ("cleanup",),
)
"""Each command that opens a lab, but for those that need more than its name."""


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    with Lab.open(tmp_path / "lab", write=True) as opened:
        run = opened.run(experiment(), "{}")
        for number in (1, 2):
            save(run, trial(number))
    return tmp_path / "lab"


def open_both(lab: Path) -> Iterator[str]:
    """What opening it to read, and to write, says against it."""
    for write in (False, True):
        with pytest.raises(LabError) as error:
            Lab.open(lab, write=write, trust=True)
        yield error.value.message


@pytest.mark.parametrize("place", [".", DATABASE, "runs"])
def test_a_lab_of_another_user_is_opened_only_by_those_who_trust_it(
    lab: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() == 0:
        os.chown(lab / place, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    for write in (False, True):
        with pytest.raises(LabError, match=r"belongs to .*: it is not opened") as error:
            Lab.open(lab, write=write)
        assert "--trust" in (error.value.hint or "")
    Lab.open(lab, write=False, trust=True).close()


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_each_command_refuses_the_lab_of_another_user_until_it_is_trusted(
    lab: Path, words: tuple[str, ...]
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root makes another user's lab")
    for path in (lab, *lab.rglob("*")):
        os.chown(path, 12345, -1)
    with pytest.raises(LabError, match="it is not opened"):
        CliRunner().invoke(app, [*words, "--lab", str(lab)], catch_exceptions=False)
    done = CliRunner().invoke(app, [*words, "--lab", str(lab), "--trust"])
    assert "it is not opened" not in str(done.exception)


def test_links_devices_and_fifos_in_a_lab_are_refused_and_the_lab_itself_may_be_a_link(
    lab: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (run,) = (lab / "runs").iterdir()
    for place in (lab / "journal.jsonl", lab / "lock.x", run / "report", run / "trials/t001/more"):
        place.symlink_to(outside)
        for message in open_both(lab):
            assert "is a symbolic link" in message
        place.unlink()
    fifo = run / "events.jsonl"
    fifo.unlink(missing_ok=True)
    os.mkfifo(fifo)
    for message in open_both(lab):
        assert "neither a file nor a folder" in message
    fifo.unlink()
    (tmp_path / "name").symlink_to(lab)
    Lab.open(tmp_path / "name", write=False).close()
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("column", ["runs", "trials"])
def test_a_folder_in_the_database_leads_nowhere_else(lab: Path, column: str) -> None:
    with sqlite3.connect(lab / DATABASE) as connection:
        connection.execute(f"UPDATE {column} SET folder = '../../outside' || rowid")
        connection.execute("UPDATE trials SET file_bytes = NULL")
    connection.close()
    with Lab.open(lab, write=False) as opened:
        with pytest.raises(LabError, match="not the name of a folder"):
            opened.find_run().trial_folder("t001")
        with pytest.raises(LabError, match="not the name of a folder"):
            opened.list_runs()


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (("CREATE TRIGGER x AFTER INSERT ON trials BEGIN DELETE FROM runs; END",), "its trigger 'x'"),
        (
            ("ALTER TABLE environments RENAME TO y", "CREATE VIEW environments AS SELECT * FROM y"),
            "environments in it is not a table",
        ),
        (
            (
                "ALTER TABLE environments RENAME TO y",
                "CREATE VIRTUAL TABLE environments USING fts5(run_id, start, name, value)",
            ),
            "environments in it is not a table",
        ),
    ],
)
def test_a_database_with_triggers_or_views_in_place_of_tables_is_not_read(
    lab: Path, statements: tuple[str, ...], expected: str
) -> None:
    with sqlite3.connect(lab / DATABASE) as connection:
        connection.execute("PRAGMA legacy_alter_table = ON")
        for statement in statements:
            connection.execute(statement)
    connection.close()
    for message in open_both(lab):
        assert expected in message


def test_a_view_of_the_users_own_does_no_harm(lab: Path) -> None:
    with sqlite3.connect(lab / DATABASE) as connection:
        connection.execute("CREATE VIEW mine AS SELECT * FROM trials")
    connection.close()
    with Lab.open(lab, write=True) as opened:
        assert len(opened.find_run().trials()) == 2


class Listener:
    """A server that only tells whether anybody came."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.came = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except OSError:
            return
        self.came.set()
        connection.close()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    server = Listener()
    yield server
    server.close()


def restore(listener: Listener, secret: Path) -> RestoreVariables:
    server = External(host="127.0.0.1", port=listener.port, user="root", password_file=str(secret))
    return RestoreVariables(server=server, before={"sort_buffer_size": 1, "long_query_time": 0.5})


def write_as_somebody_else(lab: Path, *ways: Undo) -> None:
    lines = [
        f'{{"intend":{number},"undo":{way.model_dump_json()}}}\n' for number, way in enumerate(ways, start=1)
    ]
    (lab / journals.FILE_NAME).write_text("".join(lines))


def test_a_journal_of_somebody_else_sends_no_file_to_any_server(listener: Listener, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("precious\n")
    write_as_somebody_else(tmp_path, restore(listener, secret))
    with pytest.raises(UndoError, match="has no record that mydyno began this") as error:
        cleanup(tmp_path)
    assert f"127.0.0.1:{listener.port}" in error.value.message
    assert not listener.came.wait(0.1)


def test_what_this_users_mydyno_has_begun_is_put_back_after_a_kill(
    listener: Listener, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x\n")
    way = restore(listener, secret)
    killed = Journal(tmp_path)
    number = killed.intend(way)
    killed.intend(way.model_copy(update={"ours": {"sort_buffer_size": 2}}), instead_of=number)
    with pytest.raises(UndoError, match="could not be restored"):  # It is no server that answers.
        cleanup(tmp_path)
    assert listener.came.wait(10)


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_password_file_that_others_may_write_is_not_used_to_log_in(
    listener: Listener, tmp_path: Path, mode: int
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x\n")
    Journal(tmp_path).intend(restore(listener, secret))
    secret.chmod(mode)
    with pytest.raises(UndoError, match="could have been written by another user: it is not used"):
        cleanup(tmp_path)
    assert not listener.came.is_set()


def test_a_changed_line_or_one_of_another_lab_is_not_what_mydyno_has_begun(
    listener: Listener, tmp_path: Path
) -> None:
    ours, other = tmp_path / "ours", tmp_path / "other"
    for folder in (ours, other):
        folder.mkdir()
    Journal(ours).intend(restore(listener, tmp_path / "secret"))
    journal = (ours / journals.FILE_NAME).read_text()
    (other / journals.FILE_NAME).write_text(journal)
    (ours / journals.FILE_NAME).write_text(journal.replace("/secret", "/secret2"))
    for folder in (ours, other):
        with pytest.raises(UndoError, match="has no record that mydyno began this"):
            cleanup(folder)
    assert not listener.came.is_set()


def test_nothing_but_what_mydyno_makes_is_touched_for_somebody_else(tmp_path: Path) -> None:
    ways: tuple[Undo, ...] = (
        RestoreSysfs(path=Path("/sys/block/loop0/queue/scheduler"), value="none"),
        StopArray(array=Path("/dev/md0"), members=(Path("/dev/sda"),)),
        LiftThrottle(device="7:0", group=tmp_path, limits={"read_iops": 1}),
    )
    write_as_somebody_else(tmp_path, *ways)
    with pytest.raises(UndoError) as error:
        cleanup(tmp_path)
    assert error.value.message.count("has no record that mydyno began this") == len(ways)


def test_a_journal_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / journals.FILE_NAME).symlink_to("elsewhere")
    with pytest.raises(MydynoError, match="symbolic link"):
        cleanup(tmp_path)
