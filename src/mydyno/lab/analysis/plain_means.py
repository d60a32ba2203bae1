"""The order that plain means give: what one reads off a table without asking what was measured beside what.

It is not used for any verdict. It tells why somebody came to another order: a level may owe its place to
conditions under which no other level was measured, and to a single trial among them.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import overall_observations, overall_places, valid_trials
from mydyno.lab.results.records import PointRecord, TrialRecord

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
    inside = [
        point
        for point in points
        if factor in point.levels and all(point.levels.get(name) == level for name, level in where.items())
    ]
    measured = [trial for point in inside for trial in valid_trials(trials, point.point_id)]
    over = overall_places(measured, metric) if measured else ()
    values: Values = {}
    for trial in measured:
        for seen in overall_observations([trial], over, metric) if over else ():
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
