"""Verdicts on experiments in slices of which the truth is known: false alarms and coverage stay nominal."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lab.analysis.slice_study import (
    MACHINES,
    Starts,
    blocked_spread,
    over_starts,
    rates,
    simulate,
    two_levels,
)
from lab.analysis.truth_study import too_many


def spread(made: Starts) -> float:
    return math.sqrt(float(np.mean(made.logs**2)))


def test_a_part_of_the_study_of_slices_holds_each_time() -> None:
    made = simulate(MACHINES["all of it"], 40, seed=21, rounds=40)
    found = rates(made, 5, 200, seed=22)
    assert not too_many(found.alarms, found.experiments)
    assert not too_many(1 - found.covered, found.experiments)


def test_slices_are_more_accurate_than_blocks_of_the_same_length_where_a_neighbour_comes_and_goes() -> None:
    machine = MACHINES["neighbour for 20 s at a time"]
    assert blocked_spread(machine, 40) > 3 * spread(simulate(machine, 40))


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_false_alarms_and_coverage_of_slices_are_nominal(name: str) -> None:
    made = simulate(MACHINES[name], 300, seed=23)
    for starts in (3, 5, 10):
        found = rates(made, starts, 2_000, seed=24)
        assert not too_many(found.alarms, found.experiments)
        assert 0.93 <= found.covered <= 0.97


@pytest.mark.slow
def test_two_levels_would_be_narrower_and_too_sure_where_starts_differ() -> None:
    made = simulate(MACHINES["starts differ by 2%"], 300, seed=25)
    ours, both = (rates(made, 3, 2_000, method) for method in (over_starts, two_levels))
    assert both.width < 0.8 * ours.width
    assert both.covered < 0.90 < ours.covered
