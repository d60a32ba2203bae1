"""The intervals hold the truth as often as they say, at the sizes that benchmarks have."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.builders import FEW
from lab.analysis.coverage_study import (
    NOISES,
    bca,
    bootstrap_t,
    coverage,
    difference_coverage,
    ours,
    percentile,
)
from mydyno.lab.analysis.bootstrap import Estimate, difference_estimate, mean_estimate

MODERATE = ("normal", "heavy tails (t, 5 df)")
values = st.floats(-1e3, 1e3).map(lambda value: round(value, 6))
samples = st.lists(values, min_size=3, max_size=8).filter(lambda values: len(set(values)) > 1)


@pytest.mark.parametrize("noise", MODERATE)
@pytest.mark.parametrize("n", [3, 4, 5, 8, 20])
def test_a_95_percent_interval_of_a_mean_holds_the_truth_in_93_to_97_percent(noise: str, n: int) -> None:
    # 800 samples leave a standard error of 0.8 points: the band is widened by one and a half of them.
    assert 0.918 <= coverage(ours, NOISES[noise], n, 800) <= 0.982


@pytest.mark.slow
@pytest.mark.parametrize("noise", MODERATE)
@pytest.mark.parametrize("n", [3, 4, 5, 8, 20])
def test_the_same_without_allowance_for_chance(noise: str, n: int) -> None:
    assert 0.93 <= coverage(ours, NOISES[noise], n, 8_000) <= 0.97


@pytest.mark.parametrize("noise", MODERATE)
@pytest.mark.parametrize(("sizes", "spreads"), [((3, 3), (1, 1)), ((5, 5), (1, 3)), ((5, 3), (1, 1))])
def test_the_interval_of_a_difference_holds_the_truth_too(
    noise: str, sizes: tuple[int, int], spreads: tuple[float, float]
) -> None:
    assert 0.918 <= difference_coverage(NOISES[noise], sizes, spreads, 800) <= 0.982


def test_the_usual_bootstraps_fail_at_three_values_which_is_why_they_are_not_used() -> None:
    assert coverage(percentile, NOISES["normal"], 3, 300) < 0.85
    assert coverage(bca, NOISES["normal"], 3, 300) < 0.85
    low, high = bootstrap_t(np.array([1.0, 2.0, 4.0]), np.random.default_rng(1))
    assert math.isinf(low) or math.isinf(high)


def test_a_true_null_is_rejected_in_about_one_of_twenty() -> None:
    noise = random.Random(3)
    rejected = 0
    for _ in range(600):
        found = mean_estimate([noise.gauss(0, 1) for _ in range(5)])
        rejected += found.p_value is not None and found.p_value <= 0.05
    assert 0.02 <= rejected / 600 <= 0.08


def test_a_narrower_promise_gives_a_narrower_interval() -> None:
    data = [1.0, 2.0, 4.0, 4.5]
    wide, narrow = mean_estimate(data).interval, mean_estimate(data, level=0.5).interval
    assert wide is not None
    assert narrow is not None
    assert wide.low < narrow.low < narrow.high < wide.high


@FEW
@given(samples)
def test_the_p_value_and_the_interval_never_contradict_each_other(data: list[float]) -> None:
    found = mean_estimate(data)
    assert found.interval is not None
    assert found.p_value is not None
    assert (found.p_value <= 0.05) == (not found.interval.contains(0))


@FEW
@given(samples, st.randoms())
def test_the_order_of_the_trials_cannot_change_a_result(data: list[float], mix: random.Random) -> None:
    other = list(data)
    mix.shuffle(other)
    assert mean_estimate(other) == mean_estimate(data)
    assert difference_estimate(other, [1.0, 2.0, 4.0]) == difference_estimate(data, [1.0, 2.0, 4.0])


@FEW
@given(samples, samples)
def test_swapping_the_groups_mirrors_the_result_exactly(left: list[float], right: list[float]) -> None:
    assert difference_estimate(right, left) == difference_estimate(left, right).mirrored()


@FEW
@given(samples)
def test_turning_every_sign_mirrors_the_result_exactly(data: list[float]) -> None:
    turned = mean_estimate([-value for value in data])
    if turned.value != 0:
        assert turned == mean_estimate(data).mirrored()


@FEW
@given(samples, st.floats(0.01, 100))
def test_another_unit_scales_the_interval(data: list[float], factor: float) -> None:
    found, scaled = mean_estimate(data), mean_estimate([value * factor for value in data])
    assert found.interval is not None
    assert scaled.interval is not None
    assert scaled.value == pytest.approx(found.value * factor, abs=1e-6)
    assert scaled.interval.low == pytest.approx(found.interval.low * factor, rel=1e-6, abs=1e-6)
    assert scaled.interval.high == pytest.approx(found.interval.high * factor, rel=1e-6, abs=1e-6)


def test_one_value_has_no_error_and_two_have_no_interval() -> None:
    assert mean_estimate([7.0]) == Estimate(7.0, None, None, None)
    assert mean_estimate([7.0, 9.0]) == Estimate(8.0, 1.0, None, None)
    assert difference_estimate([1.0, 2.0, 3.0], [1.0]) == Estimate(1.0, None, None, None)


@pytest.mark.parametrize("value", [0.0, 2.0, 0.1, -1e9])
def test_identical_values_claim_no_precision(value: float) -> None:
    found = mean_estimate([value] * 4)
    assert (found.value, found.interval, found.p_value) == (pytest.approx(value), None, None)
    same = difference_estimate([value] * 3, [value] * 3)
    assert (same.interval, same.p_value) == (None, None)


def test_one_group_without_spread_leaves_the_error_to_the_other() -> None:
    found = difference_estimate([5.0] * 3, [1.0, 2.0, 3.0])
    assert found.standard_error == pytest.approx(1 / math.sqrt(3))
    assert found.interval is not None
    assert found.interval.contains(3.0)


def test_no_values_are_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        mean_estimate([])
