"""A window's time on a file of this machine: what is caught of it, and what ends it early."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mydyno.core.errors import UsageError
from mydyno.queries.window import new_file
from mydyno.queries.window.files import FileLog, FilesHere
from mydyno.queries.window.watching import Limits, Watched, limits, watch

_ENTRY = b"# Time: 261122  2:44:25\n# User@Host: a[a] @ h []\n# Query_time: 1.0\nselect %d;\n"


def alive() -> bool:
    return True


def tell(text: str) -> None:
    pass


def append(path: Path, *numbers: int) -> None:
    with path.open("ab") as file:
        for number in numbers:
            file.write(_ENTRY % number)


def watched(log: FileLog, limit: Limits, *steps: Callable[[], object]) -> Watched:
    """With one step in each of its waits."""
    left = list(steps)

    def wait(seconds: float) -> None:
        if left:
            left.pop(0)()

    return watch(log, limit, alive, tell, wait)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    append(tmp_path / "slow.log", 1)
    return tmp_path / "slow.log"


@pytest.fixture
def log(path: Path) -> FileLog:
    log = FileLog(FilesHere(path))
    log.begin()
    return log


def test_what_is_written_in_its_time_is_caught_whole(log: FileLog, path: Path) -> None:
    found = watched(log, Limits(0.05, 1 << 20, None), lambda: append(path, 2), lambda: append(path, 3))
    log.end()
    append(path, 4)
    assert log.settle() == ()
    assert b"".join(log.blocks()) == _ENTRY % 2 + _ENTRY % 3
    assert found.amount.entries == 2
    assert found.ended is None


def test_an_entry_that_is_being_written_at_the_end_is_caught_whole(log: FileLog, path: Path) -> None:
    whole = _ENTRY % 2
    with path.open("ab", buffering=0) as file:
        file.write(whole[:30])
        log.end()
        file.write(whole[30:])
    append(path, 3)
    log.settle()
    assert b"".join(log.blocks()) == whole


def test_an_entry_that_was_begun_before_is_left_out(path: Path) -> None:
    log = FileLog(FilesHere(path))
    whole = _ENTRY % 2
    with path.open("ab", buffering=0) as file:
        file.write(whole[:30])
        log.begin()
        file.write(whole[30:])
    append(path, 3)
    log.end()
    log.settle()
    assert b"".join(log.blocks()) == _ENTRY % 3


def test_a_log_that_is_not_there_is_reported(tmp_path: Path) -> None:
    log = FileLog(FilesHere(tmp_path / "slow.log"))
    log.begin()
    log.end()
    (line,) = log.settle()
    assert "FLUSH SLOW LOGS" in line
    assert list(log.blocks()) == []


def test_it_ends_at_its_limit_with_the_server_and_when_it_is_interrupted(log: FileLog, path: Path) -> None:
    full = watched(log, Limits(60, 50, None), lambda: append(path, 2))
    assert "and 50 is the limit" in str(full.ended)
    no_room = watched(log, Limits(60, 1 << 20, 1 << 62))
    assert "were left on the log's file system" in str(no_room.ended)
    gone = watch(log, Limits(60, 1 << 20, None), lambda: False, tell, lambda seconds: None)
    assert gone.ended == "the server is no longer reachable"

    def interrupt() -> None:
        raise KeyboardInterrupt

    assert watched(log, Limits(60, 1 << 20, None), interrupt).ended == "it was interrupted"


def test_half_of_what_is_free_is_the_most(log: FileLog, path: Path) -> None:
    about = os.statvfs(path)
    room = about.f_bavail * about.f_frsize
    assert limits(log, 1, 1000) == Limits(1, 1000, pytest.approx(room / 4, rel=0.1))
    assert limits(log, 1, 1 << 62).most_bytes == pytest.approx(room / 2, rel=0.1)


def test_a_file_to_keep_the_log_in_is_a_new_one_of_its_owners(tmp_path: Path) -> None:
    with new_file(tmp_path / "kept.log") as file:
        assert file is not None
        file.write(b"entries")
    assert (tmp_path / "kept.log").stat().st_mode & 0o777 == 0o600
    with pytest.raises(UsageError, match="exists already"), new_file(tmp_path / "kept.log"):
        pytest.fail("it was opened")
    assert (tmp_path / "kept.log").read_bytes() == b"entries"
    with pytest.raises(UsageError, match="cannot be written"), new_file(tmp_path / "none" / "kept.log"):
        pytest.fail("it was opened")
    with new_file(None) as nothing:
        assert nothing is None
