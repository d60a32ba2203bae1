"""Subspaces: what a set of columns spans, and what it adds to another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]

_TINY = 1e-8
"""Relative length below which a direction is dropped: columns are indicators, whose angles are coarse."""


def indicators(codes: Codes) -> Numbers:
    """A column of 0 and 1 for each code that occurs."""
    return np.asarray(codes[:, None] == np.unique(codes)[None, :], dtype=np.float64)


def grouped(*codes: Codes) -> Codes:
    """One code for each combination of codes that occurs."""
    return np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def basis(columns: Numbers) -> Numbers:
    """Orthonormal columns that span the same space; none where all are 0."""
    return beyond(columns, np.empty((columns.shape[0], 0)))


def beyond(columns: Numbers, known: Numbers) -> Numbers:
    """Orthonormal columns for what `columns` add to the space of the orthonormal columns `known`."""
    scale = np.linalg.norm(columns)
    if columns.size == 0 or scale == 0:
        return np.empty((columns.shape[0], 0))
    rest = columns - known @ (known.T @ columns)
    rest -= known @ (known.T @ rest)  # once more: rounding of the first projection
    left, lengths, _ = np.linalg.svd(rest, full_matrices=False)
    return np.asarray(left[:, lengths > _TINY * scale])


def extended(known: Numbers, columns: Numbers) -> Numbers:
    """The orthonormal columns `known` and what `columns` add to them."""
    return np.hstack([known, beyond(columns, known)])


def squared_length(columns: Numbers, values: Numbers) -> float:
    """Of the part of `values` (one column or several) that lies in the space of orthonormal `columns`."""
    return float(np.sum((columns.T @ values) ** 2))
