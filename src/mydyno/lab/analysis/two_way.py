"""A robust fit of a table by rows and columns: value = row effect + column effect + noise. Pure.

Tukey's bisquare, started from Huber's estimate, which starts from a median polish, with the scale from the
median absolute deviation (Huber and Ronchetti, *Robust Statistics*, 2nd edition 2009, chapter 7; Tukey,
*Exploratory Data Analysis*, 1977). For normal noise it has 95% of the precision of least squares; a value
far from what its row and its column say has no influence at all.

The error comes from the influence of each row: rows follow each other in time, so it allows for noise that
neighbouring rows share (first order).
"""

from dataclasses import dataclass

import numpy as np

from mydyno.lab.analysis.steady import Array, long_run_variance

_BISQUARE = 4.685
_HUBER = 1.345
"""In units of the scale: 95% of the precision of least squares for normal noise."""
_MAD = 1.4826
"""The standard deviation of normal noise over its median absolute deviation."""
_ITERATIONS = 50
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class TwoWay:
    """Arrays are as large as the table; what is missing there, and rows of one value, are NaN, with a weight
    of 0."""

    columns: Array
    """Effect of each column; their mean is 0."""
    weights: Array
    """Of each value, 0 to 1."""
    residuals: Array
    influence: Array
    """What each row adds to the error of each column's effect."""

    def error(self, contrast: Array) -> float:
        """The standard error of a weighted sum of the columns' effects (weights whose sum is 0)."""
        rows = np.isfinite(self.residuals).any(axis=1)
        shares = (self.influence @ contrast)[rows]
        count = len(shares)
        if count < 2:
            return float("inf")
        variance = long_run_variance(count * shares, lost=1)
        return float((variance / count) ** 0.5)


def two_way(table: Array, least_scale: float = 0.0) -> TwoWay:
    """Fits `table` (NaN: missing); some row needs two values. `least_scale`: noise is not taken for less."""
    known = np.isfinite(table)
    # A row of one value says nothing of any column.
    known &= known.sum(axis=1, keepdims=True) > 1
    values = np.where(known, table, 0.0)
    residuals = _polished(np.where(known, table, np.nan))
    scale = 0.0
    for _ in range(_ITERATIONS):
        scale, before = max(_scale(residuals, known), least_scale), residuals
        residuals = _residuals(values, known, _huber(_units(residuals, scale)))
        if np.abs(residuals - before).max(where=known, initial=0.0) <= _TOLERANCE:
            break
    for _ in range(_ITERATIONS):
        before = residuals
        residuals = _residuals(values, known, _bisquare(_units(residuals, scale)))
        if np.abs(residuals - before).max(where=known, initial=0.0) <= _TOLERANCE:
            break
    units = _units(residuals, scale)
    weights = np.where(known, _bisquare(units), 0.0)
    columns, normal = _solved(values, weights)
    slope = np.where(known, _slope(units), 0.0).sum() / weights.sum()
    scores = weights * np.where(known, residuals, 0.0)
    influence = scores @ np.linalg.pinv(normal, hermitian=True) / max(float(slope), 0.1)
    return TwoWay(columns, weights, np.where(known, residuals, np.nan), influence)


def _units(residuals: Array, scale: float) -> Array:
    return np.zeros_like(residuals) if scale == 0 else residuals / scale


def _huber(units: Array) -> Array:
    weights: Array = np.minimum(1.0, _HUBER / np.maximum(np.abs(units), _HUBER))
    return weights


def _bisquare(units: Array) -> Array:
    weights: Array = np.maximum(0.0, 1 - (units / _BISQUARE) ** 2) ** 2
    return weights


def _slope(units: Array) -> Array:
    """Derivative of weight times residual."""
    share = (units / _BISQUARE) ** 2
    slopes: Array = np.where(share < 1, (1 - share) * (1 - 5 * share), 0.0)
    return slopes


def _scale(residuals: Array, known: Array) -> float:
    return _MAD * float(np.median(np.abs(residuals[known])))


def _polished(table: Array) -> Array:
    """The residuals of a median polish; 0 where a value is missing."""
    residuals = table.copy()
    with np.errstate(all="ignore"):
        for _ in range(5):
            for axis in (1, 0):
                shift = _medians(residuals, axis)
                residuals = residuals - shift
    return np.nan_to_num(residuals)


def _medians(table: Array, axis: int) -> Array:
    """The medians along an axis, missing values left out; 0 where all are missing."""
    present = np.isfinite(table)
    some = present.any(axis=axis, keepdims=True)
    medians: Array = np.nanmedian(np.where(some, table, 0.0), axis=axis, keepdims=True)
    return medians


def _residuals(values: Array, known: Array, weights: Array) -> Array:
    """Of the weighted least squares fit; 0 where a value is missing."""
    weights = np.where(known, weights, 0.0)
    columns, _ = _solved(values, weights)
    # A row is put where its own weights have it; one of which nothing is left, at its plain mean.
    shares = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, known)
    totals = shares.sum(axis=1, keepdims=True)
    free = values - columns
    rows = (shares * free).sum(axis=1, keepdims=True) / np.maximum(totals, 1e-300)
    residuals: Array = np.where(known, free - rows, 0.0)
    return residuals


def _solved(values: Array, weights: Array) -> tuple[Array, Array]:
    """The columns' effects by weighted least squares, and the matrix of their normal equations, rows
    eliminated."""
    totals = weights.sum(axis=1, keepdims=True)
    shares = np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
    centred = values - (shares * values).sum(axis=1, keepdims=True)
    normal = np.diag(weights.sum(axis=0)) - weights.T @ shares
    effects = np.linalg.pinv(normal, hermitian=True) @ (weights * centred).sum(axis=0)
    return effects - effects.mean(), normal
