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
from numpy.typing import NDArray

_NODES = np.linspace(-24, 8, 321)
"""Of log S, in units of its standard deviation."""
_EXACT = 1e-13
"""Chances that differ by less are equal."""


def exceeds(value: float, freedom: int, shift: float = 0.0) -> float:
    """The chance that T is greater than `value`, with 2 degrees of freedom or more."""
    scales, weights = _scales(freedom)
    normal = (value * scales - shift) / math.sqrt(2)
    return float(weights @ [math.erfc(z) / 2 for z in normal.tolist()])


@functools.lru_cache(maxsize=64)
def _scales(freedom: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values of S, and their weights, of sum 1. Those whose weight cannot change a sum are left out."""
    logs = _NODES / math.sqrt(2 * freedom)
    weights = np.exp(freedom * (logs - np.expm1(2 * logs) / 2))
    heavy = weights > np.finfo(float).eps * weights.max() / len(weights)
    return np.exp(logs[heavy]), weights[heavy] / weights[heavy].sum()


@functools.lru_cache(maxsize=1024)
def quantile(chance: float, freedom: int) -> float:
    """The value that T without a shift does not exceed with this chance, 0.5 or more."""
    return _where(lambda value: 1 - exceeds(value, freedom), chance)


def shift_for(chance: float, value: float, freedom: int) -> float:
    """The shift with which T exceeds `value` with this chance."""
    return _where(lambda shift: exceeds(value, freedom, shift), chance)


def _where(rising: Callable[[float], float], wanted: float) -> float:
    """The x from 0 at which `rising` reaches `wanted`, by regula falsi; the value at an end that stays for
    two steps is halved (the Illinois variant: Dowell and Jarratt, BIT 11, 1971). 0 where it begins above."""
    low, high, side = 0.0, 1.0, 0
    below, above = rising(low) - wanted, rising(high) - wanted
    while above < 0:
        low, high, below = high, 2 * high, above
        above = rising(high) - wanted
    if below >= 0:
        return low
    while True:
        x = (low * above - high * below) / (above - below)
        off = rising(x) - wanted
        if abs(off) < _EXACT or not low < x < high:
            return x
        if off < 0:
            low, below, above, side = x, off, above / (2 if side < 0 else 1), -1
        else:
            high, above, below, side = x, off, below / (2 if side > 0 else 1), 1
