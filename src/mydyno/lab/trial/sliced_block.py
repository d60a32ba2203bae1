"""One block in slices: the servers of all its points run at once, and one engine drives them in turn.
`fit_phases` makes the numbers of each one's phases of the slices of all.
"""

import time
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace

from mydyno.core.errors import EngineError, MydynoError
from mydyno.core.interruption import uninterrupted
from mydyno.lab.analysis import soundness
from mydyno.lab.analysis.slices import Slice, SliceFit, Spent, fit, fit_costs
from mydyno.lab.analysis.soundness import Idle, Usage
from mydyno.lab.load import messages
from mydyno.lab.load.engine import Engine
from mydyno.lab.load.job import Job, SlicedJob, Slices
from mydyno.lab.load.messages import server_of
from mydyno.lab.plan import PlannedTrial
from mydyno.lab.plan.slices import longest_slice_s, slice_order
from mydyno.lab.results.records import PhaseRecord, SlicesRecord
from mydyno.lab.results.writer import RunWriter
from mydyno.lab.sampling.costs import cpu_costs
from mydyno.lab.stack import Stack
from mydyno.lab.trial.attempt import Attempt
from mydyno.lab.trial.collect import Collector, progress_of
from mydyno.lab.trial.drive import LoadRun, has_ended
from mydyno.lab.trial.events import Listener, PhaseStarted, Step
from mydyno.lab.trial.failures import Failure, Failures
from mydyno.lab.trial.outcome import Outcome, unmeasured
from mydyno.lab.trial.preflight import Prepared
from mydyno.lab.trial.run_trial import TrialRunner

_NS = 1e9


def fit_phases(collectors: Sequence[Collector], names: Sequence[str]) -> None:
    """Gives each finished phase of each server the rates of the fit over the slices of all of them.

    `collectors` and `names`: one for each server of the block, in the order of their numbers in the job.
    """
    everything = [one for collector in collectors for one in collector.slices if not one.warmup]
    for phase in sorted({one.phase for one in everything}):
        slices = sorted((one for one in everything if one.phase == phase), key=lambda one: one.from_ns)
        fitted = fit([_slice(one) for one in slices], len(collectors))
        cpu = fit_costs([spent for one in slices if (spent := _spent(one))], len(collectors))
        idle = [_idle(slices, server) for server in range(len(collectors))]
        remarks = [replace(remark, phase=phase) for remark in soundness.soundness(fitted, idle, names)]
        for server, collector in enumerate(collectors):
            collector.remarks += remarks
            own = [one for one in slices if one.server == server]
            collector.phases = [
                _with_costs(_with_slices(record, own, fitted, idle[server], server), own, cpu[server])
                if record.index == phase
                else record
                for record in collector.phases
            ]


def _with_slices(
    record: PhaseRecord, slices: Sequence[messages.Slice], fitted: SliceFit, idle: Idle, server: int
) -> PhaseRecord:
    rate = fitted.rates[server]
    if rate is None or not slices:
        return record
    per_query = record.transactions / record.queries if record.queries and record.transactions else 0.0
    return replace(
        record,
        queries_per_second=rate,
        transactions_per_second=rate * per_query,
        slices=SlicesRecord(
            seconds=_seconds(slices[0]),
            cut_s=fitted.cut_s,
            rounds=tuple(one.round for one in slices),
            queries_per_second=tuple(_rate(one, fitted.cut_s) for one in slices),
            error=fitted.errors[server],
            autocorrelation=fitted.autocorrelation,
            idle_cpu=_per_second(idle.idle.cpu_s, idle.idle),
            idle_write_bytes_per_second=_per_second(idle.idle.write_bytes, idle.idle),
        ),
    )


def _with_costs(record: PhaseRecord, own: Sequence[messages.Slice], cpu_s: float | None) -> PhaseRecord:
    """With CPU per query (`cpu_s`) as the fit over all servers has it, shared out as the ticks of all of the
    server's slices are."""
    used = [usage for one in own if (usage := one.usage[one.server]) is not None]
    if cpu_s is None or not used:
        return record
    user_s, system_s = sum(one.cpu_user_s for one in used), sum(one.cpu_system_s for one in used)
    return replace(record, costs=cpu_costs(cpu_s, user_s, system_s, queries=1))


def _spent(one: messages.Slice) -> Spent | None:
    used = one.usage[one.server]
    if used is None:
        return None
    return Spent(one.server, one.round, used.cpu_s, one.queries + one.drained_queries)


def _slice(one: messages.Slice) -> Slice:
    return Slice(one.server, one.round, one.after, _seconds(one), one.parts)


def _seconds(one: messages.Slice) -> float:
    return (one.to_ns - one.from_ns) / _NS


def _rate(one: messages.Slice, cut_s: float) -> float:
    seconds = _seconds(one)
    left_out = round(cut_s / seconds * len(one.parts))
    return sum(one.parts[left_out:]) / (seconds * (1 - left_out / len(one.parts)))


def _idle(slices: Sequence[messages.Slice], server: int) -> Idle:
    """What the server's process used in its own slices, and in those of the others."""
    own = [one for one in slices if one.server == server]
    return Idle(server, _usage(own, server), _usage([one for one in slices if one.server != server], server))


def _usage(slices: Sequence[messages.Slice], server: int) -> Usage:
    seen = [(one, used) for one in slices if (used := one.usage[server]) is not None]
    return Usage(
        seconds=sum((one.drained_ns - one.from_ns) / _NS for one, _ in seen),
        cpu_s=sum(used.cpu_s for _, used in seen),
        read_bytes=sum(used.read_bytes or 0 for _, used in seen),
        write_bytes=sum(used.write_bytes or 0 for _, used in seen),
    )


def _per_second(amount: float, usage: Usage) -> float | None:
    return amount / usage.seconds if usage.seconds else None


_ROUNDS = 1000
"""The engine begins again at the first round after so many."""


@dataclass(frozen=True)
class _Member:
    """One trial of the block: its load where its server runs, else its outcome without one."""

    runner: TrialRunner
    attempt: Attempt
    state: LoadRun | Outcome

    def outcome(self) -> Outcome:
        """Stops the server, if it runs, and judges the trial."""
        if isinstance(self.state, Outcome):
            return self.state
        self.runner.stop(self.state.running, self.state.observed)
        return self.runner.judge(self.attempt, self.state.running, self.state.observed)


@dataclass(frozen=True)
class SlicedRunner:
    """Runs trials of one block together, each on a separate stack, and saves each in the lab."""

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
            members = [self._started(*each) for each in zip(runners, trials, strict=True)]
            loads = [member.state for member in members if isinstance(member.state, LoadRun)]
            if loads:
                self._drive(loads, trials[0].block)
            outcomes = [member.outcome() for member in members]
        finally:
            with uninterrupted():
                for runner in runners:
                    runner.stack.close()
        if len(loads) < len(members):
            # What a layer that could not be built has left, now that nothing of the block runs any more.
            runners[0].stack.clear()
        seconds = (time.monotonic() - began) / len(trials)
        for member, outcome in zip(members, outcomes, strict=True):
            record = replace(outcome.record, seconds=seconds)
            member.runner.save(member.attempt, replace(outcome, record=record))

    def _started(self, runner: TrialRunner, planned: PlannedTrial) -> _Member:
        attempt = runner.begin(planned)
        if skipped := self.failures.skipped(attempt.point):
            return _Member(runner, attempt, unmeasured(attempt, skipped))
        try:
            running = runner.start(attempt)
        except MydynoError as error:
            return _Member(runner, attempt, runner.failed(attempt, error))
        return _Member(runner, attempt, LoadRun(self.prepared, attempt, running, self.emit))

    def _drive(self, loads: Sequence[LoadRun], block: int) -> None:
        jobs: list[tuple[LoadRun, Job]] = []
        for load in loads:
            try:
                jobs.append((load, load.begin()))
            except MydynoError as error:
                load.observed.failure = Failure("load", error)
        if not jobs:
            return
        driven = [load for load, _ in jobs]
        try:
            self._hear(driven, self._job(jobs, block))
        except MydynoError as error:
            if not isinstance(error, EngineError) or not any(has_ended(load.server) for load in driven):
                for load in driven:
                    load.observed.failure = Failure("load", error)
        for load in driven:
            load.end()
        fit_phases(
            [load.observed.collector for load in driven], [load.attempt.point.title for load in driven]
        )

    def _job(self, jobs: Sequence[tuple[LoadRun, Job]], block: int) -> SlicedJob:
        points = [load.attempt.point for load, _ in jobs]
        longest = longest_slice_s(points)
        seconds = self._slice_s({point.id for point in points}, block, longest)
        order = slice_order(len(jobs), _ROUNDS, self.prepared.plan.seed, block)
        servers = tuple(job for _, job in jobs)
        return SlicedJob(servers=servers, slices=Slices(seconds, max(seconds, longest), order))

    def _slice_s(self, group: Set[str], block: int, longest: float) -> float:
        """As planned for the points, twice as long after each block in which they disturbed each other, up to
        `longest`."""
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
        return max(seconds, min(longest, seconds * 2.0 ** len(disturbed)))

    def _hear(self, loads: Sequence[LoadRun], job: SlicedJob) -> None:
        self.emit(Step(f"driving {len(loads)} servers in turn, in slices of {job.slices.slice_s:g} s"))
        begun: PhaseStarted | None = None
        with Engine(job, loads[0].server.host) as engine:
            for message in engine:
                load = loads[server_of(message)]
                collector = load.observed.collector
                collector.hear(message)
                event = progress_of(message, collector, "queries", load.attempt.point.title)
                if isinstance(event, PhaseStarted):
                    # All servers begin a phase together: the first of them stands for all.
                    event, begun = (None if event == begun else event), event
                if event:
                    self.emit(event)
