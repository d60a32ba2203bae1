"""An engine that is stopped (SIGSTOP) in the middle of a trial costs that trial and nothing else."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from live.mydyno_process import Workplace, faults
from mydyno.lab.results.store import Lab

pytestmark = [pytest.mark.live, pytest.mark.slow]


def loading_engine(mydyno: int, seconds: float = 90.0) -> int:
    """The child of this mydyno that has threads which drive connections."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for pid in children(mydyno):
            threads = Path(f"/proc/{pid}/task")
            with suppress(OSError):
                names = [path.read_text().strip() for path in threads.glob("*/comm")]
                if any(name.startswith("reactor-") for name in names):
                    return pid
        time.sleep(0.05)
    raise AssertionError("no engine drove a load")


def children(of: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            if f"\nPPid:\t{of}\n" in status.read_text():
                found.append(int(status.parent.name))
    return found


def test_a_stopped_engine_ends_its_trial_with_the_reason_and_the_run_goes_on(workplace: Workplace) -> None:
    text = workplace.experiment.read_text()
    text = text.replace("repeats: 2", "repeats: 1").replace("measure: 400ms", "measure: 2s")
    workplace.experiment.write_text(text)
    process = workplace.start("run", str(workplace.experiment), "--no-report")
    engine = loading_engine(process.pid)
    os.kill(engine, signal.SIGSTOP)
    stopped = time.monotonic()
    process.communicate(timeout=150)
    assert time.monotonic() - stopped < 90
    assert process.returncode == 7, "finished, but one trial failed"
    assert not Path(f"/proc/{engine}").exists()
    with Lab.open(workplace.lab, write=False) as lab:
        (run,) = lab.runs()
        trials = run.trials()
    assert len(trials) == 2
    silent = ["sent no message for 30 s" in str(trial.invalidities) for trial in trials]
    assert sorted(silent) == [False, True], [trial.invalidities for trial in trials]
    assert trials[silent.index(True)].status != "valid"
    assert faults([trials[silent.index(False)]]) == set()
    workplace.wait_until_no_process_is_left()
    assert workplace.left_outside_the_lab() == []
