"""What others concluded from the same numbers, compared with what the numbers show.

A claim is an order of levels, best first. Every two of its levels are compared: the order holds where the
one named first is shown to be better, is a tie where neither is shown to be better, and is reversed where the
other one is shown to be better. Averages without errors always show an order; this says which part of it is
more than noise.

The order of the plain means, which one reads off a table without regard to what was measured with what, is
not used for any verdict. It explains why a reader came to another order: a level may owe its place to
conditions under which no other level was measured, and to a single trial among them.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from mydyno.lab.analysis.grid import points_with
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import common_observations, valid_trials
from mydyno.lab.analysis.ranking import LevelPair, Ranking, ranking
from mydyno.lab.results.records import ClaimRecord, PointRecord, TrialRecord

State = Literal["holds", "tie", "reversed", "not measured"]


@dataclass(frozen=True)
class Step:
    """Two levels of a claim, `better` the one that it names first."""

    better: str
    worse: str
    state: State
    pair: LevelPair | None
    """What was found; None where the two were never measured side by side."""


@dataclass(frozen=True)
class JudgedClaim:
    claim: ClaimRecord
    found: tuple[Ranking, ...]
    """The order that the trials show, where the claim is about."""
    steps: tuple[Step, ...]
    """Every two levels of the claim."""

    plain: PlainMeans | None
    """The order of plain means, by which the source may have come to its own."""

    @property
    def agrees(self) -> bool:
        """Every step holds."""
        return all(step.state == "holds" for step in self.steps)


def judged_claims(
    claims: Sequence[ClaimRecord],
    trials: Sequence[TrialRecord],
    points: Sequence[PointRecord],
    metric: Metric,
) -> tuple[JudgedClaim, ...]:
    """Each claim with what the trials show of it."""
    return tuple(_judged(claim, trials, points, metric) for claim in claims)


def _judged(
    claim: ClaimRecord, trials: Sequence[TrialRecord], points: Sequence[PointRecord], metric: Metric
) -> JudgedClaim:
    # Only the claim's own levels: each other one would make the correction for many tests stricter.
    own = [point for point in points if point.levels.get(claim.factor) in claim.order]
    rankings = ranking(trials, own, claim.factor, metric, where=claim.where)
    pairs = {frozenset((pair.left, pair.right)): pair for one in rankings for pair in one.pairs}
    steps = tuple(
        _step(better, worse, pairs.get(frozenset((better, worse))))
        for better, worse in combinations(claim.order, 2)
    )
    plain = plain_means(trials, own, claim.factor, metric, claim.where)
    return JudgedClaim(claim, rankings, steps, plain)


def _step(better: str, worse: str, pair: LevelPair | None) -> Step:
    if pair is None:
        state: State = "not measured"
    elif not pair.differ:
        state = "tie"
    else:
        state = "holds" if pair.left == better else "reversed"
    return Step(better, worse, state, pair)


Values = dict[str, list[tuple[TrialRecord, float]]]
"""Level -> its trials with their values."""


@dataclass(frozen=True)
class LoneTrial:
    """A trial without a counterpart, which alone decides the order of the plain means."""

    trial: TrialRecord
    level: str
    value: float
    without: tuple[str, ...]
    """The order without it."""


@dataclass(frozen=True)
class PlainMeans:
    order: tuple[str, ...]
    means: Mapping[str, float]
    lone: LoneTrial | None


def plain_means(
    trials: Sequence[TrialRecord],
    points: Sequence[PointRecord],
    factor: str,
    metric: Metric,
    where: Mapping[str, str],
) -> PlainMeans | None:
    """Over all valid trials of `points` with the levels of `where`; None unless two levels have one."""
    inside = [point for point in points_with(points, where) if factor in point.levels]
    measured = [trial for point in inside for trial in valid_trials(trials, point.point_id)]
    by_id = {trial.trial_id: trial for trial in measured}
    values: Values = {}
    for seen in common_observations(measured, metric):
        trial = by_id[seen.trial_id]
        values.setdefault(trial.levels[factor], []).append((trial, seen.value))
    if len(values) < 2:
        return None
    means = {level: statistics.fmean(value for _, value in found) for level, found in values.items()}
    order = _order(means, metric)
    return PlainMeans(order, means, _lone(values, factor, metric, order))


def _order(means: Mapping[str, float], metric: Metric) -> tuple[str, ...]:
    return tuple(sorted(means, key=lambda level: means[level], reverse=metric.better == "higher"))


def _lone(values: Values, factor: str, metric: Metric, order: tuple[str, ...]) -> LoneTrial | None:
    """The trial farthest from its level's median of those that no other level has a counterpart of, if the
    order is another one without it."""
    conditions = {level: {_condition(trial, factor) for trial, _ in found} for level, found in values.items()}
    alone = [
        (value / statistics.median(each for _, each in found), level, trial, value)
        for level, found in values.items()
        for trial, value in found
        if len(found) > 1
        and not any(_condition(trial, factor) in own for other, own in conditions.items() if other != level)
    ]
    if not alone:
        return None
    _, level, trial, value = max(alone, key=lambda one: max(one[0], 1 / one[0]) if one[0] > 0 else 0)
    rest = {
        each: statistics.fmean(number for other, number in found if other is not trial)
        for each, found in values.items()
    }
    without = _order(rest, metric)
    return LoneTrial(trial, level, value, without) if without != order else None


def _condition(trial: TrialRecord, factor: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, level) for name, level in trial.levels.items() if name != factor))
