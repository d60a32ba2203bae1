"""Block after block, until the plan or, in a sequential design, what is known says stop.

Every decision follows from the trials in the lab alone, so a run that was killed decides the same as one that
was not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mydyno.lab.analysis.precision import precision
from mydyno.lab.plan import Plan, PlannedTrial
from mydyno.lab.results.records import ExperimentRecord, TrialRecord
from mydyno.lab.results.writer import RunWriter
from mydyno.lab.trial.events import EventLog, Looked, Resting


@dataclass(frozen=True)
class Blocks:
    """The trials of a plan that are still to be run."""

    plan: Plan
    run: RunWriter
    emit: EventLog

    def left(self) -> Iterator[list[PlannedTrial]]:
        """What is left of each block. Looks at the data, and rests, between them."""
        ran = False
        for block in range(1, self.plan.blocks + 1):
            completed = self.run.completed()
            of_block = [trial for trial in self.plan.trials if trial.block == block]
            left = [trial for trial in of_block if trial.id not in completed]
            if left:
                if ran:
                    self._rest(block)
                ran = True
                yield left
            if self._known_well_enough(block, aloud=bool(left)):
                self.run.stop_after(sum(trial.block <= block for trial in self.plan.trials))
                return

    def _rest(self, block: int) -> None:
        if seconds := self.plan.design.rest_s:
            self.emit(Resting(block=block, seconds=seconds))
            time.sleep(seconds)

    def _known_well_enough(self, block: int, aloud: bool) -> bool:
        design, experiment = self.plan.design, self.run.experiment
        if design.first_look is None or block < design.first_look:
            return False
        trials = [trial for trial in self.run.trials() if trial.block <= block]
        found = precision(trials, without_failed_points(experiment, trials))
        if aloud:
            self.emit(
                Looked(
                    block=block,
                    half_width=found.half_width,
                    wanted=found.wanted,
                    worst=found.worst,
                    reached=found.reached,
                    last=block == self.plan.blocks,
                )
            )
        return found.reached


def without_failed_points(experiment: ExperimentRecord, trials: Sequence[TrialRecord]) -> ExperimentRecord:
    """Without the points of which nothing could be measured: waiting for them would last for ever."""
    measured = {trial.point_id for trial in trials if trial.measured}
    points = tuple(point for point in experiment.points if point.point_id in measured)
    return replace(experiment, points=points) if points else experiment
