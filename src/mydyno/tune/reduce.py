"""Settings of the winner removed one by one, until only those that matter are left.

First all of them are compared with all but one, each in turn: what each is worth together with the others.
Those whose interval lies above 1 stay. The others are taken out in the order of what they seemed worth, the
least first; one stays out unless the settings without it are shown to be worse. In the end what is left is
compared with the start and with all settings once more, since several small losses may add up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from mydyno.lab.results.run import Run
from mydyno.tune.confirm import Compared, Confirmation, compared, seed_of
from mydyno.tune.experiment import Base, laid_over, settings_of, text
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
    runs: tuple[str, ...]


def changes_of(task: Task, candidate: Candidate) -> dict[str, Any]:
    """Path -> value of what the candidate has otherwise than the start; a setting of the start that it does
    not have is at the release's own value."""
    start, own = settings_of(task.base, {}), settings_of(task.base, candidate.settings)
    shipped = {path: task.shipped[path] for path in start if path not in own and path in task.shipped}
    whole = {**shipped, **own}
    return {path: value for path, value in whole.items() if path not in start or not same(value, start[path])}


def reduce(
    task: Task, bench: Bench, confirmed: Confirmation, attempt: int, say: Callable[[str], None]
) -> Reduced:
    """Raises MydynoError when nothing can be measured."""
    base, winner = task.base, changes_of(task, confirmed.candidate)
    if len(winner) < 2:
        gain = confirmed.against[0]
        only = tuple(Worth(path, value, gain, True) for path, value in winner.items())
        return Reduced(winner, only, gain, ())
    say(f"removing: what each of {len(winner)} settings is worth")
    levels = [_level(ALL, base, winner)]
    levels += [_level(f"without {short(path)}", base, _without(winner, path)) for path in winner]
    measure = partial(_measure, task, bench, attempt, confirmed.blocked)
    run = measure("worth", levels)
    gains = {path: compared(run, ALL, f"without {short(path)}", task.objective) for path in winner}
    left, runs = dict(winner), [run.folder.name]
    for path in sorted(winner, key=lambda each: gains[each].ratio or 0.0):
        if gains[path].better or len(left) == 1:
            continue
        kept, without = _level(ALL, base, left), _level(f"without {short(path)}", base, _without(left, path))
        run = measure(f"less-{len(left)}", [kept, without])
        runs.append(run.folder.name)
        outcome = compared(run, ALL, without.title, task.objective)
        if outcome.better:
            say(f"  {short(path)} stays: {outcome.interval}")
        else:
            say(f"  {short(path)} is removed")
            left.pop(path)
    gain = confirmed.against[0]
    if len(left) < len(winner):
        run = measure("left", _last(base, winner, left))
        runs.append(run.folder.name)
        gain = compared(run, LEFT, START, task.objective)
        if not gain.better or compared(run, LEFT, ALL, task.objective).worse:
            say("  together they matter after all: all stay")
            left, gain = dict(winner), confirmed.against[0]
    worth = [Worth(path, value, gains[path], path in left) for path, value in winner.items()]
    worth.sort(key=lambda each: (not each.kept, -(each.gain.ratio or 0.0)))
    return Reduced(left, tuple(worth), gain, tuple(runs))


def short(path: str) -> str:
    return path.removeprefix(_CONFIG)


def _without(settings: Mapping[str, Any], path: str) -> dict[str, Any]:
    return {each: value for each, value in settings.items() if each != path}


def _last(base: Base, winner: Mapping[str, Any], left: Mapping[str, Any]) -> list[Candidate]:
    return [_level(START, base, {}), _level(ALL, base, winner), _level(LEFT, base, left)]


def _level(label: str, base: Base, changes: Mapping[str, Any]) -> Candidate:
    """The start with these changes."""
    settings = laid_over({SERVER_CONFIG: base.config}, changes)
    return Candidate(number=0, origin=label, settings=settings, point={}, label=label)


def _measure(
    task: Task, bench: Bench, attempt: int, blocked: bool, suffix: str, levels: Sequence[Candidate]
) -> Run:
    return bench.measure(
        text(
            task.base,
            suffix,
            levels,
            question="Which settings of the winner matter?",
            repeats=task.search.confirm,
            seed=seed_of(task, attempt),
            blocked=blocked,
        )
    )
