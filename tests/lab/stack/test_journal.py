import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mydyno.core.errors import LabError, UndoError
from mydyno.lab.stack.journal import FILE_NAME, Journal
from mydyno.lab.stack.undo import EndProcesses, RemoveTree


def private(parent: Path, digit: int) -> Path:
    return parent / f"mydyno-{digit:012x}"


def made(journal: Journal, path: Path) -> int:
    number = journal.intend(RemoveTree(path=path))
    path.mkdir()
    return number


def test_an_intention_is_on_disk_before_the_call_returns(tmp_path: Path) -> None:
    path = private(tmp_path, 1)
    Journal(tmp_path).intend(RemoveTree(path=path))
    (line,) = (tmp_path / FILE_NAME).read_text().splitlines()
    assert json.loads(line) == {"intend": 1, "undo": {"kind": "remove-tree", "path": str(path)}}


def test_every_line_is_synced_and_so_is_the_folder_of_a_new_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    journal = Journal(tmp_path)
    assert synced == [str(tmp_path)]
    journal.undo(journal.intend(RemoveTree(path=private(tmp_path, 1))))
    assert synced[1:] == [str(tmp_path / FILE_NAME)] * 2


def test_what_was_undone_is_not_undone_again_by_the_next_process(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    first, second = (made(journal, private(tmp_path, digit)) for digit in (1, 2))
    journal.undo(first)
    assert not private(tmp_path, 1).exists()
    private(tmp_path, 1).mkdir()
    reopened = Journal(tmp_path)
    assert reopened.outstanding() == [RemoveTree(path=private(tmp_path, 2))]
    reopened.replay()
    assert private(tmp_path, 1).exists()
    assert not private(tmp_path, 2).exists()
    assert second == 2


def test_a_better_way_back_takes_the_place_of_an_earlier_one_in_one_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    first, better = (RemoveTree(path=private(tmp_path, digit)) for digit in (1, 2))
    number = journal.intend(first)
    following = journal.intend(better, instead_of=number)
    assert len((tmp_path / FILE_NAME).read_text().splitlines()) == 2
    assert journal.outstanding() == Journal(tmp_path).outstanding() == [better]
    journal.undo(following)
    assert Journal(tmp_path).outstanding() == []


def test_replay_undoes_the_newest_first(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    paths = [private(tmp_path, digit) for digit in (1, 2, 3)]
    for path in paths:
        made(journal, path)
    assert journal.replay() == [RemoveTree(path=path) for path in reversed(paths)]
    assert journal.replay() == []


def test_undoing_what_never_came_to_be_does_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.intend(RemoveTree(path=private(tmp_path, 1)))
    journal.intend(EndProcesses(argument=f"--defaults-file={private(tmp_path, 1)}/my.cnf"))
    assert len(journal.replay()) == 2
    assert Journal(tmp_path).outstanding() == []


def test_one_failure_does_not_stop_the_rest_and_stays_in_the_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    made(journal, private(tmp_path, 1))
    foreign = tmp_path / "precious"
    made(journal, foreign)
    made(journal, private(tmp_path, 2))
    with pytest.raises(UndoError, match="precious"):
        journal.replay()
    assert [path.exists() for path in (private(tmp_path, 1), foreign, private(tmp_path, 2))] == [
        False,
        True,
        False,
    ]
    assert Journal(tmp_path).outstanding() == [RemoveTree(path=foreign)]


@given(cut=st.integers(min_value=0, max_value=400))
def test_a_journal_cut_at_any_byte_keeps_every_whole_line_and_can_be_continued(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lab = tmp_path_factory.mktemp("lab")
    journal = Journal(lab)
    for digit in range(3):
        journal.intend(RemoveTree(path=private(lab, digit)))
    content = (lab / FILE_NAME).read_bytes()
    kept = content[: min(cut, len(content))]
    (lab / FILE_NAME).write_bytes(kept)
    continued = Journal(lab)
    assert len(continued.outstanding()) == kept.count(b"\n")
    continued.intend(RemoveTree(path=private(lab, 9)))
    assert Journal(lab).outstanding() == [*continued.outstanding()]
    assert Journal(lab).outstanding()[-1] == RemoveTree(path=private(lab, 9))


def test_numbers_go_on_after_those_of_an_earlier_process(tmp_path: Path) -> None:
    first = Journal(tmp_path)
    first.undo(first.intend(RemoveTree(path=private(tmp_path, 1))))
    assert Journal(tmp_path).intend(RemoveTree(path=private(tmp_path, 2))) == 2


def test_a_damaged_line_is_reported_and_the_others_are_undone(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    made(journal, private(tmp_path, 1))
    with (tmp_path / FILE_NAME).open("a") as file:
        file.write('{"intend": 2, "undo": {"kind": "format-disk"}}\n')
    with pytest.raises(UndoError, match="line 2 is damaged"):
        Journal(tmp_path).replay()
    assert not private(tmp_path, 1).exists()


def test_a_journal_that_cannot_be_opened_names_its_place(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(LabError, match=FILE_NAME):
        Journal(tmp_path)


def test_a_full_disk_stops_the_act_and_leaves_no_half_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    journal.intend(RemoveTree(path=private(tmp_path, 1)))
    whole = (tmp_path / FILE_NAME).read_bytes()
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:10]))
    with pytest.raises(LabError, match="No space left"):
        journal.intend(RemoveTree(path=private(tmp_path, 2)))
    assert (tmp_path / FILE_NAME).read_bytes() == whole
    assert journal.outstanding() == [RemoveTree(path=private(tmp_path, 1))]
