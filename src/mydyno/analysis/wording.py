"""Ratios in words: percentages that never claim more than the interval does.

Bounds are rounded outwards, to as many digits as the width of the interval deserves, and a bound that is
not 0 is never shown as 0.
"""

from __future__ import annotations

import math

from mydyno.analysis.bootstrap import LEVEL, Interval
from mydyno.analysis.metrics import Metric
from mydyno.analysis.ratio import Ratio


def difference(ratio: Ratio, left: str, right: str, metric: Metric) -> str:
    """`left is faster than right by 12 % (95 % CI 9 to 15), n=5 vs 5`.

    A change in a time is said in per cent of right's time: `faster by 12 % in running time`.
    """
    value, interval = _known(ratio)
    if value > 1:
        size, low, high = value - 1, interval.low - 1, interval.high - 1
    else:
        size, low, high = 1 - value, 1 - interval.high, 1 - interval.low
    if metric.better == "higher" or metric.summed:
        faster = (value > 1) == (metric.better == "higher")
        claim = f"{left} is {'faster' if faster else 'slower'} than {right}"
    else:
        claim = f"{left} has a {'higher' if value > 1 else 'lower'} {metric.noun} than {right}"
    digits = _digits(low, high)
    noun = f" in {metric.noun}" if metric.summed else ""
    return f"{claim} by {100 * size:.{digits}f} %{noun} ({_interval(low, high)}), {_sizes(ratio)}"


def no_difference(ratio: Ratio, left: str, right: str, metric: Metric) -> str:
    """`no difference larger than 2.1 % between left and right (95 % CI -1.2 to 2.1), n=5 vs 5`."""
    _, interval = _known(ratio)
    low, high = interval.low - 1, interval.high - 1
    digits = _digits(low, high)
    largest = max(abs(_outward(low, digits, down=True)), abs(_outward(high, digits, down=False)))
    noun = "" if metric.better == "higher" else f" in {metric.noun}"
    return (
        f"no difference{noun} larger than {largest:.{digits}f} % between {left} and {right} "
        f"({_interval(low, high)}), {_sizes(ratio)}"
    )


def not_enough_data(ratio: Ratio, left: str, right: str, metric: Metric, more: int | None) -> str:
    """`not enough data to tell left from right: about 4 more trials of each needed (95 % CI -3 to 14 %),
    n=3 vs 3`."""
    start = f"not enough data to tell {left} from {right}"
    for title, n in ((left, ratio.n_left), (right, ratio.n_right)):
        if n == 0:
            return f"{start}: no valid trial of {title} has {metric.noun}, {_sizes(ratio)}"
    if ratio.value is None:
        return f"{start}: {metric.noun} is not above 0 in every trial, {_sizes(ratio)}"
    # Without an interval the spread, if there is one, is a guess from two values: no "about" can rest on it.
    roughly = "at least" if ratio.interval is None else "about"
    needed = "more than 1000 more trials" if more is None else f"{roughly} {_trials(more)}"
    if ratio.interval is None:
        return f"{start}: {needed} of each needed, {_sizes(ratio)}"
    low, high = ratio.interval.low - 1, ratio.interval.high - 1
    family = ""
    if not ratio.interval.contains(1):
        family = f", which is not enough when {ratio.family} are looked at together"
    return f"{start}: {needed} of each needed ({_interval(low, high)} %{family}), {_sizes(ratio)}"


def _known(ratio: Ratio) -> tuple[float, Interval]:
    if ratio.value is None or ratio.interval is None:
        raise ValueError("a ratio without value or interval cannot be claimed")
    return ratio.value, ratio.interval


def _sizes(ratio: Ratio) -> str:
    return f"n={ratio.n_left} vs {ratio.n_right}"


def _trials(count: int) -> str:
    return "1 more trial" if count == 1 else f"{count} more trials"


def _interval(low: float, high: float) -> str:
    digits = _digits(low, high)
    shown_low = _text(_outward(low, digits, down=True), digits)
    return f"{LEVEL * 100:.0f} % CI {shown_low} to {_text(_outward(high, digits, down=False), digits)}"


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
