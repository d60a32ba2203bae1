from pathlib import Path

import pytest

from mydyno.core.errors import UndoError
from mydyno.lab.stack.journal import Journal, cleanup
from mydyno.lab.stack.undo import EndProcesses, RemoveTree


def test_a_lab_without_a_journal_has_nothing_to_clean_up_and_gets_none(tmp_path: Path) -> None:
    assert cleanup(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_undone_and_reported_newest_first(tmp_path: Path) -> None:
    folder = tmp_path / "mydyno-0123456789ab"
    journal = Journal(tmp_path)
    journal.intend(RemoveTree(path=folder))
    folder.mkdir()
    journal.intend(EndProcesses(argument=f"--defaults-file={folder}/my.cnf"))
    assert cleanup(tmp_path) == [
        f"made sure that no process with --defaults-file={folder}/my.cnf runs",
        f"made sure that {folder} is gone",
    ]
    assert not folder.exists()
    assert cleanup(tmp_path) == []


def test_what_cannot_be_undone_is_reported_every_time_until_it_can(tmp_path: Path) -> None:
    folder = tmp_path / "mydyno-0123456789ab"
    Journal(tmp_path).intend(RemoveTree(path=folder))
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    for _ in range(2):
        with pytest.raises(UndoError, match="symbolic link"):
            cleanup(tmp_path)
    folder.unlink()
    assert cleanup(tmp_path) == [f"made sure that {folder} is gone"]
