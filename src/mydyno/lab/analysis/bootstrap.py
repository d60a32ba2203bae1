"""Confidence intervals for the few repetitions that a benchmark can afford.

The method is the symmetric bootstrap-t of a mean, with the resamples smoothed:

* bootstrap-t (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 12; DiCiccio and Efron,
  Bootstrap Confidence Intervals, Statistical Science 11, 1996): the resamples estimate the distribution of
  (mean* - mean) / standard error*, so that the uncertainty of the spread itself, which rules at n = 3..8, is
  in it. The percentile and BCa bootstraps lack that: at n = 3 their "95%" holds the truth in 75% of cases.
* symmetric (Hall, On Symmetric Bootstrap Confidence Intervals, JRSS B 50, 1988): the 95% quantile of |t*| to
  both sides, with a smaller coverage error than one quantile for each tail; swapping the two sides of a
  comparison mirrors the interval exactly.
* smoothed (Silverman and Young, The Bootstrap: To Smooth or Not to Smooth?, Biometrika 74, 1987): each
  resampled value gets normal noise of bandwidth 1.06 s n^(-1/5) (Silverman's normal-reference rule). Without
  it one resample in nine at n = 3 has no spread at all and the interval is infinite.

docs/reference/statistics.md shows the measured coverage of this and of its rivals at n = 3, 4, 5, 8 and 20.

For two independent groups the statistic is Welch's: the difference of the means over
sqrt(s1^2 / n1 + s2^2 / n2), each group resampled on its own, so that unequal spreads and sizes are allowed.

Assumed: the values are independent repetitions (trials) of one measurement; what the trials of a block share
is removed by pairing before they come here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
SMALLEST_SAMPLE = 3
"""Two values give an interval about thirteen times as wide as half their distance, which is useless."""

_RESAMPLES = 9_999
_BANDWIDTH = 1.06
_SEED = 12_041_993

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """Where the true value lies with the confidence `level`."""

    low: float
    high: float
    level: float = LEVEL

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high

    def overlaps(self, other: Interval) -> bool:
        return self.low <= other.high and other.low <= self.high


def ends(interval: Interval | None) -> tuple[float | None, float | None]:
    """Low and high of an interval; None and None without one."""
    return (None, None) if interval is None else (interval.low, interval.high)


@dataclass(frozen=True)
class Estimate:
    """A mean (or a difference of means) with what the data say of its error.

    `standard_error` is None where a group has fewer than two values, `interval` and `p_value` where it has
    fewer than three, or where the values of each group are identical: without any spread they do not show
    their error (a coarse clock, a counter). `p_value` tests "the true value is 0" with the same resamples, so
    that it is at most 0.05 exactly when the 95% interval leaves 0 out.
    """

    value: float
    standard_error: float | None
    interval: Interval | None
    p_value: float | None

    def mirrored(self) -> Estimate:
        """The same with the sign turned."""
        turned = self.interval and Interval(-self.interval.high, -self.interval.low, self.interval.level)
        return replace(self, value=-self.value, interval=turned)


def mean_estimate(values: Sequence[float], level: float = LEVEL) -> Estimate:
    """The mean of `values` (at least one, all finite). The same for any order of the values."""
    group = _sorted(values)
    # Always resampled on the positive side, so that turning the sign of the data turns the result and no
    # more.
    turned = np.sort(-group)
    # An exact sum, and the values themselves where it is 0: else rounding would decide which side that is.
    if (math.fsum(group), group.tolist()) < (0.0, turned.tolist()):
        return _estimate([turned], level).mirrored()
    return _estimate([group], level)


def difference_estimate(left: Sequence[float], right: Sequence[float], level: float = LEVEL) -> Estimate:
    """Mean of `left` minus mean of `right`: two independent groups, each at least one value, all finite.

    The same for any order of the values; swapping the groups mirrors it.
    """
    first, second = _sorted(left), _sorted(right)
    if (first.size, first.tolist()) > (second.size, second.tolist()):
        return _estimate([second, -first], level).mirrored()
    return _estimate([first, -second], level)


def _estimate(groups: list[Numbers], level: float) -> Estimate:
    """The sum of the groups' means."""
    value = math.fsum(float(group.mean()) for group in groups)
    if any(group.size < 2 for group in groups):
        return Estimate(value, None, None, None)
    error = math.sqrt(math.fsum(float(group.var(ddof=1)) / group.size for group in groups))
    if any(group.size < SMALLEST_SAMPLE for group in groups) or all(map(identical, groups)):
        return Estimate(value, error, None, None)
    t = np.sort(np.abs(_resampled_t(groups)))
    # Levels have four digits; what the product has beyond them is no digit of the level.
    half = float(t[math.ceil(level * (_RESAMPLES + 1) - 1e-6) - 1]) * error
    as_far = _RESAMPLES - int(np.searchsorted(t, abs(value) / error))
    p_value = (as_far + 1) / (_RESAMPLES + 1)
    return Estimate(value, error, Interval(value - half, value + half, level), p_value)


def identical(values: Sequence[float] | Numbers) -> bool:
    """Whether the values (at least one) are the same but for what the arithmetic rounds away."""
    lowest, highest = min(values), max(values)
    return bool(highest - lowest <= 1e-12 * max(abs(lowest), abs(highest), 1e-300))


def _resampled_t(groups: list[Numbers]) -> Numbers:
    shift = np.zeros(_RESAMPLES)
    variance = np.zeros(_RESAMPLES)
    for stream, group in enumerate(groups):
        resampling, size = _resampling(group.size, stream), group.size
        deviations = group - group.mean()
        bandwidth = _BANDWIDTH * size**-0.2 * float(group.std(ddof=1))
        # Sum and sum of squares of what each resample has drawn, its noise added, without drawing it out.
        total = resampling.times @ deviations + bandwidth * resampling.noise
        squares = resampling.times @ deviations**2 + 2 * bandwidth * (resampling.noise_of @ deviations)
        squares += bandwidth**2 * resampling.noise_squared
        shift += total / size
        variance += (squares - total**2 / size) / (size * (size - 1))
    return shift / np.sqrt(variance)


@dataclass(frozen=True)
class _Resampling:
    """What each resample draws, a row each."""

    times: Numbers
    """How often it draws each value."""
    noise_of: Numbers
    """The sum of the noise that is added to each value's draws."""
    noise: Numbers
    """The sum of all its noise."""
    noise_squared: Numbers
    """The sum of its noise's squares."""


@functools.lru_cache(maxsize=64)
def _resampling(size: int, stream: int) -> _Resampling:
    """The same in every call, so results never wobble."""
    random = np.random.default_rng([_SEED, size, stream])
    choice = random.integers(0, size, (_RESAMPLES, size), dtype=np.intp)
    noise = random.standard_normal((_RESAMPLES, size))
    place = (choice + size * np.arange(_RESAMPLES)[:, None]).ravel()
    shape = (_RESAMPLES, size)
    return _Resampling(
        times=np.bincount(place, minlength=choice.size).reshape(shape).astype(np.float64),
        noise_of=np.bincount(place, noise.ravel(), choice.size).reshape(shape).astype(np.float64),
        noise=noise.sum(axis=1),
        noise_squared=(noise**2).sum(axis=1),
    )


def _sorted(values: Sequence[float]) -> Numbers:
    """Sorted, so that the order in which trials ran cannot change a result. Raises ValueError when empty."""
    if len(values) == 0:
        raise ValueError("no values")
    return np.sort(np.asarray(values, dtype=np.float64))
