"""Stalls with a rhythm are told; noise, single stalls and rare regularities of chance are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from lab.analysis.series import noise
from mydyno.lab.analysis.steady import Stretch, stalls


def stretches(
    rates: Sequence[float | None], p99s: Sequence[float | None] | None = None, queries: int = 1000
) -> list[Stretch]:
    """Intervals of a second."""
    tails = p99s if p99s is not None else [10e6] * len(rates)
    return [
        Stretch(from_s=100.0 + at, to_s=101.0 + at, rate=rate, p99_ns=tail, queries=queries)
        for at, (rate, tail) in enumerate(zip(rates, tails, strict=True))
    ]


def every(period: int, count: int, within: float, otherwise: float) -> list[float]:
    return [within if at % period == period - 1 else otherwise for at in range(count)]


def test_a_rate_that_breaks_down_every_eight_seconds_is_reported_with_its_instants() -> None:
    found = stalls(stretches(every(8, 60, 100.0, 1000.0)))
    assert found is not None
    assert found.period_s == 8.0
    assert found.spans[0] == (107.0, 108.0)
    assert len(found.spans) == 7


def test_long_tails_count_where_the_rate_holds() -> None:
    found = stalls(stretches([1000.0] * 60, every(10, 60, 50e6, 10e6)))
    assert found is not None
    assert found.period_s == 10.0


def test_the_tail_of_a_few_queries_is_chance() -> None:
    assert stalls(stretches([10.0] * 60, every(10, 60, 50e6, 10e6), queries=10)) is None


def test_a_stall_of_several_intervals_is_one_and_one_may_be_missed() -> None:
    rates = [1000.0] * 70
    for start in (5, 15, 35, 45, 55):
        rates[start : start + 2] = [50.0, 50.0]
    found = stalls(stretches(rates))
    assert found is not None
    assert (found.period_s, len(found.spans), found.spans[0]) == (10.0, 5, (105.0, 107.0))


def test_stalls_at_random_are_seldom_taken_for_a_rhythm() -> None:
    rng = np.random.default_rng(3)
    alarms = 0
    for _ in range(1000):
        rates = noise(rng, 120)
        rates[rng.choice(120, 6, replace=False)] = 10.0
        alarms += stalls(stretches(list(rates))) is not None
    assert alarms <= 20


@pytest.mark.parametrize("correlation", [0.0, 0.6, 0.9])
def test_steady_and_wobbling_phases_do_not_stall(correlation: float) -> None:
    rng = np.random.default_rng(3)
    series = [list(noise(rng, 120, spread=0.2, correlation=correlation)) for _ in range(300)]
    assert sum(stalls(stretches(rates)) is not None for rates in series) <= 3


@pytest.mark.parametrize(
    "rates",
    [
        [],
        [1000.0],
        [1000.0] * 60,
        [0.0] * 60,
        [*[1000.0] * 59, None],
        [*[1000.0] * 59, float("nan")],
        [1000.0, 10.0] * 30,
        [*[1000.0] * 30, 10.0, *[1000.0] * 29],
    ],
    ids=["none", "one", "constant", "nothing", "missing", "nan", "every second", "a single stall"],
)
def test_odd_or_smooth_phases_are_no_stalls(rates: list[float | None]) -> None:
    assert stalls(stretches(rates)) is None


def test_untold_tails_are_no_tails() -> None:
    result = stretches(every(8, 60, 100.0, 1000.0))
    found = stalls([replace(one, p99_ns=None) for one in result])
    assert found is not None
    assert found.period_s == 8.0
