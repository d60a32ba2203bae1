"""Trials that lie far from the others: reported with a probable cause, never dropped.

How far is measured on logarithms and by medians, which a few wild values cannot move:

* where points were repeated, a trial's residual is its distance from the median of its point;
* where they were not (fewer than three trials of most points), it is what an additive fit by medians over the
  levels of all factors leaves of it (median polish: Tukey, Exploratory Data Analysis, 1977, chapter 11). That
  holds the interactions of the factors too, so that only a deviation by half or more is called one.

The scale is the median of all absolute residuals, or that of the trial's own point where it is larger: a
noisy point is not an outlier. A trial is flagged when its residual is as many scales large as none of an
experiment of this shape would be in 95 of 100 cases, were the noise normal (the Hampel identifier with the
outer cut-off of Davies and Gather, The Identification of Multiple Outliers, JASA 88, 1993; the cut-off, and
with it the small-sample correction of the median of few absolute residuals, is found by simulation).
Deviations within the margin of verdicts are never flagged: they change nothing.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from mydyno.lab.analysis.bootstrap import SMALLEST_SAMPLE
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import common_observations, finite
from mydyno.lab.analysis.standard import MARGIN
from mydyno.lab.results.records import TrialRecord

_SEED = 9_800
_EXPERIMENTS = 2_000
_CLEAN = 0.95
_SWEEPS = 10


@dataclass(frozen=True)
class Outlier:
    """A valid trial that differs from the others."""

    trial: TrialRecord
    metric: Metric
    value: float
    """Over all places of the trial, in the metric's unit."""
    usual: float
    """The value expected from the others."""
    scales: float
    """How many times the usual deviation it is away."""
    fitted: bool
    """`usual` is fitted from the levels of its factors, since its point has no other trials to speak of."""

    @property
    def ratio(self) -> float:
        return self.value / self.usual


def outliers(trials: Iterable[TrialRecord], metric: Metric, margin: float = MARGIN) -> tuple[Outlier, ...]:
    """Those of the valid `trials` that lie far from the others, in the order in which they ran.

    None where there are fewer than five trials.
    """
    valid = finite((trial for trial in trials if trial.status == "valid"), metric)
    logs = {
        seen.trial_id: math.log(seen.value)
        for own in _grouped((trial.point_id, trial) for trial in valid).values()
        for seen in common_observations(own, metric)
        if seen.value > 0
    }
    sizes = Counter(trial.point_id for trial in valid if trial.trial_id in logs)
    repeated = 2 * sum(size >= SMALLEST_SAMPLE for size in sizes.values()) >= len(sizes)
    known = {
        trial.trial_id: trial
        for trial in valid
        if trial.trial_id in logs and (not repeated or sizes[trial.point_id] >= SMALLEST_SAMPLE)
    }
    logs = {name: logs[name] for name in known}
    if len(logs) < _FEWEST:
        return ()
    left = _from_median(known, logs) if repeated else _polished(known, logs)
    scale, own = _scales(known, left)
    points = Counter(trial.point_id for trial in known.values())
    if repeated:
        cut = _cut_off(round(statistics.fmean(points.values())), len(points))
    else:
        cut, margin = _cut_off(len(known), 1), max(margin, _LACK_OF_FIT)
    flagged = [
        Outlier(trial, metric, math.exp(logs[name]), math.exp(logs[name] - left[name]), far, not repeated)
        for name, trial in known.items()
        if abs(left[name]) > math.log1p(margin)
        and (far := _far(left[name], max(scale, own[trial.point_id] if repeated else 0.0))) > cut
    ]
    return tuple(sorted(flagged, key=lambda one: (one.trial.index, one.trial.attempt)))


Key = TypeVar("Key")
Value = TypeVar("Value")

_FEWEST = 5
_LACK_OF_FIT = 0.5


def _grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def _from_median(trials: dict[str, TrialRecord], logs: dict[str, float]) -> dict[str, float]:
    own = _grouped((trial.point_id, logs[name]) for name, trial in trials.items())
    return {name: logs[name] - statistics.median(own[trial.point_id]) for name, trial in trials.items()}


def _polished(trials: dict[str, TrialRecord], logs: dict[str, float]) -> dict[str, float]:
    """What is left after the medians of the levels of each factor were taken away in turn, some ten times."""
    middle = statistics.median(logs.values())
    left = {name: log - middle for name, log in logs.items()}
    factors = dict.fromkeys(name for trial in trials.values() for name in trial.levels)
    for _ in range(_SWEEPS):
        for factor in factors:
            by_level = _grouped((trial.levels.get(factor), name) for name, trial in trials.items())
            for names in by_level.values():
                # Two values would be split in the middle, and each be as far as the other.
                if len(names) >= SMALLEST_SAMPLE:
                    middle = statistics.median(left[name] for name in names)
                    left |= {name: left[name] - middle for name in names}
    return left


def _scales(trials: dict[str, TrialRecord], left: dict[str, float]) -> tuple[float, dict[str, float]]:
    """The median absolute residual of all, and that of each point."""
    own = _grouped((trial.point_id, abs(left[name])) for name, trial in trials.items())
    pooled = statistics.median(abs(each) for each in left.values())
    return pooled, {point: statistics.median(residuals) for point, residuals in own.items()}


def _far(residual: float, scale: float) -> float:
    return abs(residual) / scale if scale > 0 else math.inf


@functools.lru_cache(maxsize=64)
def _cut_off(repetitions: int, points: int) -> float:
    """So many median absolute residuals as the largest residual of `points` times `repetitions` normal values
    reaches in one of twenty experiments."""
    random = np.random.default_rng([_SEED, repetitions, points])
    experiments = max(200, _EXPERIMENTS * 50 // max(50, repetitions * points))
    values = random.standard_normal((experiments, points, repetitions))
    residuals = np.abs(values - np.median(values, axis=2, keepdims=True))
    pooled = np.median(residuals.reshape(experiments, -1), axis=1)
    own = np.median(residuals, axis=2)
    scale = np.maximum(pooled[:, None], own)
    return float(np.quantile((residuals.max(axis=2) / scale).max(axis=1), _CLEAN))
