"""SIGKILL before each call of the operating system: files are the old ones or the new ones, never between.

The child counts its calls of the module `posix` that can change something, by a profile function, and kills
itself before one of them: so every place where a kill can leave something is tried, not only those that
somebody thought of.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from apply.builders import SERVER, advice_file, every_kind
from apply.tree import make_system, picture, wait_for_the_guardian
from mydyno.apply.acts import WriteKernelFile
from mydyno.apply.apply_context import ApplyContext
from mydyno.apply.files.plan import replacing
from mydyno.apply.rolling_back import to_roll_back, way_back
from mydyno.apply.store.application import new_application
from mydyno.apply.store.store import Store, changes_folder, in_force
from mydyno.apply.transaction import carry_out, recover

_FILES = {
    "/etc/fstab": b"# other\n",
    "/etc/mysql/my.cnf": b"[mysqld]\n",
    "/etc/udev/rules.d/99-mydyno.rules": b"# new, in two new folders\n",
    "/etc/sysctl.conf": None,
}


_CHANGING = frozenset(
    {
        *("fchmod", "fchown", "fork", "fsync", "ftruncate", "mkdir", "pwrite", "rename", "replace", "rmdir"),
        *("setxattr", "unlink", "utime", "waitpid", "write"),
    }
)

_EVERY = pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
"""Which calls are tried: each, or with a step that is prime to the number of calls of an act."""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: hundreds of trees, each synced many times."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else tmp_path) as folder:
        yield Path(folder)


@pytest.fixture
def fresh(memory: Path) -> Callable[[], Path]:
    """Gives a system in its first state, every time it is called."""
    template = make_system(memory / "template")
    place = memory / "system"

    def make() -> Path:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(template, place, symlinks=True)
        return place

    return make


@_EVERY
def test_a_kill_at_any_call_leaves_the_old_state_or_the_new_one(fresh: Callable[[], Path], step: int) -> None:
    old, new = _both_states(fresh)
    for number in _calls(step):
        root = fresh()
        before = picture(root, times=True)
        if not _killed(lambda root=root: _apply(root), main_at=number):
            break
        wait_for_the_guardian(root)
        _assert_old_or_new(root, before, new, number)
    else:
        pytest.fail("it never ended by itself")
    assert picture(root) == new != old


@_EVERY
def test_a_kill_of_the_guardian_too_is_put_right_by_the_next_mydyno(
    fresh: Callable[[], Path], step: int
) -> None:
    _, new = _both_states(fresh)
    chance = random.Random(7)
    for number in _calls(step):
        root = fresh()
        before = picture(root, times=True)
        if not _killed(lambda root=root: _apply(root), main_at=number, guardian_at=chance.randint(1, 15)):
            return
        wait_for_the_guardian(root)
        store = Store(changes_folder(root))
        with store.held():
            recover(store, ApplyContext(root=root, running=True))
        assert store.unfinished() == []
        _assert_old_or_new(root, before, new, number)


@_EVERY
def test_a_kill_while_rolling_back_leaves_the_applied_state_or_the_old_one(
    fresh: Callable[[], Path], step: int
) -> None:
    root = fresh()
    old = picture(root, times=True)
    _apply(root)
    applied = root.with_name("applied")
    shutil.copytree(root, applied, symlinks=True)
    new = picture(root)
    for number in _calls(step):
        shutil.rmtree(root)
        shutil.copytree(applied, root, symlinks=True)
        if not _killed(lambda: _roll_back(root), main_at=number):
            break
        wait_for_the_guardian(root)
        assert picture(root) == new or picture(root, times=True) == old, f"killed before call {number}"
    assert picture(root, times=True) == old


@pytest.mark.slow
@pytest.mark.parametrize("lines", [1, 5])
def test_the_command_itself_killed_in_the_middle_leaves_the_old_state(tmp_path: Path, lines: int) -> None:
    root = make_system(tmp_path / "system")
    before = picture(root, times=True)
    file = advice_file(tmp_path / "advice.json", *every_kind())
    argv = [sys.executable, "-m", "mydyno", "apply", str(file), "--root", str(root), "--yes"]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        while child.poll() is None and _journal_lines(root) < lines:
            time.sleep(0)
        child.kill()
    wait_for_the_guardian(root)
    committed = any(entry.progress.phase == "applied" for entry in Store(changes_folder(root)).entries())
    assert committed or picture(root, times=True) == before


def _apply(root: Path) -> None:
    acts: list[Any] = []
    contents: list[bytes] = []
    for path, content in _FILES.items():
        act, kept = replacing(root, path, content)
        acts.append(act)
        contents += kept
    acts.append(WriteKernelFile(path="/proc/sys/vm/swappiness", before="60", after="1"))
    store = Store(changes_folder(root))
    with store.held():
        entry = store.add(new_application("apply", SERVER, ("swappiness",), tuple(acts)), contents)
        carry_out(entry, ApplyContext(root=root, running=True), lambda line: None)


def _roll_back(root: Path) -> None:
    store = Store(changes_folder(root))
    context = ApplyContext(root=root, running=True)
    with store.held():
        entries = store.entries()
        back = way_back(to_roll_back(entries, None), in_force(entries), context, force=False)
        carry_out(store.add(back.application, back.contents), context, lambda line: None)


def _both_states(fresh: Callable[[], Path]) -> tuple[dict[str, Any], dict[str, Any]]:
    root = fresh()
    old = picture(root)
    _apply(root)
    return old, picture(root)


def _assert_old_or_new(root: Path, old: dict[str, Any], new: dict[str, Any], number: int) -> None:
    (phase,) = {entry.progress.phase for entry in Store(changes_folder(root)).entries()} or {"restored"}
    if phase == "applied":
        assert picture(root) == new, f"killed before call {number}"
    else:
        assert picture(root, times=True) == old, f"killed before call {number}"


def _calls(step: int) -> range:
    """Until the child is not killed any more."""
    return range(1, 5000, step)


def _killed(work: Callable[[], None], main_at: int, guardian_at: int = 10**6) -> bool:
    """Runs `work` in a child that is killed before its call `main_at`; whether it came to that."""
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


def _kill_before(main_at: int, guardian_at: int) -> None:
    main, calls = os.getpid(), 0

    def count(frame: FrameType, event: str, function: Any) -> None:
        nonlocal calls, main
        if event != "c_call" or getattr(function, "__module__", None) != "posix":
            return
        makes_a_file = function.__name__ == "open" and frame.f_locals.get("flags", 0) & os.O_CREAT
        if function.__name__ not in _CHANGING and not makes_a_file:
            return
        me = os.getpid()
        if me != main and main > 0:
            main, calls = -me, 0
        calls += 1
        if calls == (main_at if main > 0 else guardian_at):
            os.kill(me, signal.SIGKILL)

    sys.setprofile(count)


def _journal_lines(root: Path) -> int:
    return sum(path.read_text().count("\n") for path in changes_folder(root).glob("*/journal.jsonl"))
