"""What the detectors on series of interval rates share. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BATCH = 5
"""Intervals whose mean is one value: averages out what neighbours share, as MSER-5 has it."""


def finite(values: Sequence[float | None]) -> Array | None:
    """The values as an array; None when one of them is missing or not finite."""
    if any(value is None or not math.isfinite(value) for value in values):
        return None
    return np.array(values, dtype=np.float64)


def batched(values: Array, size: int) -> Array:
    """The means of `size` neighbours each, counted from the end; the start may be left over."""
    count = len(values) // size
    means: Array = values[len(values) - count * size :].reshape(count, size).mean(axis=1)
    return means


def long_run_variance(deviations: Array, lost: int) -> float:
    """n times the variance of a mean of n, for noise of first-order autocorrelation.

    The correlation of short series is estimated too low; it is corrected as by Kendall (Biometrika 41, 1954).
    """
    squares = float((deviations**2).sum())
    if squares == 0:
        return 0.0
    found = float((deviations[1:] * deviations[:-1]).sum()) / squares
    correlation = min(max(found + (1 + 4 * found) / len(deviations), 0.0), 0.9)
    return squares / (len(deviations) - lost) * (1 + correlation) / (1 - correlation)
