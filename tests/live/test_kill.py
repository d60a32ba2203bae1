"""SIGKILL at any moment: no finished trial is lost, the plan is finished, nothing is left behind."""

from __future__ import annotations

import random
import sqlite3
import time

import pytest

from live.mydyno_process import Workplace
from mydyno.lab.results.store import Lab

pytestmark = pytest.mark.live

KILLS = 20
PLAN_SECONDS = 1.5
"""What `mydyno plan` takes on a machine that has nothing else to do."""


@pytest.fixture
def workplace(workplace: Workplace) -> Workplace:
    """One with more trials than twenty starts of a few seconds can finish: every kill meets one at work."""
    workplace.experiment.write_text(workplace.experiment.read_text().replace("repeats: 4", "repeats: 15"))
    return workplace


def finished(workplace: Workplace) -> dict[str, str]:
    """Trial -> when it started, of every trial in the lab."""
    if not (workplace.lab / "lab.sqlite").exists():
        return {}
    connection = sqlite3.connect(f"file:{workplace.lab / 'lab.sqlite'}?mode=ro", uri=True)
    try:
        return dict(connection.execute("SELECT trial_id, started_at FROM trials"))
    except sqlite3.OperationalError:
        return {}  # Killed before the tables were made.
    finally:
        connection.close()


@pytest.mark.timeout(900)
def test_a_run_survives_twenty_kills_at_random_moments(workplace: Workplace) -> None:
    moments = random.Random(20)
    known: dict[str, str] = {}
    began = time.monotonic()
    workplace.run("plan", str(workplace.experiment))
    # So that a busy machine meets trials, too.
    pace = min(2.0, max(1.0, (time.monotonic() - began) / PLAN_SECONDS))
    for kill in range(KILLS):
        process = workplace.start("run", str(workplace.experiment), "--no-report")
        # Early kills hit start-up and the making of the dataset, later ones trials.
        time.sleep(pace * moments.uniform(0.1, 1.0 + kill * 0.35))
        process.kill()
        process.communicate()
        workplace.wait_until_no_process_is_left()
        now = finished(workplace)
        assert known.items() <= now.items(), f"kill {kill} lost a finished trial"
        known = now
        if kill % 5 == 4:
            swept = workplace.run("cleanup")
            assert swept.returncode == 0, swept.stderr
            assert workplace.left_outside_the_lab() == []
    assert known, "no trial was finished between the kills"
    # What is left of the plan is cut short here: that it goes on with the same plan is what matters.
    with Lab.open(workplace.lab, write=False) as lab:
        (run,) = lab.runs()
        planned = run.experiment.planned_trials
        folders = {path.name for path in (run.folder / "trials").iterdir() if not path.name.startswith(".")}
        assert folders >= set(known)
    last = workplace.run("run", str(workplace.experiment), "--no-report", timeout=600)
    assert last.returncode in (0, 7), last.stderr
    now = finished(workplace)
    assert known.items() <= now.items()
    assert len(now) == planned
    assert workplace.run("cleanup").returncode == 0
    assert workplace.left_outside_the_lab() == []
    assert list((workplace.lab / "run").iterdir()) == []
