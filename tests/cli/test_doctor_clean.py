"""`mydyno doctor --clean`: every place of mydyno is listed and removed, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mydyno.apply.store.application import new_application
from mydyno.apply.store.store import Store
from mydyno.cli.main import app
from mydyno.core.errors import ExitCode, LabError, UsageError
from mydyno.lab.results.ownership import WriterLock
from mydyno.lab.stack.journal import Journal
from mydyno.lab.stack.undo import RemoveTree, receipts


class Machine:
    """The cache, the state and a lab of one user."""

    def __init__(self, folder: Path) -> None:
        self.cache, self.state, self.lab = folder / "cache", folder / "state", folder / "lab"
        for place in (self.cache / "images" / "roots", self.state / "changes", self.lab / "runs"):
            place.mkdir(parents=True, mode=0o700)
        (self.cache / "images" / "roots" / "root.erofs").write_bytes(b"x" * 100_000)
        (self.cache / "trial-times.jsonl").write_text("{}\n")
        (self.cache / "somebody's.txt").write_text("notes")

    def clean(self, *words: str) -> Result:
        arguments = ["doctor", "--clean", "--lab", str(self.lab), *words]
        return CliRunner().invoke(app, arguments, catch_exceptions=False)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("MYDYNO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MYDYNO_STATE", str(tmp_path / "state"))
    return Machine(tmp_path)


def test_every_place_is_listed_with_its_size_and_removed_and_the_rest_stays(machine: Machine) -> None:
    done = machine.clean("--yes")
    assert done.exit_code == 0
    assert f"100K  {machine.cache}/images  guest images" in done.output
    assert f"{machine.cache}/trial-times.jsonl" in done.output
    assert f"removed {machine.state}/changes" in done.output
    assert [path.name for path in machine.cache.iterdir()] == ["somebody's.txt"]
    assert (machine.lab / "runs").is_dir()
    assert "DROP DATABASE mydyno" in done.output
    assert f"rm -r {machine.lab}" in done.output


def test_nothing_is_removed_without_a_confirmation(machine: Machine) -> None:
    with pytest.raises(UsageError, match="without a confirmation"):
        machine.clean()
    assert (machine.cache / "images").is_dir()


def test_a_link_is_neither_followed_nor_removed(machine: Machine, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    (machine.cache / "uml").symlink_to(elsewhere)
    (machine.cache / "images" / "link").symlink_to(elsewhere)
    done = machine.clean("--yes")
    assert f"symbolic link to {elsewhere}, which is not followed" in done.output
    assert (machine.cache / "uml" / "kept").exists()
    assert not (machine.cache / "images").exists()


def test_a_journal_that_something_can_be_restored_from_stays(machine: Machine) -> None:
    store = Store.of_system(Path("/"))
    entry = store.add(new_application("apply", "MariaDB", ("swappiness",), ()), ())
    entry.journal.commit()
    done = machine.clean("--yes")
    assert done.exit_code == ExitCode.NOT_UNDONE
    assert f"stays: it restores what was before {entry.application.id}: mydyno rollback ID" in done.output
    assert store.entries()
    assert not (machine.cache / "images").exists()


def test_the_receipts_of_a_lab_that_has_something_to_undo_stay(machine: Machine) -> None:
    undo = RemoveTree(path=machine.lab / "run" / "mydyno-0123456789ab")
    Journal(machine.lab).intend(undo)
    receipts.write(machine.lab, undo.model_dump_json())
    done = machine.clean("--yes")
    assert done.exit_code == ExitCode.NOT_UNDONE
    assert f"runs in {machine.lab} left changes: mydyno cleanup --lab LAB" in done.output
    assert list(receipts.receipts_folder().iterdir())


def test_receipts_of_a_lab_that_is_gone_are_removed(machine: Machine, tmp_path: Path) -> None:
    receipts.write(tmp_path / "gone", "{}")
    assert machine.clean("--yes").exit_code == 0
    assert not receipts.receipts_folder().exists()


@contextmanager
def _other_mydyno(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """A process that looks like a run of mydyno, which waits for its standard input to end."""
    script = folder / "mydyno"
    script.write_text("print('ready', flush=True)\ninput()\n")
    command = [sys.executable, str(script), "run", "x.yaml"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment, text=True, **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield
        process.communicate()


def test_it_is_refused_while_another_mydyno_uses_the_same_places(machine: Machine, tmp_path: Path) -> None:
    with _other_mydyno(tmp_path, dict(os.environ)), pytest.raises(LabError, match=r"mydyno run x\.yaml"):
        machine.clean("--yes")
    assert (machine.cache / "images").is_dir()
    with _other_mydyno(tmp_path, dict(os.environ) | {"MYDYNO_CACHE": str(tmp_path / "another")}):
        assert machine.clean("--yes").exit_code == 0


def test_it_is_refused_while_a_run_writes_the_lab(machine: Machine) -> None:
    with WriterLock(machine.lab), pytest.raises(LabError, match="in use by another mydyno"):
        machine.clean("--yes")
    assert (machine.cache / "images").is_dir()


def test_it_is_refused_while_something_is_applied(machine: Machine) -> None:
    with Store.of_system(Path("/")).held(), pytest.raises(LabError, match="changes this system"):
        machine.clean("--yes")
