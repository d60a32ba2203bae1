"""The fitted law of scalability: known truths are found again, and nothing is claimed of what has no peak."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.builders import FEW, LEFT, measured
from mydyno.lab.analysis.metrics import LATENCY_P95
from mydyno.lab.analysis.optimum import optimum
from mydyno.lab.analysis.scalability import Law, Scalability, scalability

LOADS = (10, 50, 100, 150, 200, 250, 300, 400)


def law(peak: float, contention: float = 0.05) -> Law:
    return Law(1000.0, contention, (1 - contention) / peak**2)


def trials(
    curve: Callable[[float], float],
    *,
    n: int = 4,
    noise: float = 0.02,
    seed: int = 1,
    loads: Sequence[int] = LOADS,
) -> list[list[float]]:
    """Each trial has a level of its own and errors that follow each other, as real ones have."""
    random = np.random.default_rng(seed)
    errors = random.normal(0, noise, (n, len(loads)))
    for place in range(1, len(loads)):
        errors[:, place] = 0.5 * errors[:, place - 1] + 0.87 * errors[:, place]
    logs = np.log([curve(load) for load in loads]) + random.normal(0, noise, (n, 1)) + errors
    found: list[list[float]] = np.exp(logs).tolist()
    return found


def fitted(*args: object, **options: object) -> Scalability:
    loads = options.get("loads", LOADS)
    found = scalability(loads, trials(*args, **options))  # type: ignore[arg-type]
    assert found is not None
    return found


def test_the_peak_of_a_known_law_is_found_with_its_interval() -> None:
    found = fitted(law(62).at)
    assert found.outcome == "optimum"
    assert found.optimum == pytest.approx(62, rel=0.1)
    assert found.low is not None
    assert found.high is not None
    assert 40 < found.low < 62 < found.high < 90
    assert found.peak_interval is not None
    assert found.peak_interval.contains(law(62).at(62))


def test_without_noise_the_parameters_come_back() -> None:
    found = scalability(LOADS, [[law(62).at(load) for load in LOADS]] * 3)
    assert found is not None
    assert found.law.contention == pytest.approx(0.05)
    assert found.law.coherency == pytest.approx(0.95 / 62**2)
    assert found.law.one == pytest.approx(1000)
    assert (found.low, found.high) == (pytest.approx(62), pytest.approx(62))


@pytest.mark.parametrize(
    ("curve", "outcome"),
    [
        (lambda load: 100.0 * load, "rising"),
        (lambda load: 1000 * load / (1 + 0.02 * (load - 1)), "rising"),
        (lambda load: 5000.0, "level"),
        (lambda load: 5000.0 / load, "falling"),
        (lambda load: law(4, 0.3).at(load), "falling"),
        (lambda load: law(2000).at(load), "rising"),
        (lambda load: 100.0 if load % 100 else 1.0, "misfit"),
    ],
)
def test_a_curve_without_a_peak_among_the_loads_has_no_optimum(
    curve: Callable[[float], float], outcome: str
) -> None:
    for noise in (0.0, 0.002):
        assert fitted(curve, noise=noise).outcome == outcome


def test_a_peak_that_noise_could_have_made_is_left_open() -> None:
    """Throughput that has come to its limit and stays there, seen through much noise."""
    outcomes = [
        fitted(lambda load: 1000 * load / (1 + 0.3 * load), noise=0.08, seed=seed).outcome
        for seed in range(40)
    ]
    assert outcomes.count("optimum") <= 4
    assert "open" in outcomes


def test_where_nothing_rules_out_that_it_goes_on_rising_the_interval_has_no_upper_end() -> None:
    found = fitted(lambda load: 100.0 * load)
    assert found.high == math.inf
    assert found.peak_interval is None


def test_fewer_than_three_trials_have_an_optimum_and_no_interval() -> None:
    for n in (1, 2):
        found = fitted(law(62).at, n=n)
        assert found.optimum == pytest.approx(62, rel=0.2)
        assert (found.low, found.high, found.peak_interval) == (None, None, None)
    assert fitted(law(62).at, n=1).misfit_p is None


def test_three_loads_are_met_by_any_law_of_three_parameters_so_none_is_fitted() -> None:
    assert scalability((1, 10, 100), [[1.0, 2.0, 3.0]] * 4) is None
    assert scalability(LOADS, []) is None


def test_a_law_that_fits_is_given_up_about_as_rarely_as_it_says() -> None:
    misfits = sum(fitted(law(62).at, seed=seed).outcome == "misfit" for seed in range(60))
    assert misfits <= 4


@FEW
@given(
    st.lists(st.lists(st.floats(1e-6, 1e9), min_size=5, max_size=5), min_size=1, max_size=4),
)
def test_whatever_was_measured_gives_finite_numbers_that_fit_together(rates: list[list[float]]) -> None:
    found = scalability((1, 8, 64, 128, 400), rates)
    assert found is not None
    assert found.law.one > 0
    assert 0 <= found.law.contention <= 1
    assert found.law.coherency >= 0
    assert found.misfit_p is None or 0 <= found.misfit_p <= 1
    if found.low is not None and found.high is not None:
        assert 1 <= found.low <= found.high
    if found.outcome in ("optimum", "open"):
        assert 1 < found.optimum < 400


@FEW
@given(st.floats(0.001, 1000), st.permutations(range(4)))
def test_neither_the_unit_nor_the_order_of_trials_moves_the_optimum(unit: float, order: list[int]) -> None:
    rates = trials(law(62).at)
    one = scalability(LOADS, rates)
    other = scalability(LOADS, [[unit * rate for rate in rates[place]] for place in order])
    assert one is not None
    assert other is not None
    assert other.optimum == pytest.approx(one.optimum, rel=1e-4)
    assert other.low == pytest.approx(one.low, rel=1e-3)
    assert other.high == pytest.approx(one.high, rel=1e-3)


def test_the_optimum_of_a_point_joins_the_best_measured_and_the_law() -> None:
    rates = trials(law(62).at)
    runs = [
        measured(LEFT, block, dict(zip(LOADS, values, strict=True))) for block, values in enumerate(rates)
    ]
    found = optimum(runs, LEFT.point_id)
    assert found is not None
    assert found.best.place == 50
    assert found.loads == LOADS
    assert found.law == scalability(LOADS, rates)
    assert optimum(runs, LEFT.point_id, LATENCY_P95).law is None  # type: ignore[union-attr]


def test_a_load_that_some_trial_lacks_is_left_out_of_the_law() -> None:
    rates = trials(law(62).at)
    curves: list[dict[int, float | None]] = [dict(zip(LOADS, values, strict=True)) for values in rates]
    curves[0][10] = 0.0
    curves[1][400] = None
    found = optimum([measured(LEFT, block, curve) for block, curve in enumerate(curves)], LEFT.point_id)
    assert found is not None
    assert found.loads == LOADS[1:-1]


def test_under_a_given_rate_there_is_no_law() -> None:
    rates = trials(law(62).at)
    runs = [
        measured(LEFT, block, dict(zip(LOADS, values, strict=True))) for block, values in enumerate(rates)
    ]
    given_rate = [
        replace(run, phases=tuple(replace(phase, latency_kind="response") for phase in run.phases))
        for run in runs
    ]
    found = optimum(given_rate, LEFT.point_id)
    assert found is not None
    assert found.law is None


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 5])
@pytest.mark.parametrize(
    ("loads", "peak", "contention"),
    [
        (LOADS, 30, 0.3),
        (LOADS, 62, 0.02),
        (LOADS, 150, 0.3),
        ((1, 5, 10, 15, 20, 30, 100), 62, 0.3),
        ((1, 8, 64, 400), 62, 0.05),
    ],
)
def test_the_intervals_cover_the_truth_at_their_nominal_rate(
    n: int, loads: tuple[int, ...], peak: float, contention: float
) -> None:
    """400 experiments: 95% give or take two and a half of their standard errors."""
    truth, runs = law(peak, contention), 400
    found = [fitted(truth.at, n=n, seed=seed, loads=loads) for seed in range(runs)]
    held = sum(one.low <= peak <= one.high for one in found if one.low is not None and one.high is not None)
    assert 0.923 <= held / runs <= 0.977
    peaks = [one.peak_interval.contains(truth.at(peak)) for one in found if one.peak_interval is not None]
    assert 0.92 <= sum(peaks) / len(peaks) <= 0.98
