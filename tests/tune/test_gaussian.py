"""Gaussian process regression, against its definition written out and against a known function."""

from __future__ import annotations

import numpy as np
import pytest

from mydyno.tune.gaussian import Array, Process, fitted

RNG = np.random.default_rng(1)
POINTS = RNG.random((12, 2))
OTHERS = RNG.random((40, 2))


def hill(points: Array) -> Array:
    """Its top is at (0.7, 0.3)."""
    values: Array = -((points[:, 0] - 0.7) ** 2) - (points[:, 1] - 0.3) ** 2
    return values


def standardized(values: Array) -> Array:
    made: Array = (values - values.mean()) / values.std()
    return made


def matern(one: Array, other: Array, length: float) -> float:
    """Rasmussen and Williams, equation 4.17."""
    r = float(np.linalg.norm(one - other))
    return float((1 + 5**0.5 * r / length + 5 * r * r / (3 * length**2)) * np.exp(-(5**0.5) * r / length))


def test_the_mean_is_that_of_the_definition() -> None:
    values = standardized(hill(POINTS))
    covariance = np.array([[matern(one, other, 1.0) for other in POINTS] for one in POINTS])
    across = np.array([[matern(one, other, 1.0) for other in POINTS] for one in OTHERS])
    expected = across @ np.linalg.inv(covariance + 0.1 * np.eye(12)) @ values
    assert Process(POINTS, values, 1.0, 0.1).mean(OTHERS) == pytest.approx(expected)


def test_the_improvement_is_the_mean_of_what_is_above_the_best() -> None:
    """By drawing from the process at each point."""
    values = standardized(hill(POINTS))
    process = Process(POINTS, values, 1.0, 0.1)
    covariance = np.array([[matern(one, other, 1.0) for other in POINTS] for one in POINTS])
    inverse = np.linalg.inv(covariance + 0.1 * np.eye(12))
    variance = float(values @ inverse @ values) / 12
    best = process.mean(POINTS).max()
    for point, improvement in zip(OTHERS[:5], process.improvement(OTHERS[:5]), strict=True):
        across = np.array([matern(point, other, 1.0) for other in POINTS])
        deviation = (variance * (1 - across @ inverse @ across)) ** 0.5
        drawn = RNG.normal(across @ inverse @ values, deviation, 200_000)
        assert improvement == pytest.approx(np.maximum(drawn - best, 0).mean(), rel=0.05, abs=1e-3)


def test_noise_is_recognized() -> None:
    points = RNG.random((40, 2))
    quiet, noisy = standardized(hill(points)), standardized(RNG.normal(size=40))
    assert fitted(points, quiet).noise < fitted(points, noisy).noise


def test_the_most_promising_point_is_near_the_top_and_the_next_is_another() -> None:
    process = fitted(POINTS, standardized(hill(POINTS)))
    first = int(process.improvement(OTHERS).argmax())
    assert np.linalg.norm(OTHERS[first] - np.array([0.7, 0.3])) < 0.3
    assert int(process.believing(OTHERS[first]).improvement(OTHERS).argmax()) != first
