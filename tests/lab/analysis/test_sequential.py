"""Looking again and again: the level that keeps the promise of the last look."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mydyno.lab.analysis.sequential import looks, nominal_level, simulated


def test_a_single_look_needs_no_correction() -> None:
    assert nominal_level(5, 5) == 0.95
    assert nominal_level(5, 5, level=0.9) == 0.9


def test_more_looks_ask_for_a_higher_level() -> None:
    levels = [nominal_level(3, at_most) for at_most in range(3, 31)]
    assert levels == sorted(set(levels))
    assert 0.95 < levels[1] < levels[-1] < 1 - 0.05 / looks(3, 30)  # Bonferroni's would be a waste


@pytest.mark.parametrize(("first_look", "at_most"), [(3, 5), (3, 20), (5, 20), (8, 12)])
def test_the_table_in_the_file_is_what_the_simulation_says(first_look: int, at_most: int) -> None:
    nominal_level_of_paths = simulated(first_look, at_most, paths=60_000)
    assert nominal_level(first_look, at_most) == pytest.approx(nominal_level_of_paths, abs=0.0012)


def test_what_is_not_in_the_table_is_simulated_the_same_each_time() -> None:
    assert nominal_level(7, 9) == nominal_level(7, 9)
    assert 0.95 < nominal_level(7, 9) < nominal_level(7, 12) < 1


@pytest.mark.parametrize(("first_look", "at_most"), [(2, 5), (4, 3)])
def test_looks_that_cannot_be_are_refused(first_look: int, at_most: int) -> None:
    with pytest.raises(ValueError, match="looks from"):
        nominal_level(first_look, at_most)


@pytest.mark.parametrize("width", [0.3, 0.5, 1.0, 2.0])
def test_the_interval_at_which_a_run_stops_for_being_short_holds_the_truth(width: float) -> None:
    """Chow and Robbins: an uncorrected interval that is short by luck covers too seldom."""
    first, last, paths = 3, 20, 20_000
    values = np.random.default_rng(1965).standard_normal((paths, last))

    def coverage(level: float) -> float:
        held = np.zeros(paths, dtype=bool)
        going = np.ones(paths, dtype=bool)
        for n in range(first, last + 1):
            seen = values[:, :n]
            half = stats.t.isf((1 - level) / 2, n - 1) * seen.std(axis=1, ddof=1) / math.sqrt(n)
            stops = going & ((half <= width) | (n == last))
            held[stops] = np.abs(seen.mean(axis=1))[stops] <= half[stops]
            going &= ~stops
        return float(held.mean())

    assert coverage(nominal_level(first, last)) >= 0.947
    if width == 0.5:
        assert coverage(0.95) < 0.93
