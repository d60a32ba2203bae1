"""All or none: an act that fails, an interruption, another mydyno, a journal that was cut short."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from apply.builders import SERVER
from apply.tree import make_system, picture
from mydyno.apply.acts import WriteKernelFile
from mydyno.apply.apply_context import ApplyContext
from mydyno.apply.files.plan import replacing
from mydyno.apply.history import rows
from mydyno.apply.store.application import AnyAct, new_application
from mydyno.apply.store.store import Entry, Store, changes_folder
from mydyno.apply.transaction import carry_out, recover, restore
from mydyno.core.errors import ApplyError, LabError, UndoError

SWAPPINESS = WriteKernelFile(path="/proc/sys/vm/swappiness", before="60", after="1")
MISSING = WriteKernelFile(path="/sys/block/sdz/queue/scheduler", before="none", after="bfq")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_system(tmp_path / "system")


def add(root: Path, *more: AnyAct) -> Entry:
    """An application that changes fstab, makes a file in a new folder, and does `more`."""
    acts: list[AnyAct] = []
    contents: list[bytes] = []
    for path in ("/etc/fstab", "/etc/new/folder/file"):
        act, kept = replacing(root, path, b"new\n")
        acts.append(act)
        contents += kept
    store = Store(changes_folder(root))
    with store.held():
        return store.add(new_application("apply", SERVER, ("some",), (*acts, *more)), contents)


def silent(line: str) -> None:
    pass


def test_an_act_that_fails_takes_back_those_before_it_and_the_reason_is_kept(root: Path) -> None:
    before = picture(root, times=True)
    act, contents = replacing(root, "/etc/another", b"its bytes\n")
    entry = add(root, SWAPPINESS, act)
    assert contents
    with pytest.raises(ApplyError, match=r"kept bytes of a file, cannot be read.*; everything is as it was"):
        carry_out(entry, ApplyContext(root=root, running=True), silent)
    assert picture(root, times=True) == before
    progress = entry.journal.read()
    assert progress.phase == "restored"
    assert "cannot be read" in (progress.because or "")


def test_a_disk_that_has_gone_needs_nothing_restored(root: Path) -> None:
    entry = add(root, MISSING)
    for place in range(3):
        entry.journal.begin(place)
    restore(entry, ApplyContext(root=root, running=True), "killed")
    assert entry.journal.read().phase == "restored"


def test_a_value_that_does_not_hold_takes_everything_back(root: Path) -> None:
    before = picture(root, times=True)
    entry = add(root, SWAPPINESS)

    def meddle(line: str) -> None:
        if line == "verify":
            (root / "proc/sys/vm/swappiness").write_text("7")

    with pytest.raises(
        ApplyError, match=r"it did not hold: .*/proc/sys/vm/swappiness says 7; everything is as"
    ):
        carry_out(entry, ApplyContext(root=root, running=True), meddle)
    assert picture(root, times=True) == before


def test_an_interruption_takes_everything_back(root: Path) -> None:
    before = picture(root, times=True)
    entry = add(root, SWAPPINESS)
    lines: list[str] = []

    def interrupt(line: str) -> None:
        lines.append(line)
        if "swappiness" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carry_out(entry, ApplyContext(root=root, running=True), interrupt)
    assert picture(root, times=True) == before
    assert lines[-1] == "restored everything: interrupted"


def test_what_somebody_changes_after_the_question_is_seen_before_the_first_step(root: Path) -> None:
    entry = add(root, SWAPPINESS)
    (root / "etc/fstab").write_text("mine\n")
    with pytest.raises(
        ApplyError, match="changed while mydyno was about to begin: /etc/fstab has been changed"
    ):
        carry_out(entry, ApplyContext(root=root, running=True), silent)
    assert (root / "etc/fstab").read_text() == "mine\n"
    assert not (root / "etc/new").exists()


def test_what_was_changed_after_a_kill_is_left_as_it_is_and_reported(root: Path) -> None:
    entry = add(root, SWAPPINESS)
    for place in range(3):
        entry.journal.begin(place)
    (root / "etc/fstab").write_text("mine\n")
    (root / "proc/sys/vm/swappiness").write_text("1")
    store = Store(changes_folder(root))
    with store.held():
        done = recover(store, ApplyContext(root=root, running=True))
    assert done[1] == "/etc/fstab has been changed since by another program: left as it is"
    assert (root / "etc/fstab").read_text() == "mine\n"
    assert (root / "proc/sys/vm/swappiness").read_text() == "60"


def test_what_cannot_be_restored_stays_unfinished_and_the_next_try_finishes_it(root: Path) -> None:
    entry = add(root, MISSING, SWAPPINESS)
    for place in range(4):
        entry.journal.begin(place)
    (root / "proc/sys/vm/swappiness").write_text("1")
    (root / "sys/block/sdz/queue/scheduler").mkdir(parents=True)
    with pytest.raises(UndoError, match="queue/scheduler cannot be read"):
        restore(entry, ApplyContext(root=root, running=True), "killed")
    assert (root / "proc/sys/vm/swappiness").read_text() == "60"
    assert entry.journal.read().phase == "unfinished"
    (root / "sys/block/sdz/queue/scheduler").rmdir()
    restore(entry, ApplyContext(root=root, running=True), "killed")
    assert entry.journal.read().phase == "restored"


def test_one_mydyno_at_a_time(root: Path) -> None:
    store = Store(changes_folder(root))
    with store.held():
        assert store.is_held
        with pytest.raises(LabError, match="another mydyno changes this system"), Store(store.folder).held():
            pass
    assert not store.is_held


def test_history_distinguishes_one_at_work_from_one_that_was_ended(root: Path) -> None:
    add(root)
    store = Store(changes_folder(root))
    with store.held():
        (row,) = rows(store.entries(), at_work=store.is_held)
    assert (row.state, row.says) == ("unfinished", "at work now")
    (row,) = rows(store.entries(), at_work=store.is_held)
    assert row.says == "`mydyno rollback` restores what it has begun"


@pytest.mark.parametrize("torn", [b'{"pha', b'{"phase": "applied", "at": "2026'])
def test_a_line_that_was_cut_short_never_happened_and_is_written_over(root: Path, torn: bytes) -> None:
    entry = add(root)
    entry.journal.begin(0)
    with entry.journal.path.open("ab") as file:
        file.write(torn)
    assert entry.journal.read().phase == "unfinished"
    entry.journal.commit()
    assert entry.journal.read().phase == "applied"
    assert entry.journal.read().begun == {0}


def test_kept_bytes_that_were_damaged_are_never_put_in_place(root: Path) -> None:
    entry = add(root)
    for path in (entry.folder / "bytes").iterdir():
        path.write_bytes(b"damaged")
    before = picture(root)
    with pytest.raises(ApplyError, match="is damaged: its checksum differs"):
        carry_out(entry, ApplyContext(root=root, running=True), silent)
    assert picture(root) == before


def test_applications_are_listed_by_age_and_halves_of_them_are_none(root: Path) -> None:
    first, second = add(root), add(root)
    store = Store(changes_folder(root))
    (store.folder / "20990101-000000-abcd.partial").mkdir()
    assert ids(store.entries()) == sorted([first.application.id, second.application.id])
    store.clear_halves()
    assert not list(store.folder.glob("*.partial"))


def ids(entries: Sequence[Entry]) -> list[str]:
    return [entry.application.id for entry in entries]
