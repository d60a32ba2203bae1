"""A full disk costs the trial at work and nothing else. On a real, small tmpfs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.results.builders import HISTOGRAMS, experiment, intervals, samples, save, trial
from mydyno.core.errors import LabError
from mydyno.lab.results.files import free_bytes
from mydyno.lab.results.store import Lab
from mydyno.lab.results.writer import RunWriter

SIZE = 4 << 20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "mydyno-test", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mount.returncode != 0:
        pytest.skip(f"mounting a small tmpfs needs root: {mount.stderr.strip()}")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


def leave_free(disk: Path, size: int) -> None:
    """Fill the disk up to `size` bytes."""
    with (disk / "ballast").open("wb") as ballast:
        os.posix_fallocate(ballast.fileno(), 0, free_bytes(disk) - size)


def finish(run: RunWriter, number: int) -> None:
    run.save_trial(trial(number), samples=samples(), intervals=intervals(), histograms=HISTOGRAMS)


def test_a_trial_is_not_started_where_it_could_not_be_saved(small_disk: Path) -> None:
    with Lab.open(small_disk / "lab", write=True) as lab:
        run = lab.run(experiment(), "{}")
        (run.new_trial_folder("t001") / "error.log").write_bytes(b"x" * 300_000)
        finish(run, 1)
        leave_free(small_disk, 200_000)
        with pytest.raises(LabError) as caught:
            run.new_trial_folder("t002")
    message, hint = str(caught.value).split("\n")
    # The log, and some kilobytes of everything else.
    assert re.search(r"the disk of the lab is full: trial t002 needs about (299|30\d)\.\dK", message)
    assert f"in {small_disk}" in message
    assert "the finished trials (1) are safe: free some space" in hint


def test_a_disk_that_fills_up_while_saving_loses_that_trial_at_most(small_disk: Path) -> None:
    outcomes = []
    for free_kib in range(0, 96, 4):
        lab_path = small_disk / f"lab-{free_kib}"
        with Lab.open(lab_path, write=True) as lab:
            run = lab.run(experiment(), "{}")
            save(run, trial(1))
            run.new_trial_folder("t002")
            leave_free(small_disk, free_kib << 10)
            refusal = None
            try:
                finish(run, 2)
            except LabError as error:
                refusal = str(error)
            assert run.trials()[0] == trial(1)
        if refusal is None:
            outcomes.append("saved")
        else:
            outcomes.append("refused")
            assert "saving trial t002 needs about" in refusal
            assert "the finished trials (1) are safe" in refusal
        (small_disk / "ballast").unlink()
        with Lab.open(lab_path, write=True) as lab:
            run = lab.run(experiment(), "{}")
            if run.recovery.adopted:
                outcomes[-1] = "adopted"
            elif outcomes[-1] == "refused":
                assert run.recovery.swept == ("t002",)
                save(run, trial(2))
            assert run.trials() == [trial(1), trial(2)]
            assert run.samples("t002").equals(samples())
        shutil.rmtree(lab_path)
    assert set(outcomes) == {"saved", "adopted", "refused"}, "every step of saving met the full disk"


def test_a_lab_cannot_be_made_on_a_full_disk_and_says_so(small_disk: Path) -> None:
    leave_free(small_disk, 0)
    with pytest.raises(LabError, match=r"the disk of the lab is full|cannot write the lab .*No space left"):
        Lab.open(small_disk / "lab", write=True)
    (small_disk / "ballast").unlink()
    Lab.open(small_disk / "lab", write=True).close()
