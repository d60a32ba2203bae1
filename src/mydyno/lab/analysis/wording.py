"""Ratios in words: what is shown, how large it is, how sure that is.

Every percentage of a report comes from `percent` and every interval of percentages from `percent_interval`,
so that a sentence, a table and a chart show the same digits. Bounds are rounded to the nearest, with more
decimals where an interval is narrow: a bound that is not 0 is never shown as 0. An interval that spans
orders of magnitude is not shown at all, but called too wide to be useful.
"""

from dataclasses import dataclass

from mydyno.core.percent import percent, signed_percent
from mydyno.core.plurals import counted
from mydyno.lab.analysis.bootstrap import LEVEL, Interval
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.ratio import Ratio
from mydyno.lab.analysis.standard import Standard

TOO_WIDE = "too wide to be useful"
_WIDEST = 100
"""An interval is too wide when its upper end is more than so many times its lower one: our choice."""
_TIMES = 10
"""From this ratio on a difference is given as a factor, not in percent."""


@dataclass(frozen=True)
class Sentences:
    """The sentences about one ratio of `left` over `right`."""

    left: str
    right: str
    metric: Metric
    standard: Standard

    def difference(self, ratio: Ratio) -> str:
        """`left is faster than right by 12.3% (95% CI 9.4 to 14.8), n=5 vs 5`.

        A change in a time is a percentage of right's time: `faster by 12.0% in running time`.
        """
        value, interval = _known(ratio)
        if value >= _TIMES:
            error = f"{_factor_interval(interval)}{self.standard.correction}"
            return f"{self._times(value)} ({error}), {_sizes(ratio)}"
        size, low, high = _change(ratio)
        metric = self.metric
        if metric.better == "higher" or metric.summed:
            faster = (value > 1) == (metric.better == "higher")
            claim = f"{self.left} is {'faster' if faster else 'slower'} than {self.right}"
        else:
            claim = f"{self.left} has a {'higher' if value > 1 else 'lower'} {metric.noun} than {self.right}"
        noun = f" in {metric.noun}" if metric.summed else ""
        error = f"{_error(ratio)}{self.standard.correction}"
        return f"{claim} by {percent(size, percent_digits(low, high))}%{noun} ({error}), {_sizes(ratio)}"

    def _times(self, value: float) -> str:
        """`left is 51.2 times as fast as right`"""
        times = f"{value:.3g} times"
        if self.metric.better == "higher":
            return f"{self.left} is {times} as fast as {self.right}"
        if self.metric.summed:
            return f"{self.left} takes {times} as long as {self.right}"
        return f"{self.left} has {times} the {self.metric.noun} of {self.right}"

    def no_difference(self, ratio: Ratio) -> str:
        """`no difference larger than 2.1% between left and right (95% CI -1.2 to 2.1), n=5 vs 5`."""
        _, interval = _known(ratio)
        return (
            f"no difference{self._in_metric} larger than {largest_difference(interval)} between {self.left} "
            f"and {self.right} ({self._interval(interval)}), {_sizes(ratio)}"
        )

    def identical(self, ratio: Ratio) -> str:
        """`no difference between left and right: identical values in every trial, n=3 vs 3`."""
        if ratio.value is None or ratio.same:
            between = f"between {self.left} and {self.right}"
            return (
                f"no difference{self._in_metric} {between}: identical values in every trial, {_sizes(ratio)}"
            )
        return (
            f"{self._pair}: {abs(ratio.value - 1) * 100:.2g}% apart, without a spread: identical values in "
            f"every trial, {_sizes(ratio)}"
        )

    def not_enough_data(self, ratio: Ratio, more: int | None, smallest: float | None) -> str:
        """The size, its uncertainty, what that excludes, what would settle it: `left vs right: +5.0% queries
        per second (95% CI -3.0 to 14.0), n=3 vs 3: no difference larger than 14.0%; about 13 more trials of
        each would settle it`.

        `smallest` is the minimum detectable effect of so many trials.
        """
        incomparable = f"{self.left} cannot be compared with {self.right}"
        for title, n in ((self.left, ratio.n_left), (self.right, ratio.n_right)):
            if n == 0:
                return f"{incomparable}: no valid trial of {title} has {self.metric.noun}, {_sizes(ratio)}"
        if ratio.unlike is not None:
            return f"{incomparable}: {ratio.unlike}, {_sizes(ratio)}"
        if ratio.value is None:
            return f"{incomparable}: {self.metric.noun} is not above 0 in every trial, {_sizes(ratio)}"
        if ratio.interval is None:
            # The spread, if there is one, is a guess from two values: no "about" can rest on it.
            needed = f"; at least {counted(more, 'more trial')} of each needed" if more else ""
            size = self._signed(ratio.value, 1)
            return f"{self._pair}: {size} without an interval, {_sizes(ratio)}{needed}"
        needed = self._needed(min(ratio.n_left, ratio.n_right), more, smallest)
        low, high = ratio.interval.low - 1, ratio.interval.high - 1
        family = ""
        if ratio.family > 1 and not ratio.interval.contains(1):
            family = f", not significant when corrected for {ratio.family} comparisons"
        signed = self._signed(ratio.value, percent_digits(low, high))
        claim = f"{self._pair}: {signed} ({self._interval(ratio.interval)}{family}), {_sizes(ratio)}"
        excluded = excluding(ratio)
        return f"{claim}: {excluded}; {needed}" if excluded else f"{claim}; {needed}"

    @property
    def _pair(self) -> str:
        return f"{self.left} vs {self.right}"

    def _signed(self, value: float, digits: int) -> str:
        """`+4.7% queries per second`"""
        if value >= _TIMES:
            return f"{value:.3g} times the {self.metric.noun}"
        return f"{signed_percent(value, digits)}% {self.metric.noun}"

    def _needed(self, n: int, more: int | None, smallest: float | None) -> str:
        """What would settle it."""
        if more is not None:
            return f"about {counted(more, 'more trial')} of each would settle it"
        return undecidable(n, smallest)

    @property
    def _in_metric(self) -> str:
        return "" if self.metric.better == "higher" else f" in {self.metric.noun}"

    def _interval(self, interval: Interval) -> str:
        return f"{percent_interval(interval)}{self.standard.correction}"


TOO_WIDE_INTERVAL = f"{LEVEL * 100:.0f}% CI {TOO_WIDE}"


def too_wide(interval: Interval) -> bool:
    """Of a ratio, or of a quantity that is above 0."""
    return interval.high > _WIDEST * max(interval.low, 0.0)


def undecidable(n: int, smallest: float | None) -> str:
    """What would settle it where no reasonable number of trials does. `smallest` is the minimum detectable
    effect of `n` trials of each, a fraction."""
    if smallest is None or smallest >= _TIMES - 1:
        return "more trials would not settle it: reduce the noise first"
    return f"minimum detectable effect with {counted(n, 'trial')} of each: {percent(smallest)}%"


def percent_digits(low: float, high: float) -> int:
    """Decimals for percentages between two fractions: enough to show the width and the sides of 0."""
    width = 100 * (high - low)
    for digits, smallest in ((1, 0.1), (2, 0.01)):
        if width >= 4 * smallest and all(bound == 0 or 100 * abs(bound) >= smallest for bound in (low, high)):
            return digits
    return 3


def percent_interval(interval: Interval) -> str:
    """`95% CI -1.2 to 2.9` of a ratio's interval."""
    return TOO_WIDE_INTERVAL if too_wide(interval) else _bounds(interval.low - 1, interval.high - 1)


def _bounds(low: float, high: float) -> str:
    """`95% CI -1.2 to 2.9` of two fractions."""
    digits = percent_digits(low, high)
    return f"{LEVEL * 100:.0f}% CI {percent(low, digits)} to {percent(high, digits)}"


def _factor_interval(interval: Interval) -> str:
    """`95% CI 45.1 to 58.0` of a ratio that is given as a factor."""
    if too_wide(interval):
        return TOO_WIDE_INTERVAL
    return f"{LEVEL * 100:.0f}% CI {interval.low:.3g} to {interval.high:.3g}"


def change(ratio: Ratio) -> str:
    """`12.0% (95% CI 9.1 to 15.2)`: how far a ratio with an interval is from 1, whichever way."""
    size, low, high = _change(ratio)
    return f"{percent(size, percent_digits(low, high))}% ({_error(ratio)})"


def largest_difference(interval: Interval) -> str:
    """`2.1%`: the bound of the interval that is farther from 1."""
    bound = max(abs(interval.low - 1), abs(interval.high - 1))
    return f"{percent(bound, percent_digits(-bound, bound))}%"


def excluding(ratio: Ratio) -> str | None:
    """`no difference larger than 14.0%`: what the interval proves; None without a useful one."""
    if ratio.interval is None or too_wide(ratio.interval):
        return None
    return f"no difference larger than {largest_difference(ratio.interval)}"


def _change(ratio: Ratio) -> tuple[float, float, float]:
    """How far a ratio is from 1 as a fraction, and the interval of that."""
    value, interval = _known(ratio)
    if value > 1:
        return value - 1, interval.low - 1, interval.high - 1
    return 1 - value, 1 - interval.high, 1 - interval.low


def _error(ratio: Ratio) -> str:
    """The interval of how far a ratio is from 1."""
    _, low, high = _change(ratio)
    return TOO_WIDE_INTERVAL if too_wide(_known(ratio)[1]) else _bounds(low, high)


def _known(ratio: Ratio) -> tuple[float, Interval]:
    if ratio.value is None or ratio.interval is None:
        raise ValueError("a ratio without value or interval cannot be claimed")
    return ratio.value, ratio.interval


def _sizes(ratio: Ratio) -> str:
    return f"n={ratio.n_left} vs {ratio.n_right}"
