"""A lab of an older version is upgraded with a backup, and readable for everybody who may read it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from lab.results.builders import experiment, save, trial
from lab.results.test_old_labs import FIRST_VERSION, SECOND_VERSION, THIRD_VERSION, make_lab
from mydyno.core.errors import LabError
from mydyno.lab.results import files, schema
from mydyno.lab.results.ownership import WriterLock
from mydyno.lab.results.store import Lab

NOW = len(schema.MIGRATIONS)
OLD = [(1, FIRST_VERSION), (2, SECOND_VERSION), (3, THIRD_VERSION), (5, THIRD_VERSION)]
BACKUP = f"lab.sqlite.before-version-{NOW}"


def version(database: Path) -> int:
    connection = sqlite3.connect(database)
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.close()
    return int(found)


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize(("old", "rows"), OLD)
def test_it_is_upgraded_by_whoever_opens_it_first_and_kept_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: int, rows: str, write: bool
) -> None:
    make_lab(tmp_path, monkeypatch, version=old, rows=rows)
    with Lab.open(tmp_path, write=write) as lab:
        assert lab.upgrade is not None
        assert (lab.upgrade.before, lab.upgrade.after) == (old, NOW)
        assert lab.upgrade.backup == tmp_path / BACKUP
        assert [found.trial_id for found in lab.find_run().trials()] == ["t001"]
    assert version(tmp_path / "lab.sqlite") == NOW
    assert version(tmp_path / BACKUP) == old
    with Lab.open(tmp_path, write=False) as lab:
        assert lab.upgrade is None


def test_a_new_lab_has_no_backup(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        assert lab.upgrade is None
    assert list(tmp_path.glob("*before*")) == []


def test_a_backup_that_is_there_is_never_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_lab(tmp_path, monkeypatch, version=1, rows=FIRST_VERSION)
    Lab.open(tmp_path, write=True).close()
    before = (tmp_path / BACKUP).read_bytes()
    shutil.copy(tmp_path / BACKUP, tmp_path / "lab.sqlite")
    Lab.open(tmp_path, write=True).close()
    assert (tmp_path / BACKUP).read_bytes() == before
    assert version(tmp_path / f"{BACKUP}-2") == 1


def test_what_only_the_log_holds_is_in_the_backup_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_lab(tmp_path, monkeypatch, version=1, rows=FIRST_VERSION)
    other = sqlite3.connect(tmp_path / "lab.sqlite")
    other.execute("UPDATE trials SET seconds = 12345")
    other.commit()  # An open connection keeps its log.
    Lab.open(tmp_path, write=False).close()
    other.close()
    backup = sqlite3.connect(tmp_path / BACKUP)
    assert backup.execute("SELECT seconds FROM trials").fetchone() == (12345.0,)
    backup.close()


def test_a_reader_beside_a_writer_reads_an_upgraded_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_lab(tmp_path, monkeypatch, version=2, rows=SECOND_VERSION)
    before = (tmp_path / "lab.sqlite").read_bytes()
    with WriterLock(tmp_path), Lab.open(tmp_path, write=False) as lab:
        assert lab.upgrade is not None
        assert (lab.upgrade.backup, "in use" in (lab.upgrade.why_not or "")) == (None, True)
        assert [found.trial_id for found in lab.find_run("thread-cache").trials()] == ["t001"]
    assert (tmp_path / "lab.sqlite").read_bytes() == before
    assert list(tmp_path.glob("*before*")) == []


def test_a_folder_that_cannot_be_written_is_read_through_an_upgraded_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab_path = tmp_path / "lab"
    make_lab(lab_path, monkeypatch, version=3, rows=THIRD_VERSION)
    with read_only(lab_path), Lab.open(lab_path, write=False) as lab:
        assert lab.upgrade is not None
        assert lab.upgrade.backup is None
        (run,) = lab.list_runs()
        assert (run.valid, run.invalid, run.planned, run.finished) == (1, 0, 6, False)


def test_without_room_for_the_backup_a_writer_is_refused_and_a_reader_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_lab(tmp_path, monkeypatch, version=1, rows=FIRST_VERSION)
    before = (tmp_path / "lab.sqlite").read_bytes()
    monkeypatch.setattr(files, "free_bytes", lambda folder: 1000)
    with pytest.raises(LabError, match="disk of the lab is full: upgrading the lab needs about"):
        Lab.open(tmp_path, write=True)
    with Lab.open(tmp_path, write=False) as lab:
        assert lab.upgrade is not None
        assert "is full" in (lab.upgrade.why_not or "")
        assert len(lab.find_run().trials()) == 1
    assert (tmp_path / "lab.sqlite").read_bytes() == before


def test_trials_of_before_report_their_size_too(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        save(run, trial(1))
        save(run, trial(2, valid=False))
        save(run, trial(2))
        save(run, trial(3, valid=False))
        (known,) = lab.list_runs()
        assert (known.valid, known.invalid, known.finished) == (2, 1, False)
        assert known.file_bytes == files.tree_bytes(run.folder / "trials")
    with sqlite3.connect(tmp_path / "lab.sqlite") as database:
        database.execute("UPDATE trials SET file_bytes = NULL")
    database.close()
    with Lab.open(tmp_path, write=False) as lab:
        assert lab.list_runs() == (known,)


class read_only:  # noqa: N801  (it reads as what it does)
    """A folder on a file system that is mounted read-only, so that root cannot write there either."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)

    def __enter__(self) -> None:
        if os.getuid() != 0:
            pytest.skip("mounting needs root")
        for options in (["--bind", self._folder], ["-o", "remount,bind,ro"]):
            done = subprocess.run(["mount", *options, self._folder], capture_output=True, check=False)
            if done.returncode != 0:
                pytest.skip(f"cannot mount here: {done.stderr.decode().strip()}")

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", self._folder], check=True)
