"""The levels of the factor `advice`: as it is, each finding alone, all together.

Findings that raise or lower durability stand alone and are kept out of `all together`, so that it is as
durable as what it is compared with; where there are some that raise it, one more level has them all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mydyno.prove.provable import Step, Tried, Untried, Value
from mydyno.server.variables.row import same_meaning

AS_IT_IS = "as it is"
TOGETHER = "all together"
SAFER = "all together and safer"


@dataclass(frozen=True)
class Level:
    """What is in force at one level, by paths of the experiment file."""

    name: str
    values: Mapping[str, Value]
    members: tuple[Tried, ...] = ()
    """The findings that are followed there."""


@dataclass(frozen=True)
class Levels:
    now: Level
    alone: tuple[Level, ...]
    together: tuple[Level, ...]
    """`all together` where several findings keep the durability; `all together and safer` where some raise
    it, with others."""
    untried: tuple[Untried, ...] = ()
    """Findings that turned out to change nothing."""

    @property
    def all(self) -> tuple[Level, ...]:
        return (self.now, *self.alone, *self.together)


def levels_of(findings: Sequence[Tried]) -> Levels:
    """The levels by which these findings are measured."""
    now = Level(AS_IT_IS, as_it_is(step for finding in findings for step in finding.steps))
    alone: list[Level] = []
    idle: list[Untried] = []
    for finding in findings:
        values = _onto(now.values, [finding])
        if _same(values, now.values):
            idle.append(Untried(finding.finding, ("at the size of this experiment it has no effect",)))
        else:
            alone.append(Level(finding.finding.rule, values, (finding,)))
    kept = [level.members[0] for level in alone if level.members[0].finding.durability == "keeps"]
    safer = [level.members[0] for level in alone if level.members[0].finding.durability == "raises"]
    together: list[Level] = []
    if len(kept) > 1:
        together.append(Level(TOGETHER, _onto(now.values, kept), tuple(kept)))
    if safer and len(kept) + len(safer) > 1:
        together.append(Level(SAFER, _onto(now.values, [*kept, *safer]), (*kept, *safer)))
    return Levels(now, tuple(alone), tuple(together), tuple(idle))


def as_it_is(steps: Iterable[Step]) -> dict[str, Value]:
    """The values before any of the steps, as far as they are known."""
    return {step.path: step.was for step in steps if step.was is not None}


def _onto(now: Mapping[str, Value], findings: Iterable[Tried]) -> dict[str, Value]:
    values = dict(now)
    for finding in findings:
        for step in finding.steps:
            values[step.path] = step.onto(values.get(step.path))
    return values


def _same(one: Mapping[str, Value], other: Mapping[str, Value]) -> bool:
    return one.keys() == other.keys() and all(_equal(value, other[path]) for path, value in one.items())


def _equal(one: Value, other: Value) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return same_meaning(one, other)
    return one == other
