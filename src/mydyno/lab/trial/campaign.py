"""All trials of a plan, in order: what is measured already is left out, a kill loses at most one trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from mydyno.core.errors import MydynoError
from mydyno.core.interruption import interruptible, uninterrupted
from mydyno.core.server_release import SYSTEM
from mydyno.lab.load.engine import engine_version
from mydyno.lab.plan import PlannedTrial
from mydyno.lab.results.lost import removal_explained
from mydyno.lab.results.run import Run
from mydyno.lab.results.store import Lab
from mydyno.lab.results.writer import RunWriter
from mydyno.lab.spec import Experiment
from mydyno.lab.stack import Journal, Layer, Site, Stack
from mydyno.lab.trial.blocks import Blocks
from mydyno.lab.trial.describe import environment_facts, experiment_record
from mydyno.lab.trial.events import EventLog, Listener, RunFinished, RunInterrupted, RunStarted, Step
from mydyno.lab.trial.failures import Failures
from mydyno.lab.trial.preflight import Prepared, releases_of
from mydyno.lab.trial.run_trial import TrialRunner
from mydyno.lab.trial.sliced_block import SlicedRunner
from mydyno.machine.protocol import Host
from mydyno.machine.uml import UmlKernels
from mydyno.machine.uml.kernels import chosen_kernel
from mydyno.server.releases import ReleaseStore


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
        with interruptible(), removal_explained(self.lab.path):
            run = self.lab.run(
                experiment_record(self.experiment, plan), plan.model_dump_json(indent=1), again=again
            )
            emit = EventLog(run.events_file, (listener,))
            try:
                with ReleaseStore().in_use(self._releases()):
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
        blocks = Blocks(plan, run, emit).left()
        first = next(blocks, None)
        if first is None:
            return None
        machine = self.host.environment(self.lab.path)
        run.record_environment(environment_facts(machine, self.prepared, engine_version()))
        self._fetch_kernels(emit)
        journal = Journal(self.lab.path)
        # What an earlier, killed run has left behind must not be in the way of this one.
        journal.replay()
        for sentence in journal.left:
            emit(Step(sentence))
        site, failures = Site(self.lab.path, self.host, journal), Failures()

        def new_stack() -> Stack:
            return Stack(site, announce=lambda layer: emit(_raising(layer)))

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
    found = run.recovery
    told = [
        ("was interrupted in {}: measured again", found.swept),
        ("had finished {} without recording it: recorded now", found.adopted),
        ("left {} unreadable: moved aside, measured again", found.damaged),
    ]
    return [f"an earlier start {text.format(', '.join(trials))}" for text, trials in told if trials]
