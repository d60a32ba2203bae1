"""Gaussian process regression of few, noisy measurements, and how much a point may improve on them. Pure.

The kernel is Matérn's with nu = 5/2, the prior's mean that of the measurements. Length scale and noise are
those of a grid with the largest marginal likelihood: with twenty measurements an optimizer finds no more
(Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, chapters 2, 4.2 and 5.4).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import ndtr

Array = NDArray[np.float64]

_LENGTHS = (0.5, 1.0, 2.0, 4.0)
"""Of coordinates from 0 to 1."""
_NOISES = (0.03, 0.1, 0.3, 1.0, 3.0)
"""Variance of the noise over that of the function."""
_LEAST = 1e-9


@dataclass(frozen=True)
class Process:
    """What `points` (a row each) with the `values` say of all others. Values have mean 0."""

    points: Array
    values: Array
    length: float
    noise: float

    @cached_property
    def _factor(self) -> tuple[Array, bool]:
        covariance = _kernel(self.points, self.points, self.length) + self.noise * np.eye(len(self.points))
        factor: tuple[Array, bool] = cho_factor(covariance, lower=True)
        return factor

    @cached_property
    def _weights(self) -> Array:
        weights: Array = cho_solve(self._factor, self.values)
        return weights

    @cached_property
    def _variance(self) -> float:
        """Of the function: the most likely one for this length scale and noise."""
        return max(float(self.values @ self._weights) / len(self.values), _LEAST)

    @cached_property
    def likelihood(self) -> float:
        """Logarithm of the marginal likelihood, but for a constant."""
        logs = np.log(np.diag(self._factor[0]))
        return -0.5 * len(self.values) * math.log(self._variance) - float(logs.sum())

    def mean(self, points: Array) -> Array:
        """Of the function, without noise."""
        expected: Array = _kernel(points, self.points, self.length) @ self._weights
        return expected

    def improvement(self, points: Array) -> Array:
        """How much each of `points` is expected to exceed the best mean at a measured point: with noise the
        best measurement itself is mostly luck (Jones, Schonlau and Welch, *Efficient Global Optimization of
        Expensive Black-Box Functions*, 1998)."""
        across = _kernel(points, self.points, self.length)
        known = (across * cho_solve(self._factor, across.T).T).sum(axis=1)
        deviation = np.sqrt(self._variance * np.maximum(1 - known, _LEAST))
        excess = self.mean(points) - self.mean(self.points).max()
        ratio = excess / deviation
        density = np.exp(-ratio * ratio / 2) / math.sqrt(2 * math.pi)
        expected: Array = excess * ndtr(ratio) + deviation * density
        return expected

    def believing(self, point: Array) -> Process:
        """With `point` as if it were measured as expected, so that the next one is chosen elsewhere
        (Ginsbourger, Le Riche and Carraro, *Kriging Is Well-Suited to Parallelize Optimization*, 2010)."""
        points = np.vstack([self.points, point])
        values = np.append(self.values, self.mean(point[None, :]))
        return Process(points, values, self.length, self.noise)


def fitted(points: Array, values: Array) -> Process:
    """The process with the length scale and the noise under which `values`, of mean 0, are most likely."""
    grid = itertools.product(_LENGTHS, _NOISES)
    return max((Process(points, values, *each) for each in grid), key=lambda each: each.likelihood)


def _kernel(one: Array, other: Array, length: float) -> Array:
    squares = ((one[:, None, :] - other[None, :, :]) ** 2).sum(axis=-1)
    scaled = np.sqrt(5 * squares) / length
    kernel: Array = (1 + scaled + scaled * scaled / 3) * np.exp(-scaled)
    return kernel
