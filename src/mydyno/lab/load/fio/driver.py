"""fio as a driver: the same messages as the engine's. Reads, writes and fsyncs are its statements.

Its files are in a separate folder on the volume, removed in the end; job files, reports and logs stay
in the trial's folder.
"""

import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Literal, Self

from mydyno.core.errors import EngineError
from mydyno.core.writing import writing
from mydyno.lab.load import messages
from mydyno.lab.load.fio import jobfile
from mydyno.lab.load.fio.process import Ended, Phase, Run, place_of, sample, version
from mydyno.lab.load.fio.report import Report, parse, windows
from mydyno.lab.load.job import PROTOCOL
from mydyno.lab.workload.external_program import FioOptions
from mydyno.lab.workload.external_program.fio_jobs import Stretch, seconds_of
from mydyno.machine import proc
from mydyno.machine.protocol import Host

_CLEAN = (0, 128)
"""Exit codes of fio: done, and ended by a signal that it answered with its report."""
_NS = 1e9

Part = Literal["all", "fill", "measure"]


class Fio:
    """The phases of one experiment's `workload.fio`, run on `host`; iterate over it once. A `Driver`.

    `place` is a folder on the volume, or a block device, which is then overwritten. `folder` is the trial's
    in the lab, which the host sees too. `part`: `fill` makes the files and leaves them, `measure` finds them
    filled, so that limits of disks may be set in between. What is under way when the time is up must be
    done within `answer_within_s` seconds.
    """

    def __init__(
        self,
        options: FioOptions,
        place: Path,
        host: Host,
        *,
        seed: int,
        interval_s: float,
        folder: Path,
        part: Part = "all",
        answer_within_s: float = 60.0,
    ) -> None:
        """Raises MissingToolError without fio, UsageError for a place that does not do."""
        self._options = options
        self._host = host
        self._seed = seed
        self._interval_s = interval_s
        self._folder = folder
        self._part = part
        self._answer_within_s = answer_within_s
        self._stopping = False
        self._made = False
        self._run: Run | None = None
        self._cpu = (0.0, 0.0)
        self._version = version(host)
        self._place = place_of(options, place, host)
        self._zero_ns, self._started_unix_ns = time.monotonic_ns(), time.time_ns()

    def request_stop(self) -> None:
        self._stopping = True

    @property
    def pid(self) -> int | None:
        """Of the fio that is running, on its host."""
        return self._run.pid if self._run is not None else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        failed = error[0] is not None
        try:
            if self._run is not None:
                self._run.close(1.0 if failed else self._answer_within_s)
        finally:
            if self._made and (self._part != "fill" or failed):
                self._host.remove_tree(self._place.path)

    def __iter__(self) -> Iterator[messages.Message]:
        stat = self._host.read_text(Path("/proc/stat")) or ""
        cpus = proc.cpu_count(stat)
        yield messages.Hello(
            protocol=PROTOCOL,
            engine_version=self._version,
            seed=self._seed,
            started_unix_ns=self._started_unix_ns,
            reactors=cpus,
            pinned=False,
            cpus=list(range(cpus)),
            server_version=None,
            server_pid=None,
            t_ns=self._now(),
        )
        aborted = False
        if not self._place.is_device:
            if self._part != "measure":
                self._host.make_folder(self._place.path)
            self._made = True
        if self._part != "measure" and self._options.prefill:
            yield from self._fill()
        if self._part != "fill":
            for index, stretch in enumerate(self._options.stretches):
                if self._stopping or aborted:
                    break
                aborted = yield from self._phase(index, stretch)
        yield messages.foreign_done(self._cpu, self._now(), interrupted=self._stopping, aborted=aborted)

    def _fill(self) -> Iterator[messages.Message]:
        text, total = jobfile.filling(self._options.stretches, self._place)
        yield self._progress("filling the files", 0, total)
        run = self._start("fill", text)
        for _ in run.turns(self._interval_s):
            if self._stopping:
                run.terminate()
            io = self._host.read_text(Path(f"/proc/{run.pid}/io"))
            if io is not None:
                yield self._progress("filling the files", min(proc.written_characters(io), total), total)
        ended = self._ended(run, "fill")
        if not self._stopping:
            if ended.code:
                raise EngineError(f"fio could not fill its files in {self._place.path}: {ended.complaint}")
            yield self._progress("filling the files", total, total)

    def _phase(self, index: int, stretch: Stretch) -> Generator[messages.Message, None, bool]:
        """One phase; whether it was aborted, which ends them all."""
        started = self._now()
        yield messages.PhaseStart(phase=index, connections=stretch.depth, label=stretch.label, t_ns=started)
        if self._options.steady_state is not None:
            yield from self._steady(index, stretch)
            if self._stopping:
                yield Phase(index, stretch, started, self._now(), True, None, "").end(None)
                return False
        name = f"phase-{index + 1}"
        logs = self._folder / f"fio-{name}"
        text = jobfile.measuring(stretch, self._place, seed=self._seed, window_s=self._interval_s, logs=logs)
        # Without a runtime its size ends it, whenever that is.
        times = [(seconds_of(section), section.options) for section in stretch.sections]
        asked = max(seconds for seconds, _ in times) if all("runtime" in of for _, of in times) else None
        run = self._start(name, text)
        why = yield from self._watched(run, asked)
        end_ns = self._now()
        ended = self._ended(run, name)
        report = self._report(ended, why)
        failed = why or (None if ended.code in _CLEAN else ended.complaint)
        phase = Phase(index, stretch, started, end_ns, self._stopping, failed, ended.complaint)
        if report is not None:
            yield from self._results(phase, report, logs)
        yield phase.end(report)
        return failed is not None

    def _results(self, phase: Phase, report: Report, logs: Path) -> Iterator[messages.Message]:
        """The I/Os over time, and what the report says of them."""
        from_ns, index = phase.measured_from_ns(report), phase.index
        yield messages.Measuring(phase=index, t_ns=from_ns)
        log = self._host.read_text(Path(f"{logs}_iops.log")) or ""
        for window in windows(log, self._interval_s, report.ios, report.seconds):
            yield messages.foreign_interval(
                phase=index,
                from_ns=from_ns + round(window.from_s * _NS),
                to_ns=from_ns + round(window.to_s * _NS),
                queries=window.ios,
                transactions=window.ios,
                connections=phase.stretch.depth,
                t_ns=self._now(),
            )
        if early := phase.ended_early(report):
            yield messages.Remark(phase=index, check="runtime", message=early, t_ns=self._now())
        self._cpu = (self._cpu[0] + report.cpu_user_s, self._cpu[1] + report.cpu_system_s)

    def _watched(self, run: Run, asked_s: float | None) -> Generator[messages.Message, None, str | None]:
        """The samples next to a running fio; why it was stopped, if it was."""
        why = None
        give_up_s = float("inf") if asked_s is None else asked_s + self._answer_within_s
        kill_s = float("inf")
        for elapsed in run.turns(self._interval_s):
            if (seen := sample(self._host, run.pid, self._now())) is not None:
                yield seen
            if asked_s is not None:
                done = min(round(elapsed), round(asked_s))
                yield self._progress("fio reads and writes, seconds", done, round(asked_s))
            if elapsed > kill_s:
                run.kill()
                return why or f"fio had not ended {self._answer_within_s:g} s after its time"
            if kill_s == float("inf") and (self._stopping or elapsed > give_up_s):
                if not self._stopping:
                    why = f"fio's I/Os were not done {self._answer_within_s:g} s after their time"
                run.terminate()
                kill_s = elapsed + self._answer_within_s
        return why

    def _steady(self, index: int, stretch: Stretch) -> Iterator[messages.Message]:
        state = self._options.steady_state
        assert state is not None
        name = f"steady-{index + 1}"
        run = self._start(name, jobfile.steadying(stretch, self._place, state, seed=self._seed))
        for elapsed in run.turns(self._interval_s):
            if self._stopping:
                run.terminate()
            stage = f"until {state.criterion} is steady for {state.seconds:g} s, seconds"
            yield self._progress(stage, min(round(elapsed), round(state.at_most)), round(state.at_most))
        ended = self._ended(run, name)
        if self._stopping:
            return
        report = None if ended.code else parse(ended.output)
        if report is None or not report.steady:
            detail = ended.complaint if report is None else f"not within {state.at_most:g} s"
            yield messages.Check(
                name=f"steady state of phase {index + 1} ({state.criterion} for {state.seconds:g} s)",
                holds=False,
                detail=detail,
                t_ns=self._now(),
            )

    def _start(self, name: str, job: str) -> Run:
        path = self._folder / f"fio-{name}.job"
        with writing(path):
            path.write_text(job)
        self._run = Run(self._host, str(path))
        return self._run

    def _ended(self, run: Run, name: str) -> Ended:
        ended = run.end()
        self._run = None
        path = self._folder / f"fio-{name}.json"
        with writing(path):
            path.write_text(ended.output)
            if ended.errors:
                path.with_suffix(".err").write_text(ended.errors)
        return ended

    def _report(self, ended: Ended, why: str | None) -> Report | None:
        """None from a fio that had to be killed, or that did not begin."""
        if "{" not in ended.output and (why is not None or self._stopping or ended.code):
            return None
        return parse(ended.output)

    def _progress(self, stage: str, done: int, of: int) -> messages.Progress:
        return messages.Progress(stage=stage, done=done, of=of, t_ns=self._now())

    def _now(self) -> int:
        return time.monotonic_ns() - self._zero_ns
