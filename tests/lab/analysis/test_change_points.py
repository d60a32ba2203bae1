"""Changes in a series of runs are found where they are, and seldom where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from mydyno.lab.analysis.trend import SIGNIFICANCE, SMALLEST_SERIES, change_points


def test_a_step_is_found_where_it_is() -> None:
    random = np.random.default_rng(1)
    series = [*random.normal(0, 0.01, 12), *random.normal(-0.05, 0.01, 8)]
    (found,) = change_points(series)
    assert found.index == 12
    assert found.p_value <= SIGNIFICANCE


def test_a_step_down_and_up_again_are_two_changes() -> None:
    random = np.random.default_rng(2)
    series = [*random.normal(0, 0.01, 10), *random.normal(-0.1, 0.01, 8), *random.normal(0, 0.01, 9)]
    assert [found.index for found in change_points(series)] == [10, 18]


def test_one_run_that_stands_out_is_no_change() -> None:
    random = np.random.default_rng(3)
    series = [*random.normal(0, 0.01, 9), 1.0, *random.normal(0, 0.01, 9)]
    assert change_points(series) == ()


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0, 3.0], [0.0] * 40, [*[0.0] * 2, *[1.0] * 3]])
def test_few_or_equal_values_have_no_change(values: list[float]) -> None:
    assert len(values) < SMALLEST_SERIES or np.ptp(values) == 0
    assert change_points(values) == ()


def test_in_series_without_a_change_one_is_found_no_more_often_than_allowed() -> None:
    random = np.random.default_rng(4)
    series = random.standard_t(4, size=(120, 12))
    false_alarms = sum(bool(change_points(row)) for row in series)
    # 5% of 120 is 6; 12 or more of them happen once in 60 when the rate is as it should be.
    assert false_alarms < 13
