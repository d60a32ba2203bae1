"""Interval rates with known truth in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rates = NDArray[np.float64]


def noise(
    rng: np.random.Generator,
    count: int,
    *,
    spread: float = 0.1,
    correlation: float = 0.0,
    heavy: bool = False,
) -> Rates:
    """Rates round 1000 whose neighbours are correlated so (first order); `heavy`: Student's t, 3 df."""
    lead = 50
    shocks = rng.standard_t(3, count + lead) / 3**0.5 if heavy else rng.standard_normal(count + lead)
    values = np.empty(count + lead)
    values[0] = shocks[0]
    for index in range(1, count + lead):
        values[index] = correlation * values[index - 1] + (1 - correlation**2) ** 0.5 * shocks[index]
    return np.maximum(1000 * (1 + spread * values[lead:]), 0.0)


def time(count: int) -> Rates:
    """From 0 to 1 over a phase."""
    return np.linspace(0, 1, count)
