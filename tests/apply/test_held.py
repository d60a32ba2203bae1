"""Settings held for a while: so within, as before after, whatever ends it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from apply.builders import SERVER
from apply.tree import wait_for_the_guardian
from mydyno.apply.acts import WriteKernelFile
from mydyno.apply.apply_context import ApplyContext
from mydyno.apply.history import rows
from mydyno.apply.rolling_back import to_roll_back
from mydyno.apply.store.application import new_application
from mydyno.apply.store.store import Entry, Store, changes_folder, in_force
from mydyno.apply.transaction import held_while
from mydyno.core.errors import ApplyError, HostError, LabError, UsageError

SWAPPINESS = WriteKernelFile(path="/proc/sys/vm/swappiness", before="60", after="1")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "proc/sys/vm").mkdir(parents=True)
    (tmp_path / "proc/sys/vm/swappiness").write_text("60")
    return tmp_path


def hold(store: Store, act: WriteKernelFile = SWAPPINESS) -> Entry:
    return store.add(new_application("hold", SERVER, ("a trial",), (act,)), ())


def value(root: Path) -> str:
    return (root / "proc/sys/vm/swappiness").read_text()


def silent(line: str) -> None:
    pass


def test_it_is_so_within_and_as_before_after_and_the_history_says_so(root: Path) -> None:
    store = Store(changes_folder(root))
    with store.held(), held_while(hold(store), ApplyContext(root=root, running=True), silent):
        assert value(root) == "1"
        (row,) = rows(store.entries(), at_work=store.is_held)
        assert (row.does, row.findings, row.state, row.says) == (
            "hold",
            ("a trial",),
            "unfinished",
            "at work now",
        )
    assert value(root) == "60"
    (row,) = rows(store.entries())
    assert (row.state, row.says) == ("restored", "its time was over")
    assert in_force(store.entries()) == []
    with pytest.raises(UsageError, match="is not in force any more"):
        to_roll_back(store.entries(), row.id)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), HostError("the machine was lost"), SystemExit(3)])
def test_what_ends_it_early_goes_on_when_all_is_restored(root: Path, error: BaseException) -> None:
    store = Store(changes_folder(root))
    with (
        pytest.raises(type(error)),
        store.held(),
        held_while(hold(store), ApplyContext(root=root, running=True), silent),
    ):
        raise error
    assert value(root) == "60"
    assert store.unfinished() == []


def test_a_signal_that_ends_programs_is_an_interrupt_within(root: Path) -> None:
    store = Store(changes_folder(root))
    with store.held(), held_while(hold(store), ApplyContext(root=root, running=True), silent):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(number)
        assert value(root) == "1"
    assert value(root) == "60"


def test_nothing_is_held_where_somebody_has_set_another_value(root: Path) -> None:
    (root / "proc/sys/vm/swappiness").write_text("10")
    store = Store(changes_folder(root))
    with (
        pytest.raises(ApplyError, match="swappiness says 10"),
        store.held(),
        held_while(hold(store), ApplyContext(root=root, running=True), silent),
    ):
        pytest.fail("it began")
    assert value(root) == "10"


def test_a_second_one_is_refused_with_what_the_first_does(root: Path) -> None:
    store = Store(changes_folder(root))
    with store.held(), held_while(entry := hold(store), ApplyContext(root=root, running=True), silent):
        with pytest.raises(LabError, match=rf"{entry.application.id}: hold a trial, {SERVER}"):
            Store(store.folder).held().__enter__()
        assert value(root) == "1"


def test_a_kill_within_is_restored_by_the_guardian(root: Path) -> None:
    store = Store(changes_folder(root))
    child = os.fork()
    if child == 0:
        try:
            with store.held(), held_while(hold(store), ApplyContext(root=root, running=True), silent):
                os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    wait_for_the_guardian(root)
    assert value(root) == "60"
    (row,) = rows(store.entries())
    assert row.says == f"the mydyno that did it (process {child}) was interrupted"
