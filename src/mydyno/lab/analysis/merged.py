"""Several runs, or points of one, as a single experiment in which they are the levels of a first factor.

So everything that compares the levels of a factor compares runs too: before
and after an upgrade, two machines, two labs.

Trials of different runs were never in the same block: their blocks are renumbered, so that nothing
is paired that did not run side by side. Points of one run keep their blocks.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mydyno.core.errors import UsageError
from mydyno.core.factors import last_part
from mydyno.lab.analysis.grid import points_with
from mydyno.lab.analysis.observations import places
from mydyno.lab.results.records import DesignRecord, ExperimentRecord, PointRecord, TrialRecord

_BLOCKS = 1_000_000
"""More than any run has."""


@dataclass(frozen=True)
class Part:
    """One side of the comparison: a run, or those points of it that have the levels `only`."""

    name: str
    run: str
    """Equal for parts of one run."""
    experiment: ExperimentRecord
    trials: Sequence[TrialRecord]
    only: Mapping[str, str] = field(default_factory=dict)
    """Factor -> level."""

    @property
    def free(self) -> tuple[str, ...]:
        """The factors that still vary in it."""
        return tuple(name for name in self.experiment.factors if name not in self.only)

    @property
    def points(self) -> tuple[PointRecord, ...]:
        return tuple(points_with(self.experiment.compared_points, self.only))


@dataclass(frozen=True)
class Merged:
    experiment: ExperimentRecord
    trials: tuple[TrialRecord, ...]
    notes: tuple[str, ...]
    """What only some parts have, a sentence each: it enters no comparison."""


def merge(parts: Sequence[Part]) -> Merged:
    """The parts, at least two, as one experiment; the first is the baseline of the others.

    Raises UsageError where they cannot be compared with each other: other factors, another kind of work, two
    of one name.
    """
    _check(parts)
    first = parts[0].experiment
    factor = "run" if "run" not in parts[0].free else "compared"
    runs = list(dict.fromkeys(part.run for part in parts))
    points: list[PointRecord] = []
    trials: list[TrialRecord] = []
    for number, part in enumerate(parts, 1):
        own = {point.point_id: _point(point, part, factor, number) for point in part.points}
        points += own.values()
        shift = runs.index(part.run) * _BLOCKS
        trials += [
            _trial(trial, own[trial.point_id], part, shift) for trial in part.trials if trial.point_id in own
        ]
    experiment = replace(
        first,
        name=" against ".join(dict.fromkeys(part.experiment.name for part in reversed(parts))),
        factors={factor: tuple(part.name for part in parts), **_levels(parts)},
        points=tuple(points),
        planned_trials=len(trials),
        design=DesignRecord(),
        claims=(),
    )
    return Merged(experiment, tuple(trials), (*_alone(parts), *_other_places(parts)))


def _check(parts: Sequence[Part]) -> None:
    first = parts[0]
    name, count = Counter(part.name for part in parts).most_common(1)[0]
    if count > 1:
        raise UsageError(f"{name} is named twice", "name two runs, or give each a name: before=RUN after=RUN")
    for part in parts:
        if not part.points:
            chosen = ", ".join(f"{factor} = {level}" for factor, level in part.only.items())
            raise UsageError(f"{part.name} has no point with {chosen}")
        if part.experiment.work != first.experiment.work:
            raise UsageError(
                f"{first.name} counts {first.experiment.work} and {part.name} {part.experiment.work}",
                "only runs of the same kind of work can be compared",
            )
        extra = set(part.free) ^ set(first.free)
        if extra:
            factor = sorted(extra)[0]
            has, lacks = (part, first) if factor in part.free else (first, part)
            short, level = last_part(factor), has.experiment.factors[factor][0]
            raise UsageError(
                f"{factor} varies in {has.name} and not in {lacks.name}",
                f"choose one of its levels: {has.name}@{short}={level}",
            )


def _point(point: PointRecord, part: Part, factor: str, number: int) -> PointRecord:
    levels = {factor: part.name}
    levels |= {name: level for name, level in point.levels.items() if name not in part.only}
    title = ", ".join(f"{last_part(name)} = {level}" for name, level in levels.items())
    if len(levels) == 1:
        title = part.name
    return PointRecord(point_id=f"{number}-{point.point_id}", levels=levels, title=title)


def _trial(trial: TrialRecord, point: PointRecord, part: Part, shift: int) -> TrialRecord:
    return replace(
        trial,
        trial_id=f"{part.name}:{trial.trial_id}",
        point_id=point.point_id,
        levels=point.levels,
        block=trial.block + shift,
    )


def _levels(parts: Sequence[Part]) -> dict[str, tuple[str, ...]]:
    """Of the factors that vary in all parts, each level of any."""
    return {
        name: tuple(dict.fromkeys(level for part in parts for level in part.experiment.factors[name]))
        for name in parts[0].free
    }


def _alone(parts: Sequence[Part]) -> list[str]:
    """Points that some part lacks."""
    has = {
        part.name: {tuple(point.levels.get(name) for name in parts[0].free) for point in part.points}
        for part in parts
    }
    every = set.intersection(*has.values())
    alone = {
        name: [", ".join(level or "none" for level in levels) for levels in sorted(own - every, key=str)]
        for name, own in has.items()
    }
    return [f"not in every run: {'; '.join(points)} of {name}" for name, points in alone.items() if points]


def _other_places(parts: Sequence[Part]) -> list[str]:
    """Numbers of connections or programs that some part was not measured at."""
    has = {part.name: dict.fromkeys(places(part.trials)) for part in parts}
    every = set.intersection(*(set(found) for found in has.values()))
    alone = {name: [str(place) for place in own if place not in every] for name, own in has.items()}
    return [
        f"measured in {name} and not in every run: {', '.join(found)}"
        for name, found in alone.items()
        if found
    ]
