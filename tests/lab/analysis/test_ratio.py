"""Ratios of points: from valid trials, on logarithms, paired where the blocks allow it."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from lab.analysis.builders import FEW, LEFT, RIGHT, measured, pair_of_points, shuffled
from mydyno.lab.analysis.metrics import LATENCY_P95, OF_QUERIES, QUERIES_PER_SECOND
from mydyno.lab.analysis.observations import Observation
from mydyno.lab.analysis.ratio import compare, ratio
from mydyno.lab.results.records import TrialRecord

rates = st.lists(st.floats(1, 1e6), min_size=3, max_size=6)


def observed(*values: float, blocks: list[int] | None = None) -> list[Observation]:
    places = blocks or list(range(len(values)))
    return [Observation(f"t{block}", (block, ""), value) for block, value in zip(places, values, strict=True)]


def compared(trials: list[TrialRecord]):  # type: ignore[no-untyped-def]
    return compare(trials, LEFT.point_id, RIGHT.point_id, QUERIES_PER_SECOND)


def test_the_ratio_is_that_of_the_geometric_means() -> None:
    found = ratio(observed(100, 400, 200), observed(50, 50, 100))
    assert found.value == pytest.approx((100 * 400 * 200) ** (1 / 3) / (50 * 50 * 100) ** (1 / 3))
    assert (found.n_left, found.n_right, found.paired) == (3, 3, True)


def test_what_a_block_shares_is_taken_out_by_pairing() -> None:
    # Each block is much slower than the one before, and left is 10% faster in each, give or take.
    left, right = observed(1101, 549, 276), observed(1000, 500, 250)
    paired = ratio(left, right)
    apart = ratio(left, observed(1000, 500, 250, blocks=[7, 8, 9]))
    assert (paired.paired, apart.paired) == (True, False)
    assert paired.interval is not None
    assert apart.interval is not None
    assert paired.interval.low > 1.09
    assert apart.interval.low < 0.5


@pytest.mark.parametrize("blocks", [[0, 1, 3], [0, 1, 1], [0, 1, 2, 3]])
def test_points_that_do_not_share_every_block_are_compared_as_groups(blocks: list[int]) -> None:
    assert not ratio(observed(*[1.0, 2.0, 3.0, 4.0][: len(blocks)], blocks=blocks), observed(1, 2, 3)).paired


def test_a_side_that_was_measured_twice_in_each_block_counts_with_the_mean_of_both() -> None:
    left = observed(110, 220, 331)
    twice = observed(90, 160, 300, 100, 225, 270, blocks=[0, 1, 2, 0, 1, 2])
    means = observed(*(math.sqrt(one * other) for one, other in ((90, 100), (160, 225), (300, 270))))
    both, one = ratio(left, twice).interval, ratio(left, means).interval
    assert both is not None
    assert one is not None
    assert (both.low, both.high) == pytest.approx((one.low, one.high))
    # One of the second measurements is missing: its block has one.
    assert ratio(left, twice[:5]).paired
    # Three in one block are repetitions, not a control.
    assert not ratio(left, [*twice, observed(95, blocks=[0])[0]]).paired


def test_invalid_trials_do_not_count() -> None:
    good = pair_of_points([110, 111, 112], [100, 101, 102])
    broken = measured(LEFT, 7, {10: 5}, valid=False)
    assert compared([*good, broken]) == compared(good)


def test_a_value_of_zero_or_below_makes_no_ratio() -> None:
    found = ratio(observed(1, 0, 2), observed(1, 2, 3))
    assert (found.value, found.interval, found.p_value) == (None, None, None)
    assert ratio(observed(), observed(1)).value is None


def test_one_trial_of_each_has_a_ratio_and_no_interval() -> None:
    found = ratio(observed(120), observed(100))
    assert found.value == pytest.approx(1.2)
    assert (found.interval, found.p_value, found.spread) == (None, None, None)


def test_two_trials_of_each_have_a_spread_and_no_interval() -> None:
    found = ratio(observed(120, 130), observed(100, 100))
    assert found.interval is None
    assert found.spread == pytest.approx(math.log(1.3 / 1.2) / math.sqrt(2))


def test_over_all_is_the_geometric_mean_over_the_connections_of_each_trial() -> None:
    trials = [measured(LEFT, block, {1: 200, 100: 800}) for block in range(3)]
    trials += [measured(RIGHT, block, {1: 100, 100: 900}) for block in range(3)]
    found = compared(trials)
    assert found.over == (1, 100)
    assert found.overall.value == pytest.approx(math.sqrt(200 * 800 / (100 * 900)))
    assert found.by_place[1].value == pytest.approx(2)
    assert found.by_place[100].value == pytest.approx(8 / 9)


def test_over_all_uses_only_what_every_trial_measured() -> None:
    trials = [measured(LEFT, block, {1: 200, 100: None if block else 9}) for block in range(3)]
    trials += [measured(RIGHT, block, {1: 100, 100: 5}) for block in range(3)]
    found = compared(trials)
    assert found.over == (1,)
    assert found.overall.value == pytest.approx(2)
    assert (found.by_place[100].n_left, found.by_place[100].n_right) == (1, 3)


def test_nothing_in_common_makes_no_overall_ratio() -> None:
    found = compared(
        [*(measured(LEFT, b, {1: 5}) for b in range(3)), *(measured(RIGHT, b, {2: 5}) for b in range(3))]
    )
    assert (found.overall.value, found.overall.n_left, found.over) == (None, 3, ())
    assert compared([measured(LEFT, 0, {1: 5})]).overall.n_right == 0


def test_the_connection_counts_are_a_family_and_the_overall_ratio_is_not() -> None:
    noise = random.Random(2)
    curve = dict.fromkeys((1, 10, 100), 100.0)
    trials = [
        measured(point, block, {count: value * noise.gauss(1, 0.05) for count, value in curve.items()})
        for point in (LEFT, RIGHT)
        for block in range(5)
    ]
    found = compared(trials)
    assert found.overall.adjusted_p is None
    for one in found.by_place.values():
        assert one.family == 3
        assert one.p_value is not None
        assert one.adjusted_p is not None
        assert one.adjusted_p >= one.p_value


def test_phases_with_the_same_number_of_connections_are_no_repetitions() -> None:
    twice = [measured(LEFT, block, {10: 100}) for block in range(3)]
    doubled = [
        TrialRecord(**{**vars(trial), "phases": trial.phases + measured(LEFT, 0, {10: 200}).phases})
        for trial in twice
    ]
    found = compared([*doubled, *(measured(RIGHT, block, {10: 150}) for block in range(3))])
    assert found.by_place[10].n_left == 3
    assert found.by_place[10].value == pytest.approx(1.0)


def test_every_metric_can_be_compared() -> None:
    trials = pair_of_points([110, 111, 112], [100, 101, 102])
    for metric in OF_QUERIES:
        found = compare(trials, LEFT.point_id, RIGHT.point_id, metric)
        assert found.overall.n_left == 3
        unmeasured = metric.cost or metric.name == "client_cpu_per_query"
        assert (found.overall.value is None) == unmeasured
    assert compare(trials, LEFT.point_id, RIGHT.point_id, LATENCY_P95).overall.value == pytest.approx(1)


@FEW
@given(rates, rates, st.floats(1e-3, 1e3))
def test_the_unit_of_the_metric_drops_out(left: list[float], right: list[float], factor: float) -> None:
    plain = ratio(observed(*left), observed(*right))
    scaled = ratio(observed(*(v * factor for v in left)), observed(*(v * factor for v in right)))
    assume(not plain.identical)
    assert plain.value is not None
    assert plain.interval is not None
    assert scaled.interval is not None
    assert scaled.value == pytest.approx(plain.value)
    assert math.log(scaled.interval.low) == pytest.approx(math.log(plain.interval.low), abs=1e-6)


@FEW
@given(rates, rates)
@example([1.0, 3.0, 2.0], [3.0, 2.0, 1.0])
def test_swapping_the_sides_inverts_the_ratio(left: list[float], right: list[float]) -> None:
    one, other = ratio(observed(*left), observed(*right)), ratio(observed(*right), observed(*left))
    assume(not one.identical)
    assert one.value is not None
    assert one.interval is not None
    assert other.value == pytest.approx(1 / one.value)
    assert other.interval is not None
    assert math.log(other.interval.low) == pytest.approx(-math.log(one.interval.high), abs=1e-9)
    assert other.p_value == one.p_value


@FEW
@given(rates, rates, st.integers(0, 1000))
def test_the_order_of_the_trials_does_not_matter(left: list[float], right: list[float], seed: int) -> None:
    trials = pair_of_points(left, right)
    assert compared(shuffled(trials, seed)) == compared(trials)
