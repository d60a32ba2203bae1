"""Whether a series drifts: the Mann-Kendall test, with the size of the drift by Theil and Sen. Pure.

The test (Mann, Econometrica 13, 1945; Kendall, *Rank Correlation Methods*, 1948) assumes only that the noise
is exchangeable, which neighbours in a benchmark are not. So neighbours are averaged in
blocks first, and the variance of the statistic is corrected for what autocorrelation is left (Hamed and Rao,
*A Modified Mann-Kendall Trend Test for Autocorrelated Data*, Journal of Hydrology 204, 1998), never
downwards. The slope is the median over all pairs (Theil 1950; Sen, JASA 63, 1968).

Over several points at once it is the seasonal Kendall test (Hirsch, Slack and Smith, *Techniques of Trend
Analysis for Monthly Water Quality Data*, Water Resources Research 18, 1982), with points for seasons: only
trials of the same point are compared with each other.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import common_observations, valid_trials
from mydyno.lab.analysis.steady import BATCH, Array, batched, finite
from mydyno.lab.results.records import TrialRecord

LEAST_BLOCKS = 8
"""With fewer, even the clearest trend is a chance of more than one in ten thousand of any order."""
MOST_BLOCKS = 20
"""Longer series make longer blocks: the longer, the less neighbouring ones share."""
LEAST_TRIALS = 6
LEVEL = 0.01
"""A run has many phases; at 5% every second run would have a false alarm."""
LEAST_CHANGE = 0.05
"""Of the rate; less is no more than the margin that verdicts already have."""


@dataclass(frozen=True)
class Drift:
    """`change`: from beginning to end, as a ratio less 1: -0.1 says 10% less. Rates change in proportion,
    so slopes are of their logarithms."""

    change: float
    p_value: float

    @property
    def found(self) -> bool:
        """Both beyond chance and large enough to matter."""
        return self.p_value <= LEVEL and abs(self.change) >= LEAST_CHANGE


def drift(rates: Sequence[float | None]) -> Drift | None:
    """Of a phase's interval rates, in order; None where they are too few, or missing, or 0 for long."""
    values = finite(rates)
    if values is None or len(values) < LEAST_BLOCKS * BATCH:
        return None
    blocks = batched(values, max(BATCH, len(values) // MOST_BLOCKS))
    if float(blocks.min()) <= 0:
        return None
    logs = np.log(blocks)
    slope = float(np.median(_slopes(np.arange(len(logs), dtype=np.float64), logs)))
    variance = _variance(logs) * _correction(logs, slope)
    return Drift(math.expm1(slope * len(logs)), _p_value(_statistic(logs), variance))


def drift_over_points(points: Iterable[Sequence[tuple[float, float]]]) -> Drift | None:
    """Of trials over a run. For each point its trials as (place in the run, value), values above 0.

    `change` is over the whole run, as a ratio of rates less 1. None with too few trials, or where no point
    has two.
    """
    ordered = [sorted(trials) for trials in points]
    usable = [trials for trials in ordered if len(trials) > 1]
    if sum(map(len, usable)) < LEAST_TRIALS:
        return None
    statistic, variance, slopes = 0.0, 0.0, []
    for trials in usable:
        at = np.array([place for place, _ in trials], dtype=np.float64)
        logs = np.log(np.array([value for _, value in trials], dtype=np.float64))
        statistic += _statistic(logs)
        variance += _variance(logs)
        slopes.append(_slopes(at, logs))
    every = [place for trials in usable for place, _ in trials]
    steps = np.concatenate(slopes)
    if not len(steps):
        return None
    change = math.expm1(float(np.median(steps)) * (max(every) - min(every)))
    return Drift(change, _p_value(statistic, variance))


def _statistic(values: Array) -> float:
    """Kendall's S: how many pairs rise, less how many fall."""
    return float(np.triu(np.sign(values[None, :] - values[:, None]), 1).sum())


def _variance(values: Array) -> float:
    """Of S without autocorrelation, ties accounted for."""
    n = len(values)
    _, ties = np.unique(values, return_counts=True)
    tied = float((ties * (ties - 1) * (2 * ties + 5)).sum())
    return (n * (n - 1) * (2 * n + 5) - tied) / 18


def _correction(values: Array, slope: float) -> float:
    """Hamed and Rao's factor on the variance of S, from the ranks of the series without its trend."""
    n = len(values)
    ranks = _ranks(values - slope * np.arange(n))
    ranks = ranks - ranks.mean()
    whole = float((ranks**2).sum())
    if whole == 0:
        return 1.0
    lags = np.arange(1, max(2, n // 4 + 1))
    correlations = np.array([float((ranks[:-lag] * ranks[lag:]).sum()) / whole for lag in lags])
    significant = np.where(correlations > NormalDist().inv_cdf(0.975) / math.sqrt(n), correlations, 0.0)
    weights = (n - lags) * (n - lags - 1) * (n - lags - 2)
    return max(1.0, 1 + 2 / (n * (n - 1) * (n - 2)) * float((weights * significant).sum()))


def _ranks(values: Array) -> Array:
    """From 1; equal values share the mean of theirs. scipy.stats has it too, and takes long to load."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Array = (np.cumsum(count) - (count - 1) / 2)[place]
    return ranks


def _slopes(at: Array, values: Array) -> Array:
    """Of every pair of values that are not at the same place."""
    first, second = np.triu_indices(len(values), 1)
    apart = at[second] - at[first]
    kept = apart > 0
    slopes: Array = (values[second] - values[first])[kept] / apart[kept]
    return slopes


def _p_value(statistic: float, variance: float) -> float:
    """Two-sided, with Kendall's correction for continuity."""
    if variance <= 0 or statistic == 0:
        return 1.0
    return 2 * NormalDist().cdf((1 - abs(statistic)) / math.sqrt(variance))


def run_drift(trials: Sequence[TrialRecord], metric: Metric) -> Drift | None:
    """Of the metric over all places of each valid trial; None where there are too few trials."""
    points: list[list[tuple[float, float]]] = []
    for point_id in dict.fromkeys(trial.point_id for trial in trials):
        own = valid_trials(trials, point_id)
        order = {trial.trial_id: trial.index for trial in own}
        found = common_observations(own, metric)
        points.append([(float(order[one.trial_id]), one.value) for one in found if one.value > 0])
    return drift_over_points(points)
