"""One trial: start the stack, drive the load, stop, judge, save."""

from collections.abc import Callable
from dataclasses import dataclass, field

from mydyno.core.errors import HostError, MydynoError
from mydyno.core.interruption import uninterrupted
from mydyno.lab.plan import PlannedTrial, time_of
from mydyno.lab.results.records import CONTROL_BLOCK, TrialRecord
from mydyno.lab.results.writer import RunWriter
from mydyno.lab.sampling.frames import interval_frame
from mydyno.lab.stack import DatasetLayer, RunningServer, Stack
from mydyno.lab.stack.disk_base_layer import DiskBaseLayer
from mydyno.lab.trial.attempt import Attempt
from mydyno.lab.trial.drive import LoadRun, Observed
from mydyno.lab.trial.drivers import fill_files, load_tables
from mydyno.lab.trial.events import Listener, Step, TrialFinished, TrialStarted
from mydyno.lab.trial.failures import Failure, Failures, spoils_one_trial
from mydyno.lab.trial.lab_times import add_time, time_cache
from mydyno.lab.trial.outcome import Outcome, judge, unmeasured
from mydyno.lab.trial.preflight import Prepared
from mydyno.lab.trial.running import Running, start_stack

_MADE_ONCE = (DatasetLayer.name, DiskBaseLayer.name)
"""Layers that an estimate counts apart from trials."""


@dataclass(frozen=True)
class TrialRunner:
    """Runs trials of one plan on one stack, one after another, and saves each in the lab."""

    prepared: Prepared
    stack: Stack
    run: RunWriter
    emit: Listener
    failures: Failures = field(default_factory=Failures)
    remove: Callable[[Stack], None] = Stack.clear
    """How what a failed trial has left is removed."""

    def __call__(self, planned: PlannedTrial) -> TrialRecord:
        """Runs `planned` to its end and saves it: valid, invalid, or failed with the reason.

        Raises the errors that concern every trial (the lab, an undo that failed, an external server); the
        lab then has no record of this one.
        """
        attempt = self.begin(planned)
        return self.save(attempt, self.measure(attempt))

    def measure(self, attempt: Attempt) -> Outcome:
        """All of a trial but its folder and its place in the lab; raises as the whole does."""
        if skipped := self.failures.skipped(attempt.point):
            return unmeasured(attempt, skipped)
        try:
            running = self.start(attempt)
            observed = LoadRun(self.prepared, attempt, running, self.emit).drive()
            self.stop(running, observed)
            return self.judge(attempt, running, observed)
        except MydynoError as error:
            return self.failed(attempt, error)

    def begin(self, planned: PlannedTrial) -> Attempt:
        plan = self.prepared.plan
        point = plan.point(planned.point_id)
        control = planned.block == CONTROL_BLOCK
        assert plan.fleet is not None or not control
        self.emit(
            TrialStarted(
                trial=planned.id,
                number=planned.index + 1,
                planned=plan.fleet.control_trials if plan.fleet and control else len(plan.trials),
                block=planned.block,
                point=point.title or "the only point",
                phases=point.workload.phases,
                control=control,
            )
        )
        self.stack.spent.clear()
        return Attempt(planned, point, self.run.new_trial_folder(planned.id), self.prepared.place)

    def start(self, attempt: Attempt) -> Running:
        plan = self.prepared.plan
        return start_stack(
            self.stack,
            self.prepared,
            attempt,
            load=lambda server: load_tables(server, attempt.point, plan.dataset_seed, self.emit),
            fill=lambda running: fill_files(running, attempt, plan, self.emit),
        )

    def stop(self, running: Running, observed: Observed) -> None:
        """Stops the server and removes all layers above the dataset, which the next trial clones again."""
        self.emit(Step("stopping the server and removing what the trial set up"))
        with uninterrupted():
            if isinstance(running.server, RunningServer) and observed.server_alive and not observed.host_lost:
                running.server.leave_pages_unwritten()
            self.stack.move_to([layer for layer in self.stack.layers[:1] if isinstance(layer, DatasetLayer)])

    def judge(self, attempt: Attempt, running: Running, observed: Observed) -> Outcome:
        if observed.failure is None:
            self.failures.measured(attempt.point)
        else:
            self._note(attempt, observed.failure)
        return judge(attempt, running, observed)

    def failed(self, attempt: Attempt, error: MydynoError) -> Outcome:
        """Notes a trial whose stack could not be started, and removes all of it."""
        if not spoils_one_trial(error, attempt.point):
            raise error
        failure = Failure(self.stack.building or "preparing the load", error)
        with uninterrupted():
            self.remove(self.stack)
        self._note(attempt, failure)
        return unmeasured(attempt, failure.reason(attempt.folder))

    def _note(self, attempt: Attempt, failure: Failure) -> None:
        """On a fleet it may be the host that failed: then the trial is for another one."""
        if attempt.host is None or not isinstance(failure.error, HostError):
            self.failures.failed(attempt.point, failure)

    def save(self, attempt: Attempt, outcome: Outcome) -> TrialRecord:
        with uninterrupted():
            record = self.run.save_trial(
                outcome.record,
                samples=outcome.samples,
                intervals=interval_frame(outcome.intervals),
                histograms=outcome.histograms,
            )
        if record.status == "valid":
            once = sum(self.stack.spent.get(layer, 0.0) for layer in _MADE_ONCE)
            cost = self.prepared.plan.estimate.trials[attempt.point.id]
            add_time(time_cache(), time_of(attempt.point, cost, record.seconds - once))
        self.emit(
            TrialFinished(
                trial=record.trial_id,
                status=record.status if record.measured else "failed",
                reasons=tuple(reason.message for reason in record.invalidities),
                seconds=record.seconds,
                control=record.block == CONTROL_BLOCK,
            )
        )
        return record
