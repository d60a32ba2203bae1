"""Where a series of runs changed: E-divisive, a nonparametric search for changes of distribution.

Matteson and James, A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data, JASA
109, 2014; used on performance tests of a database by Daly et al., The Use of Change Point Detection to
Identify Software Performance Regressions in a Continuous Integration System, ICPE 2020.

The energy distance between the values before and after a place measures how much they differ; the largest one
of all places is compared with those of the same values in random order. If at most 5% of the orders reach it,
the series is cut there and each side is searched in turn.

One value is one run (the mean logarithm of its trials), never one trial: trials of a run share its machine
and its hour, and would make every run look like a change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

SIGNIFICANCE = 0.05
SMALLEST_SEGMENT = 2
"""Runs on each side of a change: one run alone is an outlier until another one agrees."""
SMALLEST_SERIES = 6
"""With fewer runs even the most extreme order of them is reached by more than one order in twenty."""
_ORDERS = 999
_SEED = 12_041_993
_TABLE = 1_000_000
"""Numbers in the tables of one batch of orders."""


@dataclass(frozen=True)
class ChangePoint:
    """The series is another one from the value `index` on."""

    index: int
    p_value: float
    """Of the orders of the values, its own included, the share that shows as large a difference."""


def change_points(values: Sequence[float]) -> tuple[ChangePoint, ...]:
    """Where the series changed, ascending. The values are finite and in order of time; fewer than six have no
    change."""
    series = np.asarray(values, dtype=np.float64)
    random = np.random.default_rng(_SEED)
    return tuple(sorted(_search(series, 0, random), key=lambda found: found.index))


def _search(series: Numbers, start: int, random: np.random.Generator) -> list[ChangePoint]:
    if len(series) < SMALLEST_SERIES or np.ptp(series) == 0:
        return []
    (best,), (place,) = _largest(series[None, :])
    reached = 0
    # So many orders at a time that their tables stay small.
    batch = max(1, _TABLE // len(series) ** 2)
    for done in range(0, _ORDERS, batch):
        orders = random.permuted(np.tile(series, (min(batch, _ORDERS - done), 1)), axis=1)
        reached += int((_largest(orders)[0] >= best * (1 - 1e-12)).sum())
    p_value = (reached + 1) / (_ORDERS + 1)
    if p_value > SIGNIFICANCE:
        return []
    cut = int(place)
    return [
        *_search(series[:cut], start, random),
        ChangePoint(start + cut, p_value),
        *_search(series[cut:], start + cut, random),
    ]


def _largest(series: Numbers) -> tuple[Numbers, NDArray[np.int64]]:
    """For each row of `series` the largest energy statistic of all places to cut, and that place.

    What comes before a place is compared with what follows up to any later one, as the paper has it, so that
    a stretch that differs from both of its neighbours is seen.
    """
    size = series.shape[1]
    distance = np.abs(series[:, :, None] - series[:, None, :])
    table = distance.cumsum(axis=1).cumsum(axis=2)
    least = SMALLEST_SEGMENT
    cuts, ends = np.array(
        [(cut, end) for cut in range(least, size - least + 1) for end in range(cut + least, size + 1)]
    ).T
    before = table[:, cuts - 1, cuts - 1]
    between = table[:, cuts - 1, ends - 1] - before
    after = table[:, ends - 1, ends - 1] - before - 2 * between
    others = ends - cuts
    energy = 2 * between / (cuts * others) - before / cuts**2 - after / others**2
    statistic = energy * cuts * others / ends
    best = statistic.argmax(axis=1)
    return statistic[np.arange(len(series)), best], cuts[best]
