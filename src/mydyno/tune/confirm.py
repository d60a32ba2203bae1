"""The winner measured again, on other data and under another load, against all that it is compared with.

A search looks at many candidates, and the one that looks best was also lucky. So it is compared again, with
another seed, which makes another dataset of the same kind and other statements. It holds when it is shown to
be better than the start and is shown to be worse than no reference. What does not hold is said, and the next
one is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from mydyno.core.units import format_duration
from mydyno.lab.analysis.verdict import judge_points
from mydyno.lab.results.run import Run
from mydyno.tune.experiment import settings_of, text
from mydyno.tune.history import Candidate, Score
from mydyno.tune.scores import broken, metric_of, priced, times
from mydyno.tune.space import key_of
from mydyno.tune.task import Bench, Task, in_sound_order, trials_of

_SEED = 104_729
ATTEMPTS = 3
"""Candidates that are tried before the answer is that nothing was found."""
WINNER = "winner"


@dataclass(frozen=True)
class Compared:
    """The left one's gain over the right one: 1.12 is 12% better, whatever way the objective is better."""

    name: str
    ratio: float | None
    low: float | None
    high: float | None
    outcome: str
    n: int

    @property
    def better(self) -> bool:
        return self.outcome == "faster"

    @property
    def worse(self) -> bool:
        return self.outcome == "slower"

    @property
    def interval(self) -> str:
        if self.ratio is None:
            return "not measured"
        if self.low is None or self.high is None:
            return f"{self.ratio:.2f}"
        return interval(self.ratio, self.low, self.high)


def interval(ratio: float, low: float, high: float) -> str:
    """`1.42 (1.35 to 1.49)`."""
    return f"{ratio:.2f} ({low:.2f} to {high:.2f})"


@dataclass(frozen=True)
class Confirmation:
    """One attempt. `against`: the winner over each reference; the start is the first."""

    candidate: Candidate
    against: tuple[Compared, ...]
    run: str
    refused: str | None
    """Why it does not hold; None: it holds."""
    recovery_seconds: float | None = None
    blocked: bool = False
    """Measured without slices, in which servers disturbed each other."""

    @property
    def holds(self) -> bool:
        return self.refused is None


def ranking(scores: Sequence[Score], objective: str) -> list[Score]:
    """Candidates that keep all constraints and look better than the start, the best first."""
    usable = [
        each
        for each in scores
        if each.candidate.number and each.feasible and each.ratios.get(objective, 0.0) > 0
    ]
    return sorted(usable, key=lambda each: -(each.ratios[objective] - (each.error or 0.0)))


def trials_to_confirm(task: Task) -> int:
    """Of one attempt, at most: of the start, the winner and the references."""
    return (2 + len(task.references)) * task.search.confirm


def confirm(
    task: Task,
    bench: Bench,
    scores: Sequence[Score],
    blocked: bool,
    seconds_left: Callable[[], float],
    say: Callable[[str], None],
) -> tuple[Confirmation, ...]:
    """Attempts in their order, up to the first that holds. Raises MydynoError where nothing is measured.

    `blocked`: not in slices, in which servers disturbed each other in the heats. The first attempt is made
    however little time is left.
    """
    made: list[Confirmation] = []
    for attempt, score in enumerate(ranking(scores, task.objective)[:ATTEMPTS], start=1):
        title, levels = score.candidate.title, _levels(task, bench, score.candidate, attempt)
        seconds = bench.seconds(_text(task, levels, attempt, blocked))
        if made and seconds > seconds_left():
            say(f"no time is left to confirm {title}")
            break
        say(
            f"confirming {title} on other data, {task.search.confirm} trials of each; "
            f"about {format_duration(seconds)}"
        )
        done = _attempt(task, bench, score.candidate, levels, attempt, blocked, say)
        made.append(done)
        if done.holds:
            say(f"{title} holds: {done.against[0].interval} {times(task.objective)}")
            break
        say(f"{title} does not hold: {done.refused}")
    return tuple(made)


def seed_of(task: Task, attempt: int) -> int:
    return (task.base.seed + _SEED * attempt) % (1 << 32)


def _levels(task: Task, bench: Bench, candidate: Candidate, attempt: int) -> list[Candidate]:
    """The start, the winner, and the references that differ from both and can start."""
    levels = [_labelled("start", {}), _winner(candidate)]
    known = {key_of(settings_of(task.base, each.settings)) for each in levels}
    for name, settings in task.references.items():
        key = key_of(settings_of(task.base, settings))
        level = _labelled(name, settings)
        if key not in known and bench.refused(_text(task, [levels[0], level], attempt)) is None:
            known.add(key)
            levels.append(level)
    return levels


def _attempt(
    task: Task,
    bench: Bench,
    candidate: Candidate,
    levels: Sequence[Candidate],
    attempt: int,
    blocked: bool,
    say: Callable[[str], None],
) -> Confirmation:
    run, blocked = in_sound_order(bench.measure, partial(_text, task, levels, attempt), blocked, say)
    against = tuple(compared(task, run, WINNER, level.title) for level in levels if level.title != WINNER)
    refused = _refused(task, run, against)
    seconds = None
    if refused is None and (most := task.search.constraints.recovery) is not None:
        seconds = bench.recovery_seconds(_text(task, levels[:2], attempt), WINNER)
        if seconds > most:
            refused = (
                f"it took {format_duration(seconds)} to answer after kill -9, of {format_duration(most)}"
            )
    return Confirmation(candidate, against, run.folder.name, refused, seconds, blocked)


def _labelled(label: str, settings: object) -> Candidate:
    assert isinstance(settings, dict)
    return Candidate(number=0, origin=label, settings=settings, point={}, label=label)


def _winner(candidate: Candidate) -> Candidate:
    return candidate.model_copy(update={"label": WINNER})


def _text(task: Task, levels: Sequence[Candidate], attempt: int, blocked: bool = False) -> str:
    return text(
        task.base,
        f"confirm-{attempt}",
        levels,
        question="Does what the search has found hold on other data?",
        repeats=task.search.confirm,
        seed=seed_of(task, attempt),
        blocked=blocked,
    )


def compared(task: Task, run: Run, left: str, right: str) -> Compared:
    """By the lab's own comparison of two points."""
    trials = priced(trials_of(run), task.search.prices)
    points = {point.levels["candidate"]: point for point in run.experiment.points}
    metric = metric_of(task.objective, trials)
    verdict = judge_points(trials, points[left], points[right], metric).overall
    ratio, interval = verdict.ratio.value, verdict.ratio.interval
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    if metric.better == "lower":
        ratio = None if ratio is None else 1 / ratio
        low, high = (None if high is None else 1 / high), (None if low is None else 1 / low)
    n = min(verdict.ratio.n_left, verdict.ratio.n_right)
    return Compared(right, ratio, low, high, verdict.outcome, n)


def _refused(task: Task, run: Run, against: Sequence[Compared]) -> str | None:
    winners = [each for each in trials_of(run) if each.levels.get("candidate") == WINNER and each.measured]
    if not winners:
        return "it could not be measured again"
    if kept := [text for each in winners for text in broken(each, task.search.constraints)]:
        return f"it breaks a constraint, {kept[0]}"
    if not against[0].better:
        return f"it is not shown to be better than the start: {against[0].interval}"
    if worse := [each for each in against if each.worse]:
        return f"it is worse than {worse[0].name}: {worse[0].interval}"
    return None
