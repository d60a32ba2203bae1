"""Whether times and calls changed from one digest to another, from histograms and counts alone.

**Times** are compared by the ratio of their means: mean times count is what the server was busy with. Its
interval is that of the Bayesian bootstrap (Rubin, The Bayesian Bootstrap, Annals of Statistics 9, 1981):
each side's buckets get random weights (Dirichlet, with their counts), the ratio of the weighted means is
taken, and the middle 95% of 999 ratios kept. With fewer than `FEWEST` calls on a side there is no interval.

**Calls** are compared by the ratio of their rates, whose interval is that of two Poisson counts on the
logarithmic scale: the standard error is sqrt(1/n + 1/m).

**The chance** that a call of the new side is slower than one of the old is that of Mann and Whitney (Annals
of Mathematical Statistics 18, 1947): it assumes nothing about the shape, and no single slow call can move it.

Assumed: that calls are independent. Those of a log are not quite: a lock or a full disk makes all of a
minute slow, and calls come in bursts. So the intervals are too narrow rather than too wide, and what is
smaller than `NOTABLE` is never called a change.
"""

import math

import numpy as np
from numpy.typing import NDArray

from mydyno.core.record import Record
from mydyno.queries.records import Measure

FEWEST = 30
"""Calls that each side needs for its mean to be judged (measured coverage: docs/how-to/digest.md)."""
NOTABLE = 0.10
"""A tenth more, or as much less."""

_RESAMPLES = 999
_MOST_POINTS = 32
"""Values that a histogram is drawn from: more would cost time and change no digit that is shown."""
_SEED = 20_261_122
_Z = 1.959964
"""Of 95% in the middle of the normal distribution."""

_Numbers = NDArray[np.float64]


class Ratio(Record):
    """New over old: 1.12 says that the new one is 12% above."""

    value: float
    low: float | None = None
    """The 95% interval; None where there are too few calls, or no histogram."""
    high: float | None = None

    @property
    def is_more(self) -> bool:
        """Shown to be more, and by a notable amount."""
        return self.low is not None and self.low > 1 and self.value >= 1 + NOTABLE

    @property
    def is_less(self) -> bool:
        return self.high is not None and self.high < 1 and self.value <= 1 / (1 + NOTABLE)

    @property
    def is_alike(self) -> bool:
        """A notable change is ruled out."""
        if self.low is None or self.high is None:
            return False
        return self.low > 1 / (1 + NOTABLE) and self.high < 1 + NOTABLE


def ratio_of_means(old: Measure, new: Measure) -> Ratio | None:
    """None where a side has no call, or takes no time."""
    if not old.sum or not new.sum:
        return None
    value = (new.sum / new.count) / (old.sum / old.count)
    if min(old.count, new.count) < FEWEST or not old.histogram or not new.histogram:
        return Ratio(value=value)
    drawn = np.log(_drawn_means(new, 1)) - np.log(_drawn_means(old, 0))
    low, high = np.exp(np.quantile(drawn, (0.025, 0.975)))
    return Ratio(value=value, low=min(float(low), value), high=max(float(high), value))


def ratio_of_rates(old: int, old_seconds: float, new: int, new_seconds: float) -> Ratio:
    """Of the calls in a second; each side has one at least."""
    value = (new / new_seconds) / (old / old_seconds)
    factor = math.exp(_Z * math.sqrt(1 / old + 1 / new))
    return Ratio(value=value, low=value / factor, high=value * factor)


def chance_slower(old: Measure, new: Measure) -> float | None:
    """That a call of the new side takes longer than one of the old; calls of one bucket count half each.

    None where a side has no histogram.
    """
    if not old.histogram or not new.histogram:
        return None
    bounds, counts = _points(old)
    below = np.concatenate(([0.0], np.cumsum(counts)))
    new_bounds, new_counts = _points(new)
    less = below[np.searchsorted(bounds, new_bounds, side="left")]
    no_more = below[np.searchsorted(bounds, new_bounds, side="right")]
    wins = float(new_counts @ ((less + no_more) / 2))
    return wins / float(counts.sum() * new_counts.sum())


def _drawn_means(measure: Measure, stream: int) -> _Numbers:
    """The mean under each set of weights: the same in every call, so that results never wobble."""
    values, counts = _coarse(*_points(measure))
    # The bounds of buckets lie above what is in them, all by the same share: the known mean takes it out.
    values = values * (measure.sum / measure.count) / (values @ counts / counts.sum())
    weights = np.random.default_rng([_SEED, stream]).standard_gamma(counts, size=(_RESAMPLES, counts.size))
    means: _Numbers = weights @ values / weights.sum(axis=1)
    return means


def _points(measure: Measure) -> tuple[_Numbers, _Numbers]:
    """Bounds and counts of the buckets, ascending."""
    table = np.asarray(measure.histogram, dtype=np.float64)
    return table[:, 0], table[:, 1]


def _coarse(values: _Numbers, counts: _Numbers) -> tuple[_Numbers, _Numbers]:
    """Neighbours merged until `_MOST_POINTS` are left, each at the mean of what it holds."""
    if values.size <= _MOST_POINTS:
        return values, counts
    # Steps of equal width on the logarithmic scale, so that the few slowest calls keep their places.
    logs = np.log(np.maximum(values, 1.0))
    steps = (logs - logs[0]) / (logs[-1] - logs[0]) * (_MOST_POINTS - 1)
    place = steps.astype(np.intp)
    total: _Numbers = np.bincount(place, counts, _MOST_POINTS).astype(np.float64)
    sums = np.bincount(place, counts * values, _MOST_POINTS)
    return sums[total > 0] / total[total > 0], total[total > 0]
