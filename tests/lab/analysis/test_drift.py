"""False alarms of the drift test, its power, and what it makes of odd series."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lab.analysis.series import noise, time
from mydyno.lab.analysis.drift import LEVEL, _statistic, _variance, drift, drift_over_points

TIMES = 400


@pytest.mark.parametrize("count", [60, 300])
@pytest.mark.parametrize(
    ("correlation", "heavy", "most"),
    [(0.0, False, 0.02), (0.0, True, 0.02), (0.3, False, 0.025), (0.6, False, 0.045), (0.8, False, 0.07)],
)
def test_steady_phases_seldom_drift_even_where_neighbours_are_alike(
    count: int, correlation: float, heavy: bool, most: float
) -> None:
    rng = np.random.default_rng(5)
    series = [list(noise(rng, count, correlation=correlation, heavy=heavy)) for _ in range(TIMES)]
    alarms = [found.p_value <= LEVEL for one in series if (found := drift(one)) is not None]
    assert len(alarms) == TIMES
    assert sum(alarms) <= most * TIMES


def test_small_noise_hardly_makes_an_alarm_since_a_drift_must_matter() -> None:
    rng = np.random.default_rng(5)
    series = [list(noise(rng, 120, spread=0.02, correlation=0.8)) for _ in range(TIMES)]
    assert sum(found.found for one in series if (found := drift(one)) is not None) <= 0.01 * TIMES


@pytest.mark.parametrize("change", [-0.3, 0.2])
def test_a_drift_is_found_with_its_size(change: float) -> None:
    rng = np.random.default_rng(5)
    found = [
        drift(list(noise(rng, 120, spread=0.05, correlation=0.3) * (1 + change) ** time(120)))
        for _ in range(100)
    ]
    assert sum(one is not None and one.found for one in found) > 95
    changes = [one.change for one in found if one is not None]
    assert float(np.mean(changes)) == pytest.approx(change, rel=0.15)


def test_the_statistic_is_kendalls() -> None:
    values = np.random.default_rng(5).permutation(20).astype(float)
    score = 2 * stats.norm.sf((abs(_statistic(values)) - 1) / _variance(values) ** 0.5)
    assert score == pytest.approx(stats.kendalltau(range(20), values, method="asymptotic").pvalue, abs=0.06)
    tau = stats.kendalltau(range(20), values).statistic
    assert _statistic(values) == pytest.approx(tau * 190)


def test_a_run_that_grows_slower_is_seen_across_points_of_different_speed() -> None:
    slower = [
        [(float(at), speed * 0.99**at) for at in range(offset, 24, 3)]
        for offset, speed in enumerate((1000.0, 4000.0, 100.0))
    ]
    found = drift_over_points(slower)
    assert found is not None
    assert found.found
    assert found.change == pytest.approx(0.99**23 - 1, rel=0.01)


def test_points_of_different_speed_alone_are_no_drift() -> None:
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(300):
        order = rng.permutation(20)
        points = [
            [
                (float(at), speed * float(np.exp(0.1 * rng.standard_normal())))
                for at in order[start : start + 5]
            ]
            for start, speed in ((0, 100.0), (5, 200.0), (10, 400.0), (15, 800.0))
        ]
        found = drift_over_points(points)
        assert found is not None
        alarms += found.p_value <= LEVEL
    assert alarms <= 0.02 * 300


@pytest.mark.parametrize(
    "rates", [[], [1000.0], [1000.0] * 20, [0.0] * 100, [*[1.0] * 99, None], [*[1.0] * 99, float("nan")]]
)
def test_too_few_missing_or_no_rates_are_not_judged(rates: list[float | None]) -> None:
    assert drift(rates) is None


def test_constant_rates_do_not_drift() -> None:
    found = drift([1000.0] * 100)
    assert found is not None
    assert (found.change, found.p_value) == (0.0, 1.0)


@pytest.mark.parametrize("points", [[], [[]], [[(0.0, 1.0)]] * 9, [[(0.0, 1.0), (1.0, 2.0)]]])
def test_too_few_trials_are_not_judged(points: list[list[tuple[float, float]]]) -> None:
    assert drift_over_points(points) is None


def test_trials_that_are_all_at_one_place_of_the_run_are_not_judged() -> None:
    assert drift_over_points([[(1.0, value) for value in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)]]) is None
