"""Student's t distribution, central and noncentral: what the power of a plan is computed from. Pure.

T = (Z + shift) / S, where Z is standard normal and S^2 is chi-squared over its degrees of freedom (Johnson,
Kotz and Balakrishnan, Continuous Univariate Distributions, volume 2, 2nd ed., 1995, chapter 31). The chance
that T exceeds a value is therefore the mean of a normal one over S, by the trapezoidal rule in log S: to
7 digits (tests compare it with scipy's). Loading scipy.special took a fifth of the CPU time of `mydyno plan`,
which is why it is not used here.
"""

import functools
import math
from collections.abc import Callable

import numpy as np

_NODES = np.linspace(-24, 8, 321)
"""Of log S, in units of its standard deviation."""


def exceeds(value: float, freedom: int, shift: float = 0.0) -> float:
    """The chance that T is greater than `value`, with 2 degrees of freedom or more."""
    logs = _NODES / math.sqrt(2 * freedom)
    weights = np.exp(freedom * (logs - np.expm1(2 * logs) / 2))
    chances = [math.erfc(z / math.sqrt(2)) / 2 for z in value * np.exp(logs) - shift]
    return float(weights @ chances / weights.sum())


@functools.lru_cache(maxsize=1024)
def quantile(chance: float, freedom: int) -> float:
    """The value that T without a shift does not exceed with this chance, 0.5 or more."""
    return _where(lambda value: 1 - exceeds(value, freedom), chance)


def shift_for(chance: float, value: float, freedom: int) -> float:
    """The shift with which T exceeds `value` with this chance."""
    return _where(lambda shift: exceeds(value, freedom, shift), chance)


def _where(rising: Callable[[float], float], wanted: float) -> float:
    """The x from 0 at which `rising` reaches `wanted`, by bisection."""
    low, high = 0.0, 1.0
    while rising(high) < wanted:
        low, high = high, 2 * high
    for _ in range(48):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < wanted else (low, middle)
    return high
