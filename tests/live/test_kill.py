"""SIGKILL at any moment: no finished trial is lost, the plan is finished, nothing is left behind."""

from __future__ import annotations

import random
import time

import pytest

from live.mydyno_process import Finished, Workplace, trials_of
from mydyno.lab.results.store import Lab

pytestmark = pytest.mark.live

KILLS = [5, pytest.param(20, marks=pytest.mark.slow)]
MOST_LINES = 24
"""So many lines a run of four trials writes."""
MOST_SECONDS = 0.8
"""What follows a line follows it within this time, or later on a busy machine."""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", KILLS)
def test_a_run_survives_kills_at_random_moments(workplace: Workplace, kills: int) -> None:
    # More trials than so many starts of a few seconds can finish: every kill meets one at work.
    repeats = f"repeats: {2 + kills * 2 // 3}"
    workplace.experiment.write_text(workplace.experiment.read_text().replace("repeats: 2", repeats))
    moments = random.Random(20)
    known: Finished = {}
    for kill in range(kills):
        process = workplace.start("run", str(workplace.experiment), "--no-report")
        # Early kills hit start-up and the making of the dataset, later ones trials.
        assert process.stdout is not None
        for _ in range(moments.randint(0, 1 + MOST_LINES * kill // kills)):
            process.stdout.readline()
        time.sleep(moments.uniform(0.0, MOST_SECONDS))
        process.kill()
        process.communicate()
        workplace.wait_until_no_process_is_left()
        now = workplace.finished()
        assert known.items() <= now.items(), f"kill {kill} lost a finished trial"
        known = now
        if kill % 4 == 3:
            swept = workplace.run("cleanup")
            assert swept.returncode == 0, swept.stderr
            assert workplace.left_outside_the_lab() == []
    assert known, "no trial was finished between the kills"
    # What is left of the plan is cut short here: that it goes on with the same plan is what matters.
    with Lab.open(workplace.lab, write=False) as lab:
        (run,) = lab.runs()
        planned = run.experiment.planned_trials
        folders = {path.name for path in (run.folder / "trials").iterdir() if not path.name.startswith(".")}
        assert folders >= trials_of(known)
    last = workplace.run("run", str(workplace.experiment), "--no-report")
    assert last.returncode in (0, 7), last.stderr
    now = workplace.finished()
    assert known.items() <= now.items()
    assert len(trials_of(now)) == planned
    assert workplace.run("cleanup").returncode == 0
    assert workplace.left_outside_the_lab() == []
    assert list((workplace.lab / "run").iterdir()) == []
