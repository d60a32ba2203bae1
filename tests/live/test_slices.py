"""Trials in slices on real private servers: one block holds all points, one engine drives them in turn."""

from __future__ import annotations

import os
import signal
from itertools import groupby
from pathlib import Path

import pytest

from live.mydyno_process import (
    FAILING,
    MEASURED,
    SHORT,
    Workplace,
    faults,
    interrupt,
    server_pid,
    wait_for_line,
)
from mydyno.lab.results.records import TrialRecord
from mydyno.lab.results.store import Lab

pytestmark = pytest.mark.live

SLICED = SHORT.replace("measure: 400ms", "measure: 600ms").replace(
    "order: blocked", "order: slices, slice: 100ms"
)
"""Two blocks of three servers: two points, and the first one again as a control."""


@pytest.fixture
def sliced(workplace: Workplace) -> Workplace:
    assert "slices" in SLICED
    workplace.experiment.write_text(SLICED)
    return workplace


def trials_of(workplace: Workplace) -> list[TrialRecord]:
    with Lab.open(workplace.lab, write=False) as lab:
        return lab.find_run().trials()


def test_the_points_of_a_block_share_rounds_and_each_has_a_trial(sliced: Workplace) -> None:
    done = sliced.run("run", str(sliced.experiment))
    assert done.returncode in MEASURED, done.stderr
    trials = trials_of(sliced)
    assert [(trial.block, trial.point_id) for trial in trials] == [
        (block, point) for block in (1, 2) for point in ("p1", "p2", "p1-control")
    ]
    assert faults(trials) == set()
    for _, group in groupby(trials, lambda trial: trial.block):
        block = list(group)
        assert [trial.settings_in_force["thread_cache_size"] for trial in block] == ["4", "20", "4"]
        for number in (0, 1):
            phases = [trial.phases[number] for trial in block]
            slices = [phase.slices for phase in phases]
            assert all(each is not None and len(each.rounds) * each.seconds >= 0.599 for each in slices)
            assert len({each.rounds for each in slices if each is not None}) == 1
            assert [phase.connections_reached for phase in phases] == [(2, 6)[number]] * 3
            # The level is that of all servers: one that was held up in a round lowers the others' rates, too.
            shown = [rate for each in slices if each is not None for rate in each.queries_per_second]
            for phase, each in zip(phases, slices, strict=True):
                assert each is not None
                assert each.seconds >= 0.1
                assert phase.queries_per_second is not None
                assert 0.8 * min(shown) <= phase.queries_per_second <= 1.25 * max(shown)
    assert sliced.left_outside_the_lab() == []
    assert "thread_cache_size" in done.stdout


def test_a_server_that_dies_in_a_slice_spoils_its_trial_and_not_those_of_the_others(
    sliced: Workplace,
) -> None:
    process = sliced.start("run", str(sliced.experiment), "--no-report")
    wait_for_line(process, "2 connections")
    os.kill(server_pid(process, sliced), signal.SIGKILL)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 7, output
    first = [trial for trial in trials_of(sliced) if trial.block == 1]
    dead = [trial for trial in first if "server-alive" in {reason.check for reason in trial.invalidities}]
    assert len(dead) == 1, output
    assert faults(trial for trial in first if trial not in dead) == set()
    assert faults(trial for trial in trials_of(sliced) if trial.block == 2) == set()


@pytest.mark.slow
def test_ctrl_c_in_the_slices_ends_cleanly_and_the_next_start_goes_on(sliced: Workplace) -> None:
    process = sliced.start("run", str(sliced.experiment), "--no-report")
    wait_for_line(process, "driving 3 servers in turn")
    code, output = interrupt(process)
    assert code == 130, output
    sliced.wait_until_no_process_is_left()
    assert sliced.left_outside_the_lab() == []
    assert sliced.run("run", str(sliced.experiment), "--no-report").returncode in MEASURED
    assert len(trials_of(sliced)) == 6


def test_a_point_whose_server_does_not_start_leaves_the_other_to_be_measured_alone(
    workplace: Workplace,
) -> None:
    file = Path(workplace.experiment)
    # Without a control, one server is left.
    design = "order: slices, slice: 100ms, control: false"
    text = FAILING.replace("{rounds: 100}", "{warmup: 100ms, measure: 1s}")
    file.write_text(text.replace("repeats: 3", "repeats: 2").replace("order: blocked", design))
    done = workplace.run("run", str(file), "--no-report")
    assert done.returncode == 7, done.stderr
    trials = trials_of(workplace)
    bad = [trial for trial in trials if trial.levels["page"] == "large"]
    assert [trial.invalidities[0].check for trial in bad] == ["failed", "failed"]
    assert faults(trial for trial in trials if trial not in bad) == set()
    assert all(trial.phases[0].slices for trial in trials if trial not in bad)
    assert workplace.left_outside_the_lab() == []
