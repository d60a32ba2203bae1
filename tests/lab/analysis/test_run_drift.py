"""A run whose trials grow slower is seen, whatever its points are and whatever order they ran in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.analysis.builders import LEFT, RIGHT, measured
from mydyno.lab.analysis.drift import run_drift
from mydyno.lab.analysis.metrics import QUERIES_PER_SECOND
from mydyno.lab.results.records import TrialRecord


def run(change: float, blocks: int = 10, spread: float = 0.02, seed: int = 1) -> list[TrialRecord]:
    """Blocks of a slow and a fast point in turn; `change` is from the first trial to the last."""
    rng = np.random.default_rng(seed)
    trials = []
    for index in range(2 * blocks):
        point, level = ((LEFT, 1000.0), (RIGHT, 3000.0))[(index + index // 2) % 2]
        rate = level * (1 + change) ** (index / (2 * blocks - 1)) * (1 + spread * rng.standard_normal())
        trial = measured(point, index // 2, {10: float(rate), 40: float(2 * rate)})
        trials.append(replace(trial, index=index))
    return trials


@pytest.mark.parametrize("change", [-0.2, 0.15])
def test_a_drift_over_the_run_is_found_with_its_size(change: float) -> None:
    found = run_drift(run(change), QUERIES_PER_SECOND)
    assert found is not None
    assert found.found
    assert found.change == pytest.approx(change, abs=0.04)


def test_a_run_without_drift_is_seldom_blamed() -> None:
    alarms = sum(
        one.found
        for seed in range(200)
        if (one := run_drift(run(0.0, spread=0.1, seed=seed), QUERIES_PER_SECOND)) is not None
    )
    assert alarms <= 4


def test_invalid_trials_and_runs_without_numbers_do_not_count() -> None:
    trials = [replace(trial, status="invalid") for trial in run(-0.5)]
    assert run_drift(trials, QUERIES_PER_SECOND) is None
    assert run_drift([], QUERIES_PER_SECOND) is None
    unmeasured = [replace(measured(LEFT, block, {10: None}), index=block) for block in range(9)]
    assert run_drift(unmeasured, QUERIES_PER_SECOND) is None
    zeros = [replace(measured(LEFT, block, {10: 0.0}), index=block) for block in range(9)]
    assert run_drift(zeros, QUERIES_PER_SECOND) is None
