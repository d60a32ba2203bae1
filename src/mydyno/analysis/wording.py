"""Ratios in words: percentages that never claim more than the interval does.

Bounds are rounded outwards, to as many digits as the width of the interval deserves, and a bound that is
not 0 is never shown as 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mydyno.analysis.bootstrap import LEVEL, Interval
from mydyno.analysis.metrics import Metric
from mydyno.analysis.ratio import Ratio
from mydyno.analysis.standard import Standard


@dataclass(frozen=True)
class Sentences:
    """The sentences about one ratio of `left` over `right`."""

    left: str
    right: str
    metric: Metric
    standard: Standard

    def difference(self, ratio: Ratio) -> str:
        """`left is faster than right by 12 % (95 % CI 9 to 15), n=5 vs 5`.

        A change in a time is said in per cent of right's time: `faster by 12 % in running time`.
        """
        value, _ = _known(ratio)
        size, low, high = _change(ratio)
        metric = self.metric
        if metric.better == "higher" or metric.summed:
            faster = (value > 1) == (metric.better == "higher")
            claim = f"{self.left} is {'faster' if faster else 'slower'} than {self.right}"
        else:
            claim = f"{self.left} has a {'higher' if value > 1 else 'lower'} {metric.noun} than {self.right}"
        digits = _digits(low, high)
        noun = f" in {metric.noun}" if metric.summed else ""
        return f"{claim} by {100 * size:.{digits}f} %{noun} ({self._interval(low, high)}), {_sizes(ratio)}"

    def no_difference(self, ratio: Ratio) -> str:
        """`no difference larger than 2.1 % between left and right (95 % CI -1.2 to 2.1), n=5 vs 5`."""
        _, interval = _known(ratio)
        low, high = interval.low - 1, interval.high - 1
        return (
            f"no difference{self._in_metric} larger than {largest_difference(interval)} between {self.left} "
            f"and {self.right} ({self._interval(low, high)}), {_sizes(ratio)}"
        )

    def identical(self, ratio: Ratio) -> str:
        """For trials that all say the same: `no difference between left and right: identical values in every
        trial, n=3 vs 3`."""
        if ratio.value is None or ratio.same:
            between = f"between {self.left} and {self.right}"
            return (
                f"no difference{self._in_metric} {between}: identical values in every trial, {_sizes(ratio)}"
            )
        return (
            f"not enough data to tell {self.left} from {self.right}: identical values in every trial, "
            f"{abs(ratio.value - 1) * 100:.2g} % apart, leave no spread to judge by, {_sizes(ratio)}"
        )

    def not_enough_data(self, ratio: Ratio, more: int | None, smallest: float | None) -> str:
        """`not enough data to tell left from right: about 4 more trials of each needed (95 % CI -3 to 14 %),
        n=3 vs 3`, or, where no number of trials to speak of would do, `too noisy to tell left from right:
        differences below 38 % cannot be seen with 4 trials of each (95 % CI -30 to 41 %), n=4 vs 4`.

        `smallest` is the difference that so many trials can show."""
        start = f"not enough data to tell {self.left} from {self.right}"
        for title, n in ((self.left, ratio.n_left), (self.right, ratio.n_right)):
            if n == 0:
                return f"{start}: no valid trial of {title} has {self.metric.noun}, {_sizes(ratio)}"
        if ratio.unlike is not None:
            return f"{self.left} cannot be compared with {self.right}: {ratio.unlike}, {_sizes(ratio)}"
        if ratio.value is None:
            return f"{start}: {self.metric.noun} is not above 0 in every trial, {_sizes(ratio)}"
        if more is None:
            start, needed = self._too_noisy(min(ratio.n_left, ratio.n_right), smallest)
        else:
            # Without an interval the spread, if there is one, is a guess from two values: no "about" can rest
            # on it.
            roughly = "at least" if ratio.interval is None else "about"
            needed = f"{roughly} {_trials(more)} of each needed"
        if ratio.interval is None:
            return f"{start}: {needed}, {_sizes(ratio)}"
        low, high = ratio.interval.low - 1, ratio.interval.high - 1
        family = ""
        if not ratio.interval.contains(1):
            family = f", which is not enough when {ratio.family} are looked at together"
        return f"{start}: {needed} ({self._interval(low, high, ' %')}{family}), {_sizes(ratio)}"

    def _too_noisy(self, n: int, smallest: float | None) -> tuple[str, str]:
        start = f"too noisy to tell {self.left} from {self.right}"
        if smallest is None:
            return start, f"{n} trials of each cannot show any difference"
        digits = 0 if smallest >= 0.1 else 1
        largest = _text(_outward(smallest, digits, down=False), digits)
        return start, f"differences below {largest} % cannot be seen with {n} trials of each"

    @property
    def _in_metric(self) -> str:
        return "" if self.metric.better == "higher" else f" in {self.metric.noun}"

    def _interval(self, low: float, high: float, unit: str = "") -> str:
        return f"{percent_interval(low, high)}{unit}{self.standard.correction}"


def percent_interval(low: float, high: float) -> str:
    """`95 % CI -1.2 to 2.9` of two fractions."""
    digits = _digits(low, high)
    shown_low = _text(_outward(low, digits, down=True), digits)
    return f"{LEVEL * 100:.0f} % CI {shown_low} to {_text(_outward(high, digits, down=False), digits)}"


def change(ratio: Ratio) -> str:
    """`12 % (95 % CI 9 to 15)`: how far the ratio is from 1, whichever way. It must have an interval."""
    size, low, high = _change(ratio)
    return f"{100 * size:.{_digits(low, high)}f} % ({percent_interval(low, high)})"


def largest_difference(interval: Interval) -> str:
    """`2.1 %`: the bound of the interval that is farther from 1."""
    low, high = interval.low - 1, interval.high - 1
    digits = _digits(low, high)
    largest = max(abs(_outward(low, digits, down=True)), abs(_outward(high, digits, down=False)))
    return f"{largest:.{digits}f} %"


def _change(ratio: Ratio) -> tuple[float, float, float]:
    """How far a ratio is from 1 as a fraction, and the interval of that."""
    value, interval = _known(ratio)
    if value > 1:
        return value - 1, interval.low - 1, interval.high - 1
    return 1 - value, 1 - interval.high, 1 - interval.low


def _known(ratio: Ratio) -> tuple[float, Interval]:
    if ratio.value is None or ratio.interval is None:
        raise ValueError("a ratio without value or interval cannot be claimed")
    return ratio.value, ratio.interval


def _sizes(ratio: Ratio) -> str:
    return f"n={ratio.n_left} vs {ratio.n_right}"


def _trials(count: int) -> str:
    return "1 more trial" if count == 1 else f"{count} more trials"


def _digits(low: float, high: float) -> int:
    """Decimals for percentages between two fractions: enough to show the width and the sides of 0."""
    width = 100 * (high - low)
    for digits, smallest in enumerate((1.0, 0.1, 0.01)):
        if width >= 4 * smallest and all(bound == 0 or 100 * abs(bound) >= smallest for bound in (low, high)):
            return digits
    return 3


def _outward(fraction: float, digits: int, *, down: bool) -> float:
    """A bound in percent. What is within a millionth of a digit of a round number is that number."""
    scale = float(10**digits)
    scaled = 100 * fraction * scale
    if not math.isfinite(scaled):
        return scaled
    nearest = round(scaled)
    if abs(scaled - nearest) < 1e-6:
        return nearest / scale
    return (math.floor(scaled) if down else math.ceil(scaled)) / scale


def _text(percent: float, digits: int) -> str:
    # Adding 0 turns -0.0 into 0.0.
    return f"{percent + 0:.{digits}f}"
