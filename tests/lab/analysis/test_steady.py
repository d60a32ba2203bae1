"""What is steady stays whole, a warm-up is found about where it ends, and nothing breaks it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from statistics import median

import numpy as np
import pytest

from lab.analysis.series import Rates, noise, time
from mydyno.lab.analysis.steady import (
    BATCH,
    LEAST_INTERVALS,
    NOT_JUDGED,
    STEADY,
    Steadiness,
    batched,
    squared_errors,
    steadiness,
)

TIMES = 400


def outcomes(make: Callable[[np.random.Generator], Rates], times: int = TIMES) -> Counter[str]:
    rng = np.random.default_rng(11)
    return Counter(steadiness(list(make(rng))).outcome for _ in range(times))


@pytest.mark.parametrize("count", [60, 120, 600])
@pytest.mark.parametrize(("correlation", "heavy"), [(0.0, False), (0.0, True), (0.3, False), (0.6, False)])
def test_of_a_hundred_steady_phases_at_most_two_are_cut_or_blamed(
    count: int, correlation: float, heavy: bool
) -> None:
    found = outcomes(lambda rng: noise(rng, count, correlation=correlation, heavy=heavy))
    assert found["steady"] >= 0.97 * TIMES, "2%, and what 400 simulations may be off"


def test_mser_alone_would_cut_many_a_steady_phase() -> None:
    rng = np.random.default_rng(11)
    series = [batched(noise(rng, 120), BATCH) for _ in range(TIMES)]
    cut = sum(int(np.argmin(squared_errors(batches)[: len(batches) - 4])) > 0 for batches in series)
    assert cut > 0.3 * TIMES


@pytest.mark.parametrize(
    ("shape", "ends"),
    [
        (lambda at: 1 - 0.5 * np.exp(-at / 0.05), 0.15),
        (lambda at: 1 - 0.3 * np.exp(-at / 0.1), 0.25),
        (lambda at: np.where(at < 0.2, 2.0, 1.0), 0.2),
    ],
    ids=["caches fill", "caches fill slowly", "a burst before the disk is throttled"],
)
@pytest.mark.parametrize("count", [60, 240])
def test_a_warm_up_is_found_about_where_it_ends(
    shape: Callable[[Rates], Rates], ends: float, count: int
) -> None:
    rng = np.random.default_rng(11)
    found = [
        steadiness(list(noise(rng, count, spread=0.04, correlation=0.3) * shape(time(count))))
        for _ in range(100)
    ]
    cuts = [one.first / count for one in found if one.outcome == "warm-up"]
    assert len(cuts) > 60
    assert ends / 2 <= median(cuts) <= ends * 2


def test_a_phase_that_changes_late_never_became_steady() -> None:
    late = outcomes(lambda rng: noise(rng, 120, spread=0.05) * np.where(time(120) < 0.7, 1.0, 0.5), 100)
    assert late["never"] > 95


def test_a_cut_leaves_whole_batches_and_more_than_half() -> None:
    rates = [500.0] * 13 + [1000.0, 1010.0] * 25
    found = steadiness(rates)
    assert found.outcome == "warm-up"
    assert (len(rates) - found.first) % BATCH == 0
    assert 13 <= found.first < len(rates) / 2


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ([], NOT_JUDGED),
        ([1000.0], NOT_JUDGED),
        ([1000.0] * (LEAST_INTERVALS - 1), NOT_JUDGED),
        ([1000.0] * 100, STEADY),
        ([0.0] * 100, STEADY),
        ([*[1000.0] * 99, float("nan")], NOT_JUDGED),
        ([*[1000.0] * 99, float("inf")], NOT_JUDGED),
        ([*[1000.0] * 99, None], NOT_JUDGED),
        ([0.0] * 10 + [1000.0] * 90, Steadiness("warm-up", 10)),
        ([1000.0] * 90 + [0.0] * 10, STEADY),
        ([1e-300] * 100, STEADY),
        ([1e300, 1e299] * 50, STEADY),
    ],
)
def test_odd_rates_give_a_clear_answer(rates: list[float | None], expected: Steadiness) -> None:
    assert steadiness(rates) == expected
