"""One point over many runs of an experiment: how it went, and where it changed.

A run is one value: the mean of its trials' logarithms, over the places that all of its runs measured. What
lies between two changes is a level, and neighbouring levels are compared by their runs (Welch), never by
trials, which share the machine and the hour of their run.

Where it changed is found by E-divisive, a nonparametric search for changes of distribution:
Matteson and James, A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data, JASA
109, 2014; used on performance tests of a database by Daly et al., The Use of Change Point Detection to
Identify Software Performance Regressions in a Continuous Integration System, ICPE 2020.

The energy distance between the values before and after a place measures how much they differ; the largest one
of all places is compared with those of the same values in random order. If at most 5% of the orders reach it,
the series is cut there and each side is searched in turn.

One value is one run (the mean logarithm of its trials), never one trial: trials of a run share its machine
and its hour, and would make every run look like a change.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mydyno.lab.analysis.bootstrap import Interval, difference_estimate
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import Place, overall_observations, overall_places, valid_trials
from mydyno.lab.analysis.summary import summarise
from mydyno.lab.analysis.words import primary_metric
from mydyno.lab.results.records import ExperimentRecord, TrialRecord

Numbers = NDArray[np.float64]

SIGNIFICANCE = 0.05
SMALLEST_SEGMENT = 2
"""Runs on each side of a change: one run alone is an outlier until another one agrees."""
SMALLEST_SERIES = 6
"""With fewer runs even the most extreme order of them is reached by more than one order in twenty."""
_ORDERS = 999
_SEED = 12_041_993
_TABLE = 1_000_000
"""Numbers in the tables of one batch of orders."""


@dataclass(frozen=True)
class ChangePoint:
    """The series is another one from the value `index` on."""

    index: int
    p_value: float
    """Of the orders of the values, its own included, the share that shows as large a difference."""


def change_points(values: Sequence[float]) -> tuple[ChangePoint, ...]:
    """Where the series changed, ascending. The values are finite and in order of time; fewer than six have no
    change."""
    series = np.asarray(values, dtype=np.float64)
    random = np.random.default_rng(_SEED)
    return tuple(sorted(_search(series, 0, random), key=lambda found: found.index))


def _search(series: Numbers, start: int, random: np.random.Generator) -> list[ChangePoint]:
    if len(series) < SMALLEST_SERIES or np.ptp(series) == 0:
        return []
    (best,), (place,) = _largest(series[None, :])
    reached = 0
    # So many orders at a time that their tables stay small.
    batch = max(1, _TABLE // len(series) ** 2)
    for done in range(0, _ORDERS, batch):
        orders = random.permuted(np.tile(series, (min(batch, _ORDERS - done), 1)), axis=1)
        reached += int((_largest(orders)[0] >= best * (1 - 1e-12)).sum())
    p_value = (reached + 1) / (_ORDERS + 1)
    if p_value > SIGNIFICANCE:
        return []
    cut = int(place)
    return [
        *_search(series[:cut], start, random),
        ChangePoint(start + cut, p_value),
        *_search(series[cut:], start + cut, random),
    ]


def _largest(series: Numbers) -> tuple[Numbers, NDArray[np.int64]]:
    """For each row of `series` the largest energy statistic of all places to cut, and that place.

    What comes before a place is compared with what follows up to any later one, as the paper has it, so that
    a stretch that differs from both of its neighbours is seen.
    """
    size = series.shape[1]
    distance = np.abs(series[:, :, None] - series[:, None, :])
    table = distance.cumsum(axis=1).cumsum(axis=2)
    least = SMALLEST_SEGMENT
    cuts, ends = np.array(
        [(cut, end) for cut in range(least, size - least + 1) for end in range(cut + least, size + 1)]
    ).T
    before = table[:, cuts - 1, cuts - 1]
    between = table[:, cuts - 1, ends - 1] - before
    after = table[:, ends - 1, ends - 1] - before - 2 * between
    others = ends - cuts
    energy = 2 * between / (cuts * others) - before / cuts**2 - after / others**2
    statistic = energy * cuts * others / ends
    best = statistic.argmax(axis=1)
    return statistic[np.arange(len(series)), best], cuts[best]


Levels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Measured:
    """A run and its trials."""

    run: str
    experiment: ExperimentRecord
    trials: Sequence[TrialRecord]


@dataclass(frozen=True)
class Dot:
    """A run in a trend."""

    run: str
    created_at: str
    """ISO 8601, UTC."""
    n: int
    """Valid trials."""
    mean: float
    """Geometric, in the metric's unit."""
    interval: Interval | None
    """Of the arithmetic mean; None below three trials."""


@dataclass(frozen=True)
class Change:
    """The point is another one from a run on."""

    dot: int
    """Place of the first run of the new level."""
    ratio: float
    """The new level over the one before."""
    interval: Interval | None
    """None where a level has fewer than three runs."""
    better: bool
    p_value: float


@dataclass(frozen=True)
class Trend:
    title: str
    metric: Metric
    dots: tuple[Dot, ...]
    changes: tuple[Change, ...]


def trends(runs: Sequence[Measured]) -> tuple[Trend, ...]:
    """The trend of every point that two runs or more have, the runs in order of time; none for others."""
    titles: dict[Levels, str] = {}
    for run in runs:
        for point in run.experiment.compared_points:
            titles.setdefault(tuple(sorted(point.levels.items())), point.title)
    found = (_trend(levels, title, runs) for levels, title in titles.items())
    return tuple(trend for trend in found if trend is not None)


def _trend(levels: Levels, title: str, runs: Sequence[Measured]) -> Trend | None:
    measured = [(run, _trials(levels, run)) for run in runs]
    measured = [(run, trials) for run, trials in measured if trials]
    if len(measured) < 2:
        return None
    metric = primary_metric(measured[-1][1], measured[-1][0].experiment.work)
    shared = [set(overall_places(trials, metric)) for _, trials in measured]
    over = [place for place in overall_places(measured[-1][1], metric) if all(place in one for one in shared)]
    dots = [_dot(run, trials, over, metric) for run, trials in measured] if over else []
    kept = tuple(dot for dot in dots if dot is not None)
    return Trend(title, metric, kept, _changes(kept, metric)) if len(kept) > 1 else None


def _trials(levels: Levels, run: Measured) -> list[TrialRecord]:
    return [
        trial
        for point in run.experiment.compared_points
        if tuple(sorted(point.levels.items())) == levels
        for trial in valid_trials(run.trials, point.point_id)
    ]


def _dot(run: Measured, trials: Sequence[TrialRecord], over: Sequence[Place], metric: Metric) -> Dot | None:
    values = [seen.value for seen in overall_observations(trials, over, metric)]
    found = summarise("", 0, values)
    if found.geometric_mean is None or found.value is None:
        return None
    return Dot(run.run, run.experiment.created_at, found.n, found.value, found.interval)


def _changes(dots: Sequence[Dot], metric: Metric) -> tuple[Change, ...]:
    logs = [math.log(dot.mean) for dot in dots]
    found = change_points(logs)
    edges = [0, *(change.index for change in found), len(logs)]
    changes = []
    for place, change in enumerate(found):
        before, after = logs[edges[place] : change.index], logs[change.index : edges[place + 2]]
        estimate = difference_estimate(after, before)
        interval = estimate.interval
        changes.append(
            Change(
                dot=change.index,
                ratio=math.exp(estimate.value),
                interval=interval
                and Interval(math.exp(interval.low), math.exp(interval.high), interval.level),
                better=(estimate.value > 0) == (metric.better == "higher"),
                p_value=change.p_value,
            )
        )
    return tuple(changes)
