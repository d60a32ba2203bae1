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
    """The values as an array; None when one of them is missing or is no finite number."""
    if any(value is None or not math.isfinite(value) for value in values):
        return None
    return np.array(values, dtype=np.float64)


def batched(values: Array, size: int) -> Array:
    """The means of `size` neighbours each, counted from the end; the start may be left over."""
    count = len(values) // size
    means: Array = values[len(values) - count * size :].reshape(count, size).mean(axis=1)
    return means
