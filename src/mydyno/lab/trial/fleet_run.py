"""The trials of a run on the hosts of a fleet: one trial at a time on each, the hosts side by side.

Each host has a thread that builds, drives and removes its trials. All that they share belongs to the main
thread: which trial is next, the lab (one writer, each trial saved whole as it ends), and the events. A thread
reports, and the main thread acts on it. A host that is lost costs the trial that it ran, which another one
measures again; meanwhile its thread tries to reach it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from queue import Empty, SimpleQueue

from mydyno.core.errors import HostError, MydynoError
from mydyno.core.interruption import uninterrupted
from mydyno.lab.analysis.hosts import control_sentence, hosts_of_control
from mydyno.lab.analysis.words import primary_metric
from mydyno.lab.plan import PlannedTrial
from mydyno.lab.plan.fleet import Assignment, Fleet
from mydyno.lab.plan.order import trial_seed
from mydyno.lab.results.records import CONTROL_BLOCK
from mydyno.lab.results.writer import RunWriter
from mydyno.lab.stack import Stack
from mydyno.lab.trial.attempt import Attempt
from mydyno.lab.trial.drivers import load_tables
from mydyno.lab.trial.events import (
    Event,
    HostLost,
    HostReturned,
    HostsCompared,
    Listener,
    Resting,
)
from mydyno.lab.trial.failures import Failures
from mydyno.lab.trial.outcome import Outcome
from mydyno.lab.trial.preflight import Prepared
from mydyno.lab.trial.run_trial import TrialRunner
from mydyno.lab.trial.running import dataset_layers
from mydyno.machine.hosts.machines import AGAIN_SECONDS, LOST_SECONDS

MOST_HOSTS = 2
"""Hosts that one trial may cost, after which it is recorded as it is: its load may be what ends them."""
_JOIN_SECONDS = 15.0
_LOOKS_SECONDS = 1.0
"""How often it is looked at whether hosts are lost for too long."""

Report = Callable[[], None]
"""Something for the main thread to do."""


@dataclass
class _Worker:
    """One host and its thread. What it is given runs there; `post` gives the main thread a report."""

    name: str
    runner: TrialRunner
    post: Callable[[Report], None]
    ended: threading.Event = field(default_factory=threading.Event)
    block: int | None = None
    """Of its last trial."""
    _work: SimpleQueue[Callable[[], None] | None] = field(default_factory=SimpleQueue)

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name=f"trials on {self.name}", daemon=True)
        self._thread.start()

    def give(self, work: Callable[[], None]) -> None:
        self._work.put(work)

    def end(self) -> None:
        self.ended.set()
        self._work.put(None)

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()


@dataclass
class FleetRunner:
    """Runs what is left of a plan. `end_after` decides after a block whether the design is content."""

    prepared: Prepared
    new_stack: Callable[[Listener], Stack]
    run: RunWriter
    emit: Listener
    failures: Failures
    end_after: Callable[[int, bool], bool]
    """Of a block, and whether to say what is known."""
    again_seconds: float = AGAIN_SECONDS
    alone_seconds: float = LOST_SECONDS
    """How long it waits when all hosts are lost."""

    def __post_init__(self) -> None:
        assert self.prepared.plan.fleet is not None
        # A lost host's thread waits for it, and its trial goes to another one.
        self.prepared.machines.patience_seconds = 0.0
        self._fleet: Fleet = self.prepared.plan.fleet
        self._main = threading.get_ident()
        self._reports: SimpleQueue[Report] = SimpleQueue()
        self._workers = {name: self._worker(name) for name in self._fleet.names}
        self._alive = dict.fromkeys(self._workers)
        self._cost: dict[str, int] = {}
        """Trial -> the hosts that were lost under it."""
        self._error: BaseException | None = None
        """What ends the run: it concerns every trial."""
        self._busy: set[str] = set()
        """The hosts that run a trial."""
        self._last_loss: HostError | None = None

    def __call__(self) -> None:
        """Raises the error that concerns every trial, HostError when no host is left, KeyboardInterrupt."""
        plan = self.prepared.plan
        self._make_datasets()
        for worker in self._workers.values():
            worker.start()
        try:
            self._compare_hosts()
            blocks = Assignment(plan.trials, plan.seed, self.run.finished_by())
            for last_block in self._looks():
                runs = bool(blocks.left(last_block))
                self._go(blocks, last_block)
                if plan.design.first_look is not None and self.end_after(last_block, runs):
                    return
        finally:
            self._stop()

    def _looks(self) -> Iterator[int]:
        """The blocks after which a sequential design looks: with every wave of hosts, which errs on the safe
        side; of any other design the last one."""
        first, last = self.prepared.plan.design.first_look, self.prepared.plan.blocks
        wave = max(1, len(self._alive))
        block = last if first is None else -(-first // wave) * wave
        while block < last:
            yield block
            block += max(1, len(self._alive))
        yield last

    def _worker(self, name: str) -> _Worker:
        def emit(event: Event) -> None:
            named = replace(event, host=name)
            if threading.get_ident() == self._main:
                self.emit(named)
            else:
                self._post(lambda: self.emit(named))

        runner = TrialRunner(
            self.prepared.on(name), self.new_stack(emit), self.run, emit, self.failures, Stack.close
        )
        return _Worker(name, runner, self._post)

    def _post(self, report: Report) -> None:
        self._reports.put(report)

    def _make_datasets(self) -> None:
        """Here and once, before hosts need them at the same time."""
        plan = self.prepared.plan
        completed = self.run.completed()
        left = {trial.point_id: trial for trial in plan.trials if trial.id not in completed}
        with self.new_stack(self.emit) as stack:
            for point_id, trial in left.items():
                attempt = Attempt(trial, plan.point(point_id), self.run.folder)
                load = partial(load_tables, point=attempt.point, seed=plan.dataset_seed, emit=self.emit)
                stack.move_to(dataset_layers(self.prepared, attempt.point, load))

    def _compare_hosts(self) -> None:
        """The A/A over hosts: what of it the lab does not have, and what it shows."""
        plan = self.prepared.plan
        trials = [
            (name, control_trial(name, number, plan.points[0].id, plan.seed))
            for number in range(self._fleet.control_trials)
            for name in self._workers
        ]
        known = {trial.trial_id for trial in self.run.control_trials() if trial.status == "valid"}
        missing = [(name, trial) for name, trial in trials if trial.id not in known]
        for number in range(self._fleet.control_trials):
            for name, trial in missing:
                if trial.index == number and name in self._alive:
                    self._measure(self._workers[name], trial, lambda: None)
            self._wait(lambda: not self._busy)
        control = self.run.control_trials()
        if trials and control:
            metric = primary_metric(control, self.run.experiment.work)
            if (found := hosts_of_control(control, metric)) is not None:
                self.emit(HostsCompared(sentence=control_sentence(found)))

    def _go(self, blocks: Assignment, last_block: int) -> None:
        """Runs all trials up to a block."""
        trials = {trial.id: trial for trial in self.prepared.plan.trials}
        began = time.monotonic()
        while blocks.left(last_block):
            for name in self._workers:
                (blocks.joins if name in self._alive else blocks.leaves)(name)
            for name in self._alive:
                if name not in blocks.running and (trial := blocks.next(name, last_block)) is not None:
                    blocks.started(name, trial)
                    self._measure(self._workers[name], trials[trial], partial(blocks.finished, name))
            if blocks.running:
                began = time.monotonic()
            elif time.monotonic() - began > self.alone_seconds:
                raise self._last_loss or HostError("no host of the fleet answers")
            self._act()

    def _measure(self, worker: _Worker, planned: PlannedTrial, finished: Callable[[], None]) -> None:
        """Has it measured by its host, after the pause before another block, and then saved. `finished` is
        called unless the host was lost."""
        seconds = self.prepared.plan.design.rest_s
        follows = worker.block not in (None, CONTROL_BLOCK, planned.block)
        worker.block = planned.block
        self._busy.add(worker.name)

        def rest() -> None:
            worker.ended.wait(seconds)
            self._post(lambda: self._begin(worker, planned, finished))

        if follows and seconds:
            worker.runner.emit(Resting(block=planned.block, seconds=seconds))
            worker.give(rest)
        else:
            self._begin(worker, planned, finished)

    def _begin(self, worker: _Worker, planned: PlannedTrial, finished: Callable[[], None]) -> None:
        runner = worker.runner
        attempt = runner.begin(planned)

        def measure() -> None:
            try:
                outcome = runner.measure(attempt)
            except BaseException as error:
                # A closure keeps no name of an except clause.
                failed = error
                self._post(lambda: self._fail(worker, failed))
                return
            lost = outcome.record.status != "valid" and not self.prepared.machines.answers(worker.name)
            self._post(lambda: self._end(worker, attempt, outcome, finished, lost=lost))

        worker.give(measure)

    def _end(
        self, worker: _Worker, attempt: Attempt, outcome: Outcome, finished: Callable[[], None], *, lost: bool
    ) -> None:
        trial = attempt.planned.id
        self._busy.discard(worker.name)
        if lost:
            self._cost[trial] = self._cost.get(trial, 0) + 1
            self._lose(worker, trial, outcome)
        if not lost or self._cost[trial] >= MOST_HOSTS:
            worker.runner.save(attempt, outcome)
            finished()

    def _fail(self, worker: _Worker, error: BaseException) -> None:
        self._busy.discard(worker.name)
        self._error = self._error or error

    def _lose(self, worker: _Worker, trial: str, outcome: Outcome) -> None:
        reason = "; ".join(each.message for each in outcome.record.invalidities)
        self._alive.pop(worker.name, None)
        self._last_loss = HostError(
            f"no host of the fleet is left; {worker.name}: {reason}",
            "the same command resumes the run when one answers: `mydyno hosts check`",
        )
        self.emit(HostLost(reason=reason, trial=trial, hosts=len(self._alive), host=worker.name))
        worker.give(lambda: self._reach(worker))

    def _reach(self, worker: _Worker) -> None:
        """Tries to reach a lost host, until it answers or the run has ended. In its thread."""
        while not worker.ended.wait(self.again_seconds):
            with suppress(MydynoError):
                self.prepared.machines.host(worker.name)
                self._post(lambda: self._return(worker))
                return

    def _return(self, worker: _Worker) -> None:
        self._alive[worker.name] = None
        self.emit(HostReturned(host=worker.name))

    def _wait(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._act()

    def _act(self) -> None:
        """Waits for a report and acts on it."""
        try:
            report = self._reports.get(timeout=_LOOKS_SECONDS)
        except Empty:
            return
        with uninterrupted():
            report()
        if self._error is not None:
            raise self._error

    def _stop(self) -> None:
        """Ends what still runs, on the hosts too, and waits for the threads."""
        with uninterrupted():
            for worker in self._workers.values():
                worker.end()
            if self._busy:
                self.prepared.machines.close()
            deadline = time.monotonic() + _JOIN_SECONDS
            for worker in self._workers.values():
                worker.join(max(0.0, deadline - time.monotonic()))


def control_trial(host: str, number: int, point_id: str, seed: int) -> PlannedTrial:
    """Of the A/A over hosts; `number` from 0."""
    return PlannedTrial(
        id=f"{host}-aa{number + 1}",
        index=number,
        block=CONTROL_BLOCK,
        point_id=point_id,
        seed=trial_seed(seed, CONTROL_BLOCK),
    )
