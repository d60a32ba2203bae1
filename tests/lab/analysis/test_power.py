"""What n trials can see, held against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mydyno.lab.analysis.precision import smallest_difference, trials_needed, trials_to_exclude


def seen(difference: float, spread: float, n: int, paired: bool) -> float:
    """The share of simulated experiments in which Student's t test shows the difference."""
    random = np.random.default_rng([7, n])
    if paired:
        logs = math.log1p(difference) + spread * random.standard_normal((20_000, n))
        found = stats.ttest_1samp(logs, 0, axis=1)
    else:
        left, right = spread / math.sqrt(2) * random.standard_normal((2, 20_000, n))
        found = stats.ttest_ind(left + math.log1p(difference), right, axis=1)
    return float(np.mean(found.pvalue <= 0.05))


@pytest.mark.parametrize("n", [3, 5, 12])
@pytest.mark.parametrize("paired", [True, False])
def test_the_smallest_difference_is_seen_in_four_of_five_experiments(n: int, paired: bool) -> None:
    difference = smallest_difference(0.04, n, paired)
    assert difference is not None
    assert seen(difference, 0.04, n, paired) == pytest.approx(0.8, abs=0.012)


def test_fewer_than_three_trials_see_nothing_and_none_is_no_number() -> None:
    assert smallest_difference(0.04, 2, paired=True) is None
    assert smallest_difference(50.0, 3, paired=True) is None


def test_without_any_spread_three_trials_see_everything() -> None:
    assert smallest_difference(0.0, 3, paired=True) == 0
    assert trials_needed(0.01, 0.0, paired=True) == 3
    assert trials_to_exclude(0.01, 0.03, 0.0, paired=True) == 3


@pytest.mark.parametrize("spread", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("paired", [True, False])
def test_trials_needed_is_the_inverse(spread: float, paired: bool) -> None:
    for n in (3, 4, 9, 30):
        difference = smallest_difference(spread, n, paired)
        assert difference is not None
        assert trials_needed(difference * 1.0001, spread, paired) == n
        assert trials_needed(difference * 0.99, spread, paired) == n + 1 or n > 9


def test_a_slower_point_needs_as_many_trials_as_one_that_is_faster_by_the_inverse() -> None:
    assert trials_needed(1 / 1.1 - 1, 0.05, paired=True) == trials_needed(0.1, 0.05, paired=True)


def test_no_number_of_trials_shows_that_nothing_differs() -> None:
    assert trials_needed(0.0, 0.05, paired=True) is None
    assert trials_needed(0.001, 0.5, paired=True) is None


def test_an_interval_comes_to_lie_within_the_margin_as_often_as_promised() -> None:
    n = trials_to_exclude(0.01, 0.03, 0.02, paired=True)
    assert n is not None
    random = np.random.default_rng(3)
    logs = math.log(1.01) + 0.02 * random.standard_normal((20_000, n))
    half = stats.t.isf(0.025, n - 1) * logs.std(axis=1, ddof=1) / math.sqrt(n)
    within = np.abs(logs.mean(axis=1)) + half <= math.log(1.03)
    assert 0.79 <= float(within.mean()) <= 0.84


def test_a_difference_as_large_as_the_margin_is_never_excluded() -> None:
    assert trials_to_exclude(0.03, 0.03, 0.01, paired=True) is None
