"""An external program as a driver: the messages of the engine, with None for what it does not report."""

import contextlib
import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Self

from mydyno.core.errors import EngineError, UsageError
from mydyno.lab.load import messages
from mydyno.lab.load.external.foreign import Clock, Cut, PhaseListener, Start, Step, Watch, administration
from mydyno.lab.load.external.program import Child, Closed, Ended, Line, Patience, PrivateFolder
from mydyno.lab.load.external.slap import Slap
from mydyno.lab.load.external.sysbench import Sysbench
from mydyno.lab.load.job import PROTOCOL, Job, Phase
from mydyno.lab.workload.external_program import ExternalSlap, ExternalSysbench

_LOOK_EVERY_S = 0.5
_ENDS_WITHIN_S = 10.0

_Heard = Line | Closed | messages.Sample | Exception
"""A line of the program, or its end; a sample; what ended the sampling."""


class External:
    """One job done by a foreign program; iterate over it to hear what happened. A `Driver`.

    The job's workload is the program's own, with `options`. A program that waits for `answer_within_s`
    seconds without using any CPU is stopped: the server does not answer.
    """

    def __init__(self, job: Job, options: ExternalSysbench | ExternalSlap) -> None:
        """Raises MissingToolError without the program, UsageError for phases that it cannot do."""
        self._job = job
        self._heard: SimpleQueue[_Heard] = SimpleQueue()
        self._stopping = False
        self._untidy = False
        self._child: Child | None = None
        self._watch: Watch | None = None
        self._cpu = (0.0, 0.0)
        self._folder = PrivateFolder()
        try:
            self._generator = (
                Sysbench(options, job, self._folder)
                if isinstance(options, ExternalSysbench)
                else Slap(options, job, self._folder)
            )
            for phase in job.phases:
                _refuse_shape(phase, self._generator.program.name)
                self._generator.check(phase)
        except BaseException:
            self._folder.remove()
            raise
        self._clock = Clock.start()

    def request_stop(self) -> None:
        """Ask for an early end: the running phase is closed and reported as interrupted."""
        self._stopping = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._child:
                self._child.kill()
                self._child.end()
            self._tidy()
            if self._watch:
                self._watch.stop()
        finally:
            self._folder.remove()

    def __iter__(self) -> Iterator[messages.Message]:
        yield self._hello()
        yield from self._prepare()
        aborted = False
        if self._job.phases and not self._stopping:
            if self._job.sampling:
                self._watch = Watch(self._job.target, self._job.sampling, self._clock, self._heard.put)
            aborted = yield from self._run_phases()
            yield from self._last_samples()
        yield messages.foreign_done(self._cpu, self._clock.now(), interrupted=self._stopping, aborted=aborted)

    def _hello(self) -> messages.Hello:
        cpus = sorted(os.sched_getaffinity(0))
        with administration(self._job.target) as admin:
            if self._job.phases:
                self._generator.before(admin)
            return messages.Hello(
                protocol=PROTOCOL,
                engine_version=str(self._generator.program),
                seed=self._job.seed,
                started_unix_ns=self._clock.started_unix_ns,
                reactors=len(cpus),
                pinned=False,
                cpus=cpus,
                server_version=admin.server_version,
                server_pid=None,
                t_ns=self._clock.now(),
            )

    def _prepare(self) -> Iterator[messages.Message]:
        if self._job.prepare == "none":
            return
        with administration(self._job.target) as admin:
            if self._generator.schema:
                admin.make_schema(self._generator.schema)
            steps: Sequence[Step] = ()
            if self._job.prepare == "create" or self._generator.missing(admin):
                steps = self._generator.preparation(admin)
        for step in steps:
            yield from self._run_step(step)
        if self._stopping:
            return
        # Another connection: the first may have been idle for longer than the server allows.
        with administration(self._job.target) as admin:
            tables = self._generator.prepared(admin)
        yield messages.Prepared(tables=tables, statements=None, t_ns=self._clock.now())

    def _run_step(self, step: Step) -> Iterator[messages.Message]:
        said: list[str] = []

        def hear(line: Line) -> Iterator[messages.Message]:
            said.append(line.text)
            if progress := step.progress(line.text):
                yield progress.model_copy(update={"t_ns": self._clock.at(line.at_ns)})

        ended, cut = yield from self._run(step.argv, hear, lambda: None)
        if not cut.interrupted and (cut.why or ended.exit_code):
            last = next((line for line in said if line.startswith("FATAL")), "\n".join(said[-3:]))
            raise EngineError(f"{self._generator.program.name} could not prepare: {cut.why or last}")

    def _run_phases(self) -> Generator[messages.Message, None, bool]:
        """Every phase in turn; whether one was aborted, which ends them all."""
        for index, phase in enumerate(self._job.phases):
            end = yield from self._run_phase(index, phase)
            if end.aborted or self._stopping:
                return end.aborted is not None
            if index < len(self._job.phases) - 1:
                yield from self._rest(phase.pause_s)
            if self._stopping:
                return False
        return False

    def _run_phase(self, index: int, phase: Phase) -> Generator[messages.Message, None, messages.PhaseEnd]:
        yield messages.PhaseStart(
            label=None, phase=index, connections=phase.connections, t_ns=self._clock.now()
        )
        self._untidy = True
        listener = self._generator.listener(Start(index, phase, self._clock, self._cpu_of_child))
        ended, cut = yield from self._run(
            self._generator.argv(phase), listener.hear, lambda: listener.latest_end_ns
        )
        self._untidy = cut != Cut()
        end = yield from _heard_out(listener, ended, cut)
        self._tidy()
        return end

    def _tidy(self) -> None:
        """Removes what a run that was cut off has left; a server that does not answer keeps it."""
        if not self._untidy:
            return
        self._untidy = False
        with contextlib.suppress(EngineError), administration(self._job.target) as admin:
            self._generator.tidy(admin)

    def _cpu_of_child(self) -> tuple[float, float]:
        return self._child.cpu_s() if self._child else (0.0, 0.0)

    def _run(
        self,
        argv: Sequence[str],
        hear: Callable[[Line], Iterator[messages.Message]],
        latest_end_ns: Callable[[], int | None],
    ) -> Generator[messages.Message, None, tuple[Ended, Cut]]:
        """One run of the program, to its end or until it is cut off."""
        child = self._child = Child(argv, self._folder, self._heard.put)
        patience = Patience(child, self._job.answer_within_s)
        cut, kill_at = Cut(), float("inf")
        while True:
            heard = self._next(_LOOK_EVERY_S)
            if isinstance(heard, Line):
                yield from hear(heard)
            elif isinstance(heard, messages.Sample):
                yield heard
            elif isinstance(heard, Closed):
                break
            now = time.monotonic()
            if now > kill_at:
                child.kill()
            elif cut == Cut():
                cut = self._cut(patience, latest_end_ns())
                if cut != Cut():
                    child.terminate()
                    kill_at = now + _ENDS_WITHIN_S
        ended = child.end()
        self._child = None
        self._cpu = (self._cpu[0] + ended.user_s, self._cpu[1] + ended.system_s)
        return ended, cut

    def _cut(self, patience: Patience, latest_end_ns: int | None) -> Cut:
        if self._stopping:
            return Cut(interrupted=True)
        name = self._generator.program.name
        if latest_end_ns is not None and self._clock.now() > latest_end_ns:
            return Cut(why=f"{name} had not ended 10 s after its time: the server does not answer")
        if patience.is_over():
            return Cut(why=f"{name} waited {self._job.answer_within_s:g} s: the server does not answer")
        return Cut()

    def _rest(self, seconds: float) -> Iterator[messages.Message]:
        """The pause between two phases, during which sampling goes on."""
        until = time.monotonic() + seconds
        while not self._stopping and (left := until - time.monotonic()) > 0:
            heard = self._next(min(left, _LOOK_EVERY_S))
            if isinstance(heard, messages.Sample):
                yield heard

    def _last_samples(self) -> Iterator[messages.Message]:
        if self._watch is None:
            return
        self._watch.stop()
        self._watch = None
        while True:
            try:
                heard = self._heard.get_nowait()
            except Empty:
                return
            if isinstance(heard, messages.Sample):
                yield heard

    def _next(self, seconds: float) -> Line | Closed | messages.Sample | None:
        """What was heard, waiting at most `seconds` for it; else None. Raises what ended the sampling."""
        try:
            heard = self._heard.get(timeout=seconds)
        except Empty:
            return None
        if isinstance(heard, Exception):
            raise heard
        return heard


def _refuse_shape(phase: Phase, program: str) -> None:
    """Raises UsageError for what only our own engine can do."""
    asked = {"active": phase.active is not None, "think": phase.think is not None, "ramp": phase.ramp_s > 0}
    for name, given in asked.items():
        if given:
            raise UsageError(f"{program} does not support {name}", "remove it, or use a built-in workload")


def _heard_out(
    listener: PhaseListener, ended: Ended, cut: Cut
) -> Generator[messages.Message, None, messages.PhaseEnd]:
    for message in listener.end(ended, cut):
        yield message
        if isinstance(message, messages.PhaseEnd):
            return message
    raise AssertionError("a phase ends with its PhaseEnd")
