import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mydyno.core.errors import UndoError
from mydyno.lab.stack.undo import EndProcesses, RemoveTree
from mydyno.machine import processes
from mydyno.machine.processes import RunningProcess

# Random, so that two runs of these tests at once do not end each other's processes.
MARK = f"--defaults-file=/tmp/mydyno-{secrets.token_hex(6)}/my.cnf"

STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
)
WILLING = "import time; print(flush=True); time.sleep(60)"


class Started:
    """Children that are killed at the test's end, whatever happens."""

    def __init__(self) -> None:
        self.children: list[subprocess.Popen[bytes]] = []

    def __call__(self, script: str, *arguments: str) -> subprocess.Popen[bytes]:
        child = subprocess.Popen([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE)
        self.children.append(child)
        assert child.stdout is not None
        child.stdout.readline()
        return child


@pytest.fixture
def start() -> Iterator[Started]:
    started = Started()
    yield started
    for child in started.children:
        child.kill()
        child.wait()
        assert child.stdout is not None
        child.stdout.close()


def test_processes_are_found_by_a_whole_argument_and_not_by_a_mention(start: Started) -> None:
    ours = start(WILLING, MARK)
    start(WILLING, f"tail -f {MARK}")
    start(WILLING, MARK + ".bak")
    assert [process.pid for process in processes.find_by_argument(MARK)] == [ours.pid]


def test_ending_processes_ends_ours_and_no_other(start: Started) -> None:
    ours, other = start(WILLING, MARK), start(WILLING, MARK + "x")
    EndProcesses(argument=MARK).carry_out()
    assert ours.wait(5) == -15
    assert other.poll() is None
    EndProcesses(argument=MARK).carry_out()


def test_a_process_that_ignores_sigterm_is_killed(start: Started) -> None:
    child = start(STUBBORN)
    started = processes.start_ticks(child.pid)
    assert started is not None
    assert processes.end(RunningProcess(child.pid, started), patience_seconds=0.05)
    assert child.wait(5) == -9


def test_a_reused_pid_is_left_alone(start: Started) -> None:
    child = start(WILLING)
    started = processes.start_ticks(child.pid)
    assert started is not None
    assert processes.end(RunningProcess(child.pid, started - 1), patience_seconds=0.0)
    assert child.poll() is None


def test_a_zombie_does_not_count_as_living(start: Started) -> None:
    child = start(WILLING)
    started = processes.start_ticks(child.pid)
    assert started is not None
    child.kill()
    assert processes.end(RunningProcess(child.pid, started), patience_seconds=5.0)
    assert processes.start_ticks(child.pid) is None


def test_a_program_whose_name_looks_like_fields_is_read_right(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    fields = " ".join(["S", *(str(number) for number in range(4, 53))])
    (tmp_path / "7" / "stat").write_text(f"7 (a) R 1 (b) {fields}\n")
    assert processes.start_ticks(7, tmp_path) == 22


@pytest.mark.parametrize("argument", ["", "--datadir=/var/lib/mysql", "mysqld", "/tmp/mydyno-xyz/my.cnf"])
def test_an_argument_that_names_no_private_folder_ends_nothing(argument: str) -> None:
    with pytest.raises(UndoError, match="refused"):
        EndProcesses(argument=argument).carry_out()


def test_a_private_folder_is_removed_with_all_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "mydyno-0123456789ab"
    (folder / "data" / "mysql").mkdir(parents=True)
    (folder / "data" / "ibdata1").write_text("x")
    RemoveTree(path=folder).carry_out()
    assert list(tmp_path.iterdir()) == []
    RemoveTree(path=folder).carry_out()


@pytest.mark.parametrize("name", ["data", "mydyno-", "mydyno-0123456789abc", "xmydyno-0123456789ab"])
def test_a_folder_not_named_like_ours_is_never_removed(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(UndoError, match="refused"):
        RemoveTree(path=tmp_path / name).carry_out()
    assert (tmp_path / name).is_dir()


def test_links_are_neither_followed_out_of_a_folder_nor_taken_for_one(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("kept")
    folder = tmp_path / "mydyno-0123456789ab"
    folder.mkdir()
    (folder / "link").symlink_to(precious)
    RemoveTree(path=folder).carry_out()
    folder.symlink_to(precious)
    with pytest.raises(UndoError, match="symbolic link"):
        RemoveTree(path=folder).carry_out()
    assert (precious / "file").read_text() == "kept"
