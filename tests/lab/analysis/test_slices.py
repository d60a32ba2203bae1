"""Slices of servers that were driven in turn: rates, their errors, the cut and what was carried over."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from lab.analysis.slice_study import Machine, slices
from mydyno.lab.analysis.slices import Slice, SliceFit, Spent, fit, fit_costs

TIMES = 60


def fits(machine: Machine, effects: Sequence[float] = (0.0, 0.0), times: int = TIMES) -> list[SliceFit]:
    random = np.random.default_rng(3)
    return [fit(slices(machine, random, effects=effects), len(effects)) for _ in range(times)]


def log_ratio(found: SliceFit, left: int = 1, right: int = 0) -> float:
    one, other = found.rates[left], found.rates[right]
    assert one is not None
    assert other is not None
    return math.log(one / other)


def plain_log_ratio(found: SliceFit) -> float:
    one, other = found.means[1], found.means[0]
    assert one is not None
    assert other is not None
    return math.log(one / other)


def even(counts: dict[int, Sequence[int]], rounds: int = 30) -> list[Slice]:
    """Rounds in which each server answers the same number of queries in each tenth, its numbers in turn."""
    return [
        Slice(server, number, None, 1.0, (of[number % len(of)],) * 10)
        for number in range(rounds)
        for server, of in counts.items()
    ]


@pytest.mark.parametrize(
    ("machine", "least"),
    [
        (Machine(), 0.88),
        (Machine(freedom=3), 0.88),
        (Machine(memory=0.5), 0.82),
        (Machine(neighbour=0.2), 0.88),
        (Machine(drift=0.3), 0.88),
    ],
    ids=["normal", "heavy tails", "correlated", "neighbour", "drift"],
)
def test_the_ratio_is_that_of_the_servers_and_its_error_is_right(machine: Machine, least: float) -> None:
    found = fits(machine, (0.0, 0.1))
    errors = [log_ratio(one) - 0.1 for one in found]
    assert abs(np.mean(errors)) < 4 * np.std(errors) / math.sqrt(TIMES)
    held = [abs(off) < 1.96 * 2 * (one.errors[1] or 0) for off, one in zip(errors, found, strict=True)]
    assert np.mean(held) >= least


def test_for_normal_noise_the_fit_is_nearly_as_precise_as_plain_means() -> None:
    found = fits(Machine(), times=200)
    assert np.std([log_ratio(one) for one in found]) < 1.1 * np.std([plain_log_ratio(one) for one in found])


def test_bursts_that_hit_a_part_of_the_slices_hardly_move_the_fit() -> None:
    found = fits(Machine(noise=0.04, neighbour=0.1, stay=1.5, takes=2.0))
    assert np.std([log_ratio(one) for one in found]) < 0.5 * np.std([plain_log_ratio(one) for one in found])


def test_several_servers_are_fitted_together() -> None:
    found = fits(Machine(), (0.0, 0.1, -0.2, 0.3), times=30)
    for left, right, expected in ((1, 0, 0.1), (2, 1, -0.3), (3, 2, 0.5)):
        assert np.mean([log_ratio(one, left, right) for one in found]) == pytest.approx(expected, abs=0.015)


def test_the_rates_add_up_to_the_queries_that_were_answered() -> None:
    found = fit(even({0: [100, 110], 1: [120, 132]}), 2)
    assert found.rates[0] == pytest.approx(1050)
    assert found.rates[1] == pytest.approx(1260)
    assert found.means == pytest.approx((1050, 1260))
    assert found.rounds == 30


def test_a_slow_beginning_is_cut_from_the_slices_of_all_servers() -> None:
    found = fits(Machine(start=0.5), times=20)
    assert all(one.cut_s >= 0.05 and one.steady for one in found)
    assert all(one.rates[0] == pytest.approx(1200, rel=0.1) for one in found)
    assert all(one.cut_s == 0 for one in fits(Machine(), times=50))


def test_slices_that_never_become_steady_are_reported() -> None:
    rising = [
        Slice(of, number, None, 0.5, tuple(range(10, 110, 10))) for number in range(30) for of in (0, 1)
    ]
    assert not fit(_jittered(rising), 2).steady


def _jittered(made: list[Slice]) -> list[Slice]:
    random = np.random.default_rng(5)
    return [
        Slice(one.server, one.round, one.after, one.seconds, tuple(random.poisson(one.parts).tolist()))
        for one in made
    ]


def test_a_server_that_died_keeps_the_rate_of_its_rounds() -> None:
    made = [one for one in even({0: [100, 104], 1: [120, 130]}) if one.server == 0 or one.round < 10]
    # The machine is half as fast once it is gone: no part of the ratio.
    made = [
        one if one.round < 10 else Slice(0, one.round, None, 1.0, tuple(part // 2 for part in one.parts))
        for one in made
    ]
    found = fit(made, 2)
    assert log_ratio(found) == pytest.approx(math.log(math.sqrt(120 * 130 / (100 * 104))), abs=0.01)


def test_a_server_without_slices_has_no_rate_and_one_without_queries_a_rate_of_0() -> None:
    found = fit(even({0: [100, 104], 1: [0]}), 3)
    assert found.rates[0] == pytest.approx(1020)
    assert found.rates[1:] == (0.0, None)
    assert found.errors == (None, None, None)
    assert found.carry_over is None
    assert found.autocorrelation is None


def test_single_slices_without_queries_do_not_break_the_fit() -> None:
    found = fit(even({0: [100, 104, 98, 0], 1: [110, 114, 107, 109]}, rounds=60), 2)
    assert math.isfinite(log_ratio(found))
    assert log_ratio(found) == pytest.approx(0.09, abs=0.03)
    assert found.outlying == pytest.approx(0.25)


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_and_a_single_round_are_no_error(count: int) -> None:
    found = fit(even({0: [100], 1: [110]}, rounds=count), 2)
    assert found.rounds == count
    assert found.rates == ((pytest.approx(1000), pytest.approx(1100)) if count else (None, None))
    assert found.errors in ((None, None), (math.inf, math.inf))


def test_slices_that_agree_to_the_last_query_have_no_error() -> None:
    found = fit(even({0: [100], 1: [110]}), 2)
    assert found.errors == pytest.approx((0.0, 0.0))
    assert found.outlying == 0


def test_what_a_slice_leaves_to_the_next_is_found() -> None:
    found = fits(Machine(noise=0.04, carry_over=0.1), times=30)
    carried = [one.carry_over for one in found if one.carry_over is not None]
    assert len(carried) == 30
    assert np.mean([one.difference for one in carried]) == pytest.approx(0.1, abs=0.02)
    assert np.mean([one.low > 0 and one.servers == (0, 1) for one in carried]) > 0.9
    without = [one.carry_over for one in fits(Machine())]
    assert sum(one is not None and one.low > 0 for one in without) <= 4


def test_a_fixed_order_cannot_show_what_is_carried_over() -> None:
    random = np.random.default_rng(1)
    made = [
        Slice(server, number, 1 - server, 0.5, tuple(random.poisson(60, 10).tolist()))
        for number in range(50)
        for server in (0, 1)
    ]
    assert fit(made, 2).carry_over is None


def test_correlated_slices_are_seen_and_widen_the_error() -> None:
    apart, alike = fits(Machine(), times=30), fits(Machine(memory=0.6), times=30)
    assert abs(np.mean([one.autocorrelation for one in apart])) < 0.08
    assert np.mean([one.autocorrelation for one in alike]) == pytest.approx(0.5, abs=0.1)
    assert np.mean([one.errors[0] for one in alike]) > 1.4 * np.mean([one.errors[0] for one in apart])


def test_cpu_per_query_is_compared_within_rounds_and_one_odd_slice_does_not_count() -> None:
    # Server 1 takes 5% more for a query; the machine makes every query dearer from round to round.
    spent = [
        Spent(server, number, (1.0, 1.05)[server] * (1 + number / 10) * 1e-4 * queries, queries)
        for number in range(20)
        for server, queries in ((0, 1000), (1, 700 + number))
    ]
    odd = [Spent(1, 7, 5.0, 10) if (one.server, one.round) == (1, 7) else one for one in spent]
    for slices_ in (spent, odd):
        first, second = fit_costs(slices_, 2)
        assert first is not None
        assert second is not None
        assert second / first == pytest.approx(1.05, rel=1e-3)
    first, second = fit_costs(spent, 2)
    assert first == pytest.approx(1.95e-4, rel=0.01)


def test_servers_whose_cpu_cannot_be_read_have_no_cost() -> None:
    assert fit_costs([], 2) == (None, None)
    assert fit_costs([Spent(0, number, 1e-4, 10) for number in range(3)], 2) == (None, None)
    idle = [Spent(1, number, 0.0, 0) for number in range(3)]
    assert fit_costs([*(Spent(0, number, 1e-4, 10) for number in range(3)), *idle], 2) == (None, None)
