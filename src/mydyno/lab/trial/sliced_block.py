"""One block in slices: the servers of all its points run at once, and one engine drives them in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace

from mydyno.core.errors import EngineError, MydynoError
from mydyno.core.interruption import uninterrupted
from mydyno.lab.analysis import soundness
from mydyno.lab.load.engine import Engine
from mydyno.lab.load.job import Job, SlicedJob, Slices
from mydyno.lab.load.messages import server_of
from mydyno.lab.plan import PlannedTrial
from mydyno.lab.plan.slices import LONGEST_S, slice_order
from mydyno.lab.results.writer import RunWriter
from mydyno.lab.stack import Server, Stack
from mydyno.lab.trial.attempt import Attempt
from mydyno.lab.trial.drive import LoadRun, has_ended
from mydyno.lab.trial.events import Listener, Step
from mydyno.lab.trial.failures import Failure, Failures
from mydyno.lab.trial.outcome import Outcome, unmeasured
from mydyno.lab.trial.preflight import Prepared
from mydyno.lab.trial.progress import progress_of
from mydyno.lab.trial.run_trial import TrialRunner
from mydyno.lab.trial.running import Running
from mydyno.lab.trial.slice_fit import fit_phases

_ROUNDS = 1000
"""The engine begins again at the first round after so many."""


@dataclass(frozen=True)
class _Member:
    """One point of the block, whose server runs."""

    runner: TrialRunner
    attempt: Attempt
    running: Running
    load: LoadRun
    server: Server


@dataclass(frozen=True)
class SlicedRunner:
    """Runs trials of one block together, each on a stack of its own, and saves each in the lab."""

    prepared: Prepared
    new_stack: Callable[[], Stack]
    run: RunWriter
    emit: Listener
    lengthens: bool
    """Slices become longer after a block in which the servers disturbed each other."""
    failures: Failures = field(default_factory=Failures)

    def __call__(self, trials: Sequence[PlannedTrial]) -> None:
        """Runs `trials` to their end and saves them; raises as `TrialRunner`."""
        began = time.monotonic()
        runners = [
            TrialRunner(self.prepared, self.new_stack(), self.run, self.emit, self.failures, Stack.close)
            for _ in trials
        ]
        try:
            started = [self._started(*each) for each in zip(runners, trials, strict=True)]
            members = [member for member, _, _ in started if member is not None]
            if members:
                self._drive(members, trials[0].block)
            outcomes = [self._outcome(*each) for each in started]
        finally:
            with uninterrupted():
                for runner in runners:
                    runner.stack.close()
        if any(member is None for member, _, _ in started):
            # What a layer that could not be built has left, now that nothing of the block runs any more.
            runners[0].stack.clear()
        seconds = (time.monotonic() - began) / len(trials)
        for runner, (_, attempt, _), outcome in zip(runners, started, outcomes, strict=True):
            runner.save(attempt, replace(outcome, record=replace(outcome.record, seconds=seconds)))

    def _started(
        self, runner: TrialRunner, planned: PlannedTrial
    ) -> tuple[_Member | None, Attempt, Outcome | None]:
        """The point with its server, or why there is none."""
        attempt = runner.begin(planned)
        if skipped := self.failures.skipped(attempt.point):
            return None, attempt, unmeasured(attempt, skipped)
        try:
            running = runner.start(attempt)
        except MydynoError as error:
            return None, attempt, runner.failed(attempt, error)
        assert running.server is not None, "slices are for servers"
        load = LoadRun(self.prepared, attempt, running, self.emit)
        return _Member(runner, attempt, running, load, running.server), attempt, None

    def _drive(self, members: Sequence[_Member], block: int) -> None:
        jobs: list[tuple[_Member, Job]] = []
        for member in members:
            try:
                jobs.append((member, member.load.begin(member.server)))
            except MydynoError as error:
                member.load.observed.failure = Failure("load", error)
        if not jobs:
            return
        driven = [member for member, _ in jobs]
        try:
            self._hear(driven, self._job(jobs, block))
        except MydynoError as error:
            if not isinstance(error, EngineError) or not any(has_ended(each.server) for each in driven):
                for member in driven:
                    member.load.observed.failure = Failure("load", error)
        for member in driven:
            member.load.end(member.server)
        fit_phases(
            [member.load.observed.collector for member in driven],
            [member.attempt.point.title for member in driven],
        )

    def _job(self, jobs: Sequence[tuple[_Member, Job]], block: int) -> SlicedJob:
        seconds = self._slice_s({member.attempt.point.id for member, _ in jobs}, block)
        order = slice_order(len(jobs), _ROUNDS, self.prepared.plan.seed, block)
        servers = tuple(job for _, job in jobs)
        return SlicedJob(servers=servers, slices=Slices(seconds, max(seconds, LONGEST_S), order))

    def _slice_s(self, group: Set[str], block: int) -> float:
        """As planned for the points, twice as long after each block in which they disturbed each other."""
        design = self.prepared.plan.design
        seconds = next(
            seconds
            for points, seconds in zip(design.sliced, design.slice_s, strict=True)
            if group <= set(points)
        )
        if not self.lengthens:
            return seconds
        disturbed = {
            trial.block
            for trial in self.run.trials()
            if trial.block < block
            and trial.point_id in group
            and any(remark.check == soundness.CHECK for remark in trial.remarks)
        }
        return max(seconds, min(LONGEST_S, seconds * 2.0 ** len(disturbed)))

    def _hear(self, members: Sequence[_Member], job: SlicedJob) -> None:
        self.emit(Step(f"driving {len(members)} servers in turn, in slices of {job.slices.slice_s:g} s"))
        with Engine(job, members[0].server.host) as engine:
            for message in engine:
                member = members[server_of(message)]
                collector = member.load.observed.collector
                collector.hear(message)
                if event := progress_of(message, collector, "queries", member.attempt.point.title):
                    self.emit(event)

    def _outcome(self, member: _Member | None, attempt: Attempt, outcome: Outcome | None) -> Outcome:
        """Stops the server of a point and judges its trial."""
        if member is None:
            assert outcome is not None
            return outcome
        observed = member.load.observed
        member.runner.stop(member.running, observed)
        return member.runner.judge(attempt, member.running, observed)
