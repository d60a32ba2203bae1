"""A runner killed at any moment loses no finished trial and shows no half one: real processes, SIGKILL."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from lab.results.builders import HISTOGRAMS, experiment, intervals, samples, trial
from mydyno.lab.results.store import Lab

WRITER = Path(__file__).with_name("dying_writer.py")


def writer(lab: Path, trials: int, *steps: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WRITER), str(lab), str(trials), *map(str, steps)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(WRITER.parents[2])},
    )


def run_to_the_end(lab: Path, trials: int) -> int:
    """Save every trial; the number of acts that it took."""
    with writer(lab, trials, 0) as process:
        assert process.stdout is not None
        lines = process.stdout.read().split()
    assert process.returncode == 0
    return int(lines[-1])


def assert_whole(lab_path: Path, announced: set[str]) -> set[str]:
    """Readers see every announced trial, and each one that they see is whole."""
    with Lab.open(lab_path, write=False) as lab:
        run = lab.find_run()
        seen = run.trials()
        assert announced <= {one.trial_id for one in seen}
        for one in seen:
            assert one == trial(int(one.trial_id[1:]))
            assert run.samples(one.trial_id).equals(samples())
            assert run.intervals(one.trial_id).equals(intervals())
            assert run.histograms(one.trial_id) == HISTOGRAMS
    return {one.trial_id for one in seen}


def test_a_kill_before_any_act_of_saving_loses_no_finished_trial(tmp_path: Path) -> None:
    acts = run_to_the_end(tmp_path / "whole", 2)
    assert acts > 60, "files, folders, a rename and a transaction for each trial"
    steps = range(1, acts + 1)
    with writer(tmp_path / "killed", 2, *steps) as process:
        pass
    assert process.returncode == 0
    adopted, swept = set(), set()
    for step in steps:
        lab_path = tmp_path / "killed" / str(step)
        announced = lab_path.with_suffix(".out").read_text().split()
        seen = assert_whole(lab_path, set(announced))
        with Lab.open(lab_path, write=True) as lab:
            run = lab.run(experiment(trials=2), "{}")
            assert run.recovery.damaged == ()
            assert run.completed() == seen | set(run.recovery.adopted)
            left = {path.name for path in (run.folder / "trials").iterdir()}
            assert left == run.completed(), "neither a partial folder nor one without its rows"
            adopted |= set(run.recovery.adopted)
            swept |= set(run.recovery.swept)
        assert_whole(lab_path, set(announced))
    assert adopted == swept == {"t001", "t002"}, "both kinds of recovery were met at both trials"


def test_kills_at_random_moments_and_resuming_end_with_every_trial_once(tmp_path: Path) -> None:
    moments = random.Random(20140101)
    announced: set[str] = set()
    kills = 0
    while len(announced) < 12:
        with writer(tmp_path, 12, 0) as process:
            assert process.stdout is not None
            first = process.stdout.readline().strip()
            if first.startswith("t"):
                announced.add(first)
            try:
                process.wait(timeout=moments.uniform(0, 0.06))
            except subprocess.TimeoutExpired:
                process.kill()
                kills += 1
            announced |= {line for line in process.stdout.read().split() if line.startswith("t")}
        # Saved, but killed before it could say so: counts as well.
        announced |= assert_whole(tmp_path, announced)
        with Lab.open(tmp_path, write=True) as lab:
            announced |= set(lab.run(experiment(trials=12), "{}").recovery.adopted)
    assert kills > 0
    with Lab.open(tmp_path, write=False) as lab:
        assert [one.trial_id for one in lab.find_run().trials()] == [
            f"t{number:03}" for number in range(1, 13)
        ]


def test_a_finished_folder_whose_record_is_torn_is_moved_aside_and_runs_again(tmp_path: Path) -> None:
    run_to_the_end(tmp_path, 2)
    (tmp_path / "lab.sqlite").unlink()
    trials = tmp_path / "runs" / "thread-cache-toy-c0ffee01" / "trials"
    record = trials / "t002" / "record.json"
    record.write_bytes(record.read_bytes()[:100])
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(trials=2), "{}")
        assert (run.recovery.adopted, run.recovery.damaged) == (("t001",), ("t002",))
        assert run.completed() == {"t001"}
        assert (trials / ".t002.damaged" / "my.cnf").exists()
    run_to_the_end(tmp_path, 2)
    assert assert_whole(tmp_path, {"t001", "t002"}) == {"t001", "t002"}


@pytest.mark.parametrize("leftover", ["my.cnf", "samples.parquet"])
def test_a_new_trial_folder_is_empty_whatever_a_kill_left(tmp_path: Path, leftover: str) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        folder = run.new_trial_folder("t001")
        (folder / leftover).write_text("half of a fi")
        assert list(run.new_trial_folder("t001").iterdir()) == []
