"""What is searched, and what measures it: values and one interface."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from mydyno.lab.analysis.soundness import CHECK as SLICES
from mydyno.lab.results.records import TrialRecord
from mydyno.lab.results.run import Run
from mydyno.lab.spec.search import Search
from mydyno.tune.experiment import Base
from mydyno.tune.history import Settings
from mydyno.tune.space import Space


class Bench(Protocol):
    """Measures experiments; every method takes the text of an experiment file."""

    @property
    def hosts(self) -> int:
        """Machines that measure side by side, a round of a heat on each."""

    def refused(self, text: str) -> str | None:
        """Why it cannot even be begun: a setting that the server does not take; None: it can."""

    def seconds(self, text: str) -> float:
        """How long its plan says that it takes."""

    def measure(self, text: str) -> Run:
        """Runs it, or what is left of it, in the lab. Raises MydynoError when nothing could be measured."""

    def recovery_seconds(self, text: str, level: str) -> float:
        """How long the server of this level takes to answer after `kill -9` under load."""


@dataclass(frozen=True)
class Task:
    """A search before anything is measured."""

    base: Base
    search: Search
    space: Space
    defaults: Mapping[str, Any]
    """Path -> the value without a setting, as far as it is known."""
    shipped: Mapping[str, Any]
    """Path of a server variable -> the value that the release ships, where it is known."""
    references: Mapping[str, Settings]
    """Name -> settings that the winner is compared with, and that are tried first."""
    release: str
    fingerprint: str

    @property
    def objective(self) -> str:
        """The one that decides which candidate leads."""
        return self.search.objectives[0]

    @property
    def folder(self) -> str:
        return f"{self.base.name}-{self.fingerprint}"


@dataclass
class Budget:
    """Candidates, or seconds of wall-clock time; what is None ends nothing. Time is counted from when it is
    made, and that of earlier starts of the same search with it."""

    trials: int | None = None
    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic
    _counted: float = field(init=False)

    def __post_init__(self) -> None:
        self._counted = self.clock()

    def lap(self) -> float:
        """Seconds since it was made, or since the last lap."""
        before, self._counted = self._counted, self.clock()
        return self._counted - before

    def seconds_left(self, in_laps: float) -> float:
        """Infinite without an end. `in_laps`: seconds of all laps so far, of earlier starts too."""
        if self.seconds is None:
            return math.inf
        return self.seconds - in_laps - (self.clock() - self._counted)


def trials_of(run: Run) -> Sequence[TrialRecord]:
    """The run's trials, of each the last attempt."""
    last: dict[str, TrialRecord] = {}
    for trial in run.trials():
        last[trial.trial_id] = trial
    return list(last.values())


def in_sound_order(
    measure: Callable[[str], Run], text: Callable[[bool], str], blocked: bool, say: Callable[[str], None]
) -> tuple[Run, bool]:
    """The run, and whether it is in blocks: it is where `blocked`, and where in slices a server that was not
    driven used what the driven one needed, as one does that writes later. `measure`: a bench's; `text` takes
    whether in blocks."""
    if not blocked:
        run = measure(text(False))
        if not any(remark.check == SLICES for trial in trials_of(run) for remark in trial.remarks):
            return run, False
        say("  servers disturbed each other in slices: measured again in blocks")
    return measure(text(True)), True
