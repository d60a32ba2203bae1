"""Trials that lie far from their fellows: told with a probable cause, never dropped.

How far is measured on logarithms and by medians, which a few wild values cannot move:

* where points were repeated, a trial's residual is its distance from the median of its point;
* where they were not (fewer than three trials of most points), it is what an additive fit by medians over the
  levels of all factors leaves of it (median polish: Tukey, Exploratory Data Analysis, 1977, chapter 11). That
  holds the interactions of the factors too, so that only a deviation by half or more is called one.

The scale is the median of all absolute residuals, or that of the trial's own point where it is larger: a
noisy point is no outlier. A trial is flagged when its residual is as many scales large as none of an
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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mydyno.lab.analysis.bootstrap import SMALLEST_SAMPLE
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import finite, overall_observations, overall_places
from mydyno.lab.analysis.standard import MARGIN
from mydyno.lab.results.records import TrialRecord

_SEED = 9_800
_EXPERIMENTS = 2_000
_CLEAN = 0.95
_SWEEPS = 10


@dataclass(frozen=True)
class Outlier:
    """A valid trial that is not like its fellows."""

    trial: TrialRecord
    metric: Metric
    value: float
    """Over all places of the trial, in the metric's unit."""
    usual: float
    """What its fellows lead one to expect."""
    scales: float
    """How many times the usual deviation it is away."""
    fitted: bool
    """`usual` is fitted from the levels of its factors, since its point has no other trials to speak of."""

    @property
    def ratio(self) -> float:
        return self.value / self.usual


def outliers(trials: Iterable[TrialRecord], metric: Metric, margin: float = MARGIN) -> tuple[Outlier, ...]:
    """Those of the valid `trials` that lie far from their fellows, as they ran.

    None where fewer than five trials can be looked at.
    """
    valid = finite((trial for trial in trials if trial.status == "valid"), metric)
    over = {point: overall_places(own, metric) for point, own in _by_point(valid).items()}
    logs: dict[int, float] = {}
    for number, trial in enumerate(valid):
        for seen in overall_observations([trial], over[trial.point_id], metric):
            if over[trial.point_id] and seen.value > 0:
                logs[number] = math.log(seen.value)
    known = {number: valid[number] for number in logs}
    sizes = Counter(trial.point_id for trial in known.values())
    repeated = 2 * sum(size >= SMALLEST_SAMPLE for size in sizes.values()) >= len(sizes)
    if repeated:
        logs = {
            number: log for number, log in logs.items() if sizes[known[number].point_id] >= SMALLEST_SAMPLE
        }
        known = {number: known[number] for number in logs}
    if len(logs) < _FEWEST:
        return ()
    left = _from_median(known, logs) if repeated else _polished(known, logs)
    scale, own = _scales(known, left)
    points = Counter(trial.point_id for trial in known.values())
    if repeated:
        cut = _cut_off(round(statistics.fmean(points.values())), len(points))
    else:
        cut, margin = _cut_off(len(known), 1), max(margin, _LACK_OF_FIT)
    found = [
        Outlier(
            trial, metric, math.exp(logs[number]), math.exp(logs[number] - left[number]), far, not repeated
        )
        for number, trial in known.items()
        if abs(left[number]) > math.log1p(margin)
        and (far := _far(left[number], max(scale, own[trial.point_id] if repeated else 0.0))) > cut
    ]
    return tuple(sorted(found, key=lambda one: (one.trial.index, one.trial.attempt)))


_FEWEST = 5
_LACK_OF_FIT = 0.5


def _by_point(trials: Sequence[TrialRecord]) -> dict[str, list[TrialRecord]]:
    found: dict[str, list[TrialRecord]] = {}
    for trial in trials:
        found.setdefault(trial.point_id, []).append(trial)
    return found


def _from_median(trials: dict[int, TrialRecord], logs: dict[int, float]) -> dict[int, float]:
    own: dict[str, list[float]] = {}
    for number, trial in trials.items():
        own.setdefault(trial.point_id, []).append(logs[number])
    return {number: logs[number] - statistics.median(own[trial.point_id]) for number, trial in trials.items()}


def _polished(trials: dict[int, TrialRecord], logs: dict[int, float]) -> dict[int, float]:
    """What is left after the medians of the levels of each factor were taken away in turn, some ten times."""
    middle = statistics.median(logs.values())
    left = {number: log - middle for number, log in logs.items()}
    factors = dict.fromkeys(name for trial in trials.values() for name in trial.levels)
    for _ in range(_SWEEPS):
        for factor in factors:
            by_level: dict[str | None, list[int]] = {}
            for number, trial in trials.items():
                by_level.setdefault(trial.levels.get(factor), []).append(number)
            for numbers in by_level.values():
                # Two values would be split in the middle, and each be as far as the other.
                if len(numbers) >= SMALLEST_SAMPLE:
                    middle = statistics.median(left[number] for number in numbers)
                    left |= {number: left[number] - middle for number in numbers}
    return left


def _scales(trials: dict[int, TrialRecord], left: dict[int, float]) -> tuple[float, dict[str, float]]:
    """The median absolute residual of all, and that of each point."""
    own: dict[str, list[float]] = {}
    for number, trial in trials.items():
        own.setdefault(trial.point_id, []).append(abs(left[number]))
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
