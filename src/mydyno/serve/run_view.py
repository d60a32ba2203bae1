"""One run as its page shows it, read from the lab."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from mydyno.core.errors import LabError, MydynoError
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.views.verdicts import verdicts
from mydyno.lab.results.overviews import AttemptSummary
from mydyno.lab.results.records import ExperimentRecord, TrialRecord
from mydyno.lab.results.run import Run
from mydyno.page.format import printable
from mydyno.serve.events_file import EventsFile
from mydyno.serve.grid import Grid, Planned, complete_blocks, grid, known_trials, planned_trials
from mydyno.serve.narrowing import Known, Narrowing, after_block, narrowings, shown_blocks
from mydyno.serve.progress import Progress, UnderWay

_LOOKED_AT = 400
"""Trials whose series are looked at, the last ones."""
_KEPT = 500
"""Verdicts of runs that are kept."""
_TIMES = 50.0
"""A verdict that took a second is not made again for so many: at most 2% of a CPU."""


@dataclass(frozen=True)
class Judged:
    """What is known by now."""

    headline: str
    narrowing: tuple[Narrowing, ...]
    attempts: int
    """That it is made of."""
    block: int
    """The last complete one; 0 before the first."""
    fault: str = ""
    """Why there is none."""


@dataclass(frozen=True)
class InvalidTrial:
    trial: str
    point: str
    state: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class RunView:
    folder: str
    experiment: ExperimentRecord
    running: bool
    done: int
    invalid: tuple[InvalidTrial, ...]
    grid: Grid
    judged: Judged
    under_way: tuple[UnderWay, ...]
    step: str
    left_seconds: float | None
    after: int
    """The event after which its page listens."""
    has_trend: bool
    """Whether another run measured the same experiment at the same size."""
    has_rehearsal: bool
    """Whether its result as a rehearsal was written."""

    @property
    def planned(self) -> int:
        return self.experiment.planned_trials

    @property
    def state(self) -> str:
        if self.running:
            return "running"
        if self.experiment.imported:
            return "imported"
        return "finished" if self.done >= self.planned else "not finished"

    @property
    def title(self) -> str:
        return printable(self.experiment.name)

    @property
    def question(self) -> str:
        return printable(self.experiment.question or "")


class Judge:
    """Makes verdicts when something has changed, and not more often than a measurement can bear."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[Judged, float, float]] = {}
        """Run -> verdict, when it was made, and how long that took."""
        self._blocks: dict[tuple[str, int, int], dict[str, Known]] = {}
        """Run, block, attempts in the blocks up to it -> what was known."""

    def judge(self, run: Run, planned: Sequence[Planned], running: bool) -> Judged:
        attempts = run.attempts()
        name = run.folder.name
        last = self._last.get(name)
        if last is not None:
            judged, made, took = last
            same = judged.attempts == len(attempts)
            if same or (running and time.monotonic() - made < _TIMES * took):
                return judged
        began = time.monotonic()
        judged = self._made(run, planned, attempts)
        ended = time.monotonic()
        if len(self._last) > _KEPT:
            self._last.clear()
        self._last[name] = judged, ended, ended - began
        return judged

    def _made(self, run: Run, planned: Sequence[Planned], attempts: Sequence[AttemptSummary]) -> Judged:
        blocks = complete_blocks(planned, attempts)
        block = blocks[-1] if blocks else 0
        try:
            evidence = gather(run)
            headline = verdicts(evidence).headline
            known = self._by_block(run.folder.name, evidence.trials, evidence.experiment, blocks)
            narrowing = narrowings(evidence.trials, evidence.experiment, known)
        except (MydynoError, ValueError, LookupError, TypeError, ArithmeticError, AssertionError) as error:
            # A run that is damaged is shown as such, and all others as they are.
            text = error.message if isinstance(error, MydynoError) else f"{type(error).__name__}: {error}"
            return Judged("", (), len(attempts), block, printable(text))
        return Judged(headline, narrowing, len(attempts), block)

    def _by_block(
        self,
        name: str,
        trials: Sequence[TrialRecord],
        experiment: ExperimentRecord,
        blocks: Sequence[int],
    ) -> list[dict[str, Known]]:
        found = []
        for block in shown_blocks(blocks):
            key = name, block, sum(trial.block <= block for trial in trials)
            if key not in self._blocks:
                if len(self._blocks) > 10_000:
                    self._blocks.clear()
                self._blocks[key] = after_block(trials, experiment, block)
            found.append(self._blocks[key])
        return found


def run_view(run: Run, judge: Judge, progress: Progress | None, *, has_trend: bool) -> RunView:
    """`progress`: of the run while it is under way, else None."""
    experiment = run.experiment
    attempts = run.attempts()
    planned = _planned(run, attempts)
    under_way = tuple(progress.under_way.values()) if progress is not None else ()
    lost = _lost(run, attempts)
    whole = grid(planned, experiment.points, attempts, (one.trial for one in under_way), lost)
    titles = {point.point_id: printable(point.title) or "the only point" for point in experiment.points}
    last = {one.trial_id: one for one in attempts if one.block >= 0}
    invalid = [
        InvalidTrial(
            one.trial_id,
            titles.get(one.point_id, one.point_id),
            "invalid" if one.measured else "failed",
            tuple(map(printable, one.reasons)),
        )
        for one in last.values()
        if one.status == "invalid"
    ]
    damaged = [one for one in attempts if one.fault is not None]
    invalid += [InvalidTrial(one.trial_id, "", "damaged", (printable(one.fault or ""),)) for one in damaged]
    invalid += [InvalidTrial(trial, "", "damaged", (printable(text),)) for trial, text in lost.items()]
    return RunView(
        folder=run.folder.name,
        experiment=experiment,
        running=progress is not None,
        done=len(last),
        invalid=tuple(invalid),
        grid=whole,
        judged=judge.judge(run, planned, running=progress is not None),
        under_way=under_way,
        step=printable(progress.step) if progress is not None else "",
        left_seconds=progress.left_seconds() if progress is not None else None,
        after=EventsFile(run.events_file).count() if progress is None else progress.stream_after,
        has_trend=has_trend,
        has_rehearsal=run.rehearsal_file.is_file(),
    )


def judged(run: Run, judge: Judge, running: bool) -> Judged:
    """The verdict alone."""
    return judge.judge(run, _planned(run, run.attempts()), running)


def _planned(run: Run, attempts: Sequence[AttemptSummary]) -> tuple[Planned, ...]:
    try:
        planned = planned_trials(run.plan_json())[: run.experiment.planned_trials]
    except LabError:
        planned = ()
    return planned or known_trials(attempts)


def _lost(run: Run, attempts: Sequence[AttemptSummary]) -> dict[str, str]:
    """Trial -> what of its series is missing or cut off."""
    lost: dict[str, str] = {}
    if run.experiment.imported:
        return lost
    for one in attempts[-_LOOKED_AT:]:
        if one.fault is None and one.measured:
            try:
                run.look_at_series(one.trial_id, one.attempt)
            except LabError as error:
                lost[one.trial_id] = error.message
    return lost
