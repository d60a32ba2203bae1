"""All trials of a plan, in order: what is measured already is left out, a kill loses at most one trial."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, groupby

from mydyno.core.errors import HostError, MydynoError
from mydyno.core.interruption import interruptible, uninterrupted
from mydyno.core.server_release import SYSTEM
from mydyno.lab.analysis.precision import precision
from mydyno.lab.load.engine import engine_version
from mydyno.lab.plan import Plan, PlannedTrial
from mydyno.lab.results.files import removal_explained
from mydyno.lab.results.records import ExperimentRecord, TrialRecord
from mydyno.lab.results.run import Run
from mydyno.lab.results.store import Lab
from mydyno.lab.results.writer import RunWriter
from mydyno.lab.spec import Experiment
from mydyno.lab.stack import Journal, Layer, Site, Stack
from mydyno.lab.trial.describe import environment_facts, experiment_record
from mydyno.lab.trial.events import (
    EventLog,
    Listener,
    Looked,
    Resting,
    RunFinished,
    RunInterrupted,
    RunStarted,
    Step,
)
from mydyno.lab.trial.failures import Failures
from mydyno.lab.trial.fleet_run import FleetRunner
from mydyno.lab.trial.preflight import Prepared, releases_of
from mydyno.lab.trial.run_trial import TrialRunner
from mydyno.lab.trial.sliced_block import SlicedRunner
from mydyno.machine.environment import Environment
from mydyno.machine.protocol import Host
from mydyno.machine.uml import UmlKernels
from mydyno.machine.uml.kernels import chosen_kernel
from mydyno.server.releases import ReleaseStore


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
            if self.end_after(block, aloud=bool(left)):
                return

    def end_after(self, block: int, aloud: bool = True) -> bool:
        """Whether the design is content with the blocks up to this one; then they make the run complete."""
        if not self._known_well_enough(block, aloud):
            return False
        self.run.stop_after(sum(trial.block <= block for trial in self.plan.trials))
        return True

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


@dataclass(frozen=True)
class Campaign:
    """Everything that running a plan needs. The lab must be open for writing."""

    experiment: Experiment
    prepared: Prepared
    host: Host
    lab: Lab

    def go(self, listener: Listener, *, again: bool = False) -> Run:
        """Run what is left of the plan; with `again`, measure again what a finished run has measured.

        A trial that cannot be built or whose load breaks off is recorded as failed, and the others go on; the
        next start tries it again. The first such error is raised in the end where not one trial was measured.
        On Ctrl-C, SIGTERM or SIGHUP everything is stopped and removed, and KeyboardInterrupt raised; finished
        trials stay, and the next start goes on after them.
        """
        plan = self.prepared.plan
        with removal_explained(self.lab.path):
            run = self.lab.run(
                experiment_record(self.experiment, plan), plan.model_dump_json(indent=1), again=again
            )
            emit = EventLog(run.events_file, (listener,))
            try:
                with interruptible(), ReleaseStore().in_use(self._releases()):
                    error = self._measure(run, emit)
            except KeyboardInterrupt:
                emit(RunInterrupted(completed=len(run.completed()), planned=run.experiment.planned_trials))
                raise
            failed = run.failed()
            invalid = run.invalid() - failed
            valid = len(run.completed() - invalid)
            emit(RunFinished(valid=valid, invalid=len(invalid), failed=len(failed)))
            if error is not None and not run.completed():
                raise error
            return run

    def _measure(self, run: RunWriter, emit: EventLog) -> MydynoError | None:
        """Runs what is left, and gives the first error that failed a trial."""
        plan = self.prepared.plan
        completed = run.completed()
        planned = run.experiment.planned_trials
        estimate, left = plan.estimate, (planned - len(completed)) / len(plan.trials)
        emit(
            RunStarted(
                experiment=plan.experiment_name,
                folder=str(run.folder),
                planned=planned,
                completed=len(completed),
                expected_seconds=estimate.seconds * left,
                low_seconds=estimate.low_seconds * left,
                high_seconds=estimate.high_seconds * left,
            )
        )
        for sentence in _recovered(run):
            emit(Step(sentence))
        every = Blocks(plan, run, emit)
        blocks = every.left()
        first = next(blocks, None)
        if first is None:
            return None
        run.record_environment(environment_facts(self._machines(), self.prepared, engine_version()))
        self._fetch_kernels(emit)
        journal = Journal(self.lab.path)
        # What an earlier, killed run has left behind must not be in the way of this one.
        journal.replay()
        for sentence in journal.left:
            emit(Step(sentence))
        site, failures = Site(self.lab.path, self.host, journal), Failures()

        def new_stack(emit: Listener = emit) -> Stack:
            return Stack(site, announce=lambda layer: emit(_raising(layer)))

        if plan.fleet is not None:
            FleetRunner(self.prepared, new_stack, run, emit, failures, every.end_after)()
            return failures.first
        stack = new_stack()
        run_trial = TrialRunner(self.prepared, stack, run, emit, failures)
        lengthens = self.experiment.design.slice is None
        run_together = SlicedRunner(self.prepared, new_stack, run, emit, lengthens, failures)
        try:
            for trials in chain.from_iterable(map(self._together, chain([first], blocks))):
                if any(trials[0].point_id in group for group in plan.design.sliced):
                    run_together(trials)
                else:
                    run_trial(trials[0])
            return failures.first
        finally:
            with uninterrupted():
                stack.close()

    def _machines(self) -> dict[str | None, Environment]:
        """Those that servers run on. Raises HostError; of a fleet one that is lost is left out."""
        plan = self.prepared.plan
        found: dict[str | None, Environment] = {}
        names = plan.fleet.names if plan.fleet is not None else [each.setup.host.name for each in plan.points]
        for name in dict.fromkeys(names):
            if name is None:
                found[name] = self.host.environment(self.lab.path)
                continue
            with suppress(*([HostError] if plan.fleet is not None else [])):
                host = self.prepared.machines.host(name)
                found[name] = host.environment(host.trial_folder)
        return found

    def _together(self, block: Sequence[PlannedTrial]) -> Iterator[list[PlannedTrial]]:
        """The trials of a block that run at the same time."""
        groups = {point: group for group in self.prepared.plan.design.sliced for point in group}
        for _, trials in groupby(block, lambda trial: groups.get(trial.point_id, (trial.point_id,))):
            yield list(trials)

    def _releases(self) -> list[str]:
        """Those that must not be removed while it runs."""
        return [name for name in releases_of(self.prepared.plan) if name != SYSTEM]

    def _fetch_kernels(self, emit: EventLog) -> None:
        """Has the kernels of User-Mode Linux guests here before the first trial, not in the midst of one."""
        hosts = [point.setup.host for point in self.prepared.plan.points]
        for version in dict.fromkeys(host.kernel for host in hosts if host.kind == "uml"):
            chosen_kernel(UmlKernels(), version, lambda text: emit(Step(text)))


def _raising(layer: Layer) -> Step:
    return Step(f"setting up: {layer.name}", brief=layer.cost_seconds < 1)


def _recovered(run: RunWriter) -> list[str]:
    """What an earlier start that did not end well has left, and what became of it."""
    recovery = run.recovery
    groups = [
        ("was interrupted in {}: measured again", recovery.swept),
        ("had finished {} without recording it: recorded now", recovery.adopted),
        ("left {} unreadable: moved aside, measured again", recovery.damaged),
    ]
    return [f"an earlier start {text.format(', '.join(trials))}" for text, trials in groups if trials]
