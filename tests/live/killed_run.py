"""A run that is killed, or its processes, at random moments; and what it has measured in the end."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from live.far_side import comes_true
from live.mydyno_process import MEASURED, Finished, Workplace
from mydyno.lab.results.records import TrialRecord
from mydyno.lab.results.store import Lab

Victim = TypeVar("Victim")

LINES = 6
"""So many lines a trial writes."""
MOST_SECONDS = 0.8
"""What follows a line follows it within this time, or later on a busy machine; an engine lives that long."""
VICTIM_SECONDS = 300.0


@dataclass
class KilledRun:
    """It is started as often as it ends: the next start measures its failed trials again."""

    workplace: Workplace
    command: list[str]
    moments: random.Random
    process: subprocess.Popen[str] | None = None
    known: Finished = field(default_factory=dict)

    def strike(
        self, victims: Callable[[], Sequence[Victim]], kill: Callable[[Victim], None], context: str
    ) -> None:
        """Kills one of the victims that are there some lines later."""
        while not self._strike_one(victims, kill):
            pass
        now = self.workplace.finished()
        assert self.known.items() <= now.items(), f"a finished trial was lost: {context}"
        self.known = now

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def finish(self) -> None:
        if self.process is not None:
            self.process.communicate(timeout=600)

    def _strike_one(self, victims: Callable[[], Sequence[Victim]], kill: Callable[[Victim], None]) -> bool:
        """False where there was none to kill."""
        if not self.is_running():
            self.finish()
            self.process = self.workplace.start(*self.command)
        assert self.process is not None
        assert self.process.stdout is not None
        for _ in range(self.moments.randint(0, LINES)):
            self.process.stdout.readline()
        assert comes_true(lambda: victims() or not self.is_running(), VICTIM_SECONDS)
        time.sleep(self.moments.uniform(0.0, MOST_SECONDS))
        if not (found := victims()):
            return False
        kill(self.moments.choice(found))
        return True


def resumed(workplace: Workplace, command: Sequence[str], known: Finished) -> list[TrialRecord]:
    """Measures again what failed; of each trial the last attempt. `known`: what had finished before."""
    done = workplace.run(*command)
    assert done.returncode in MEASURED, done.stderr
    assert known.items() <= workplace.finished().items()
    with Lab.open(workplace.lab, write=False) as lab:
        (run,) = lab.runs()
        return list({trial.trial_id: trial for trial in run.trials()}.values())
