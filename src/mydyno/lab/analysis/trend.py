"""One point over many runs of an experiment: how it went, and where it changed.

A run is one value: the mean of its trials' logarithms, over the places that all of its runs measured. What
lies between two changes is a level, and neighbouring levels are compared by their runs (Welch), never by
trials, which share the machine and the hour of their run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mydyno.lab.analysis.bootstrap import Interval, difference_estimate
from mydyno.lab.analysis.change_points import change_points
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import Place, overall_observations, overall_places, valid_trials
from mydyno.lab.analysis.summary import summarise
from mydyno.lab.analysis.words import primary_metric
from mydyno.lab.results.records import ExperimentRecord, TrialRecord

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
