"""Settings of the winner removed, until only those that matter are left.

First all of them are compared with all but one, each in turn: what each is worth together with the others.
Those whose interval lies above 1 stay. The others are removed together, and what is left is compared with
the start and with all settings once more, since several small losses may add up and one setting may do the
work of another. If that is worse, the others are removed one by one in the order of what they seemed worth,
the least first; one stays out unless the settings without it are shown to be worse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mydyno.core.units import format_duration
from mydyno.lab.results.run import Run
from mydyno.tune.confirm import Compared, Confirmation, compared, seed_of
from mydyno.tune.experiment import laid_over, settings_of, text
from mydyno.tune.history import SERVER_CONFIG, Candidate
from mydyno.tune.space import same
from mydyno.tune.task import Bench, Task

ALL, LEFT, START = "all settings", "what is left", "start"
_CONFIG = f"{SERVER_CONFIG}."


@dataclass(frozen=True)
class Worth:
    """One setting: all settings over all but this one."""

    path: str
    value: Any
    gain: Compared
    kept: bool


@dataclass(frozen=True)
class Reduced:
    """What is left of the winner."""

    settings: Mapping[str, Any]
    """Path -> value, of what differs from the start."""
    worth: tuple[Worth, ...]
    """Of every setting of the winner, the most valuable first."""
    gain: Compared
    """Of what is left, over the start."""
    of_all: Compared | None
    """What is left, over all settings; None: nothing was removed."""
    runs: tuple[str, ...]


def changes_of(task: Task, candidate: Candidate) -> dict[str, Any]:
    """Path -> value of what the candidate has otherwise than the start; what one of them does not set is
    at the release's own value."""
    start, own = settings_of(task.base, {}), settings_of(task.base, candidate.settings)
    shipped = {path: value for path, value in task.shipped.items() if path in start or path in own}
    before, after = {**shipped, **start}, {**shipped, **own}
    return {path: each for path, each in after.items() if path not in before or not same(each, before[path])}


def trials_to_reduce(task: Task, settings: int) -> int:
    """Of so many settings, where those that do not matter can be removed together."""
    points = settings + 1 + len((START, ALL, LEFT)) if settings > 1 else 0
    return points * task.search.confirm


def reduce(
    task: Task,
    bench: Bench,
    confirmed: Confirmation,
    attempt: int,
    seconds_left: Callable[[], float],
    say: Callable[[str], None],
) -> Reduced:
    """One by one only while there is time. Raises MydynoError when nothing can be measured."""
    return _Removal(task, bench, confirmed, attempt, seconds_left, say).reduced()


@dataclass
class _Removal:
    task: Task
    bench: Bench
    confirmed: Confirmation
    attempt: int
    seconds_left: Callable[[], float]
    say: Callable[[str], None]
    runs: list[str] = field(default_factory=list)

    def reduced(self) -> Reduced:
        winner, whole = self.winner, self.confirmed.against[0]
        if len(winner) < 2:
            only = tuple(Worth(path, value, whole, True) for path, value in winner.items())
            return Reduced(winner, only, whole, None, ())
        levels = [self._level(f"without {short(path)}", _without(winner, path)) for path in winner]
        about = f"removing: what each of {len(winner)} settings is worth"
        run = self._measure(*self._planned("worth", [self._level(ALL, winner), *levels]), about)
        gains = {path: self._compared(run, ALL, f"without {short(path)}") for path in winner}
        least_first = sorted(winner, key=lambda path: gains[path].ratio or 0.0)
        matter = [path for path in winner if gains[path].better] or least_first[-1:]
        others = [path for path in least_first if path not in matter]
        left, gain, of_all = self._left(matter, others) if others else (winner, whole, None)
        worth = [Worth(path, value, gains[path], path in left) for path, value in winner.items()]
        worth.sort(key=lambda each: (not each.kept, -(each.gain.ratio or 0.0)))
        return Reduced(left, tuple(worth), gain, of_all, tuple(self.runs))

    @cached_property
    def winner(self) -> dict[str, Any]:
        return changes_of(self.task, self.confirmed.candidate)

    def _left(
        self, matter: Sequence[str], others: Sequence[str]
    ) -> tuple[Mapping[str, Any], Compared, Compared | None]:
        """With its gain over the start, and over all settings."""
        for left in self._attempts(matter, others):
            about = f"  {len(left)} of {len(self.winner)} settings against all"
            levels = [self._level(START, {}), self._level(ALL, self.winner), self._level(LEFT, left)]
            run = self._measure(*self._planned(f"left-{len(left)}", levels), about)
            gain, of_all = (self._compared(run, LEFT, other) for other in (START, ALL))
            if gain.better and not of_all.worse:
                return left, gain, of_all
        self.say("  together they matter after all: all stay")
        return self.winner, self.confirmed.against[0], None

    def _attempts(self, matter: Sequence[str], others: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        at_once = {path: self.winner[path] for path in matter}
        yield at_once
        self.say("  together the others matter: one by one")
        left = self._one_by_one(others)
        if len(at_once) < len(left) < len(self.winner):
            yield left

    def _one_by_one(self, paths: Sequence[str]) -> dict[str, Any]:
        """The winner without those of these whose absence is not shown to be worse."""
        left = dict(self.winner)
        for path in paths:
            kept = self._level(ALL, left)
            without = self._level(f"without {short(path)}", _without(left, path))
            made, seconds = self._planned(f"less-{len(left)}", [kept, without])
            if seconds > self.seconds_left():
                self.say(f"  no time is left: {short(path)} and those after it stay")
                break
            run = self._measure(made, seconds, f"  without {short(path)}")
            outcome = self._compared(run, ALL, without.title)
            if outcome.better:
                self.say(f"  {short(path)} stays: {outcome.interval}")
            else:
                self.say(f"  {short(path)} is removed")
                left.pop(path)
        return left

    def _level(self, label: str, changes: Mapping[str, Any]) -> Candidate:
        """The start with these changes."""
        settings = laid_over({SERVER_CONFIG: self.task.base.config}, changes)
        return Candidate(number=0, origin=label, settings=settings, point={}, label=label)

    def _compared(self, run: Run, left: str, right: str) -> Compared:
        return compared(self.task, run, left, right)

    def _planned(self, suffix: str, levels: Sequence[Candidate]) -> tuple[str, float]:
        """The experiment, and how long it takes."""
        made = text(
            self.task.base,
            suffix,
            levels,
            question="Which settings of the winner matter?",
            repeats=self.task.search.confirm,
            seed=seed_of(self.task, self.attempt),
            blocked=self.confirmed.blocked,
        )
        return made, self.bench.seconds(made)

    def _measure(self, made: str, seconds: float, about: str) -> Run:
        self.say(f"{about}; about {format_duration(seconds)}")
        run = self.bench.measure(made)
        self.runs.append(run.folder.name)
        return run


def short(path: str) -> str:
    return path.removeprefix(_CONFIG)


def _without(settings: Mapping[str, Any], path: str) -> dict[str, Any]:
    return {each: value for each, value in settings.items() if each != path}
