"""Summaries and the best number of connections."""

from __future__ import annotations

import math

import pytest

from lab.analysis.builders import LEFT, RIGHT, measured
from mydyno.lab.analysis.metrics import LATENCY_P95, QUERIES_PER_SECOND
from mydyno.lab.analysis.optimum import optimum
from mydyno.lab.analysis.summary import summarise, summary


def test_a_summary_holds_middle_spread_and_interval() -> None:
    found = summarise("p1", 10, [1.0, 2.0, 4.0, 9.0])
    assert (found.n, found.mean, found.median) == (4, 4.0, 3.0)
    assert found.geometric_mean == pytest.approx(72**0.25)
    assert found.standard_deviation == pytest.approx(math.sqrt(38 / 3))
    assert found.variation == pytest.approx(math.sqrt(38 / 3) / 4)
    assert found.interval is not None
    assert found.interval.contains(4.0)


def test_what_cannot_be_negative_has_no_negative_bound() -> None:
    found = summarise("p1", 10, [0.0, 0.0, 9.0])
    assert found.interval is not None
    assert found.interval.low == 0
    assert found.geometric_mean is None
    below = summarise("p1", 10, [-1.0, 0.0, 9.0]).interval
    assert below is not None
    assert below.low < 0


def test_nothing_measured_is_none_and_not_zero() -> None:
    found = summarise("p1", 10, [])
    assert (found.n, found.mean, found.median, found.standard_deviation, found.interval) == (0, *[None] * 4)


def test_spread_needs_two_values_and_an_interval_three() -> None:
    one, two = summarise("p1", 10, [5.0]), summarise("p1", 10, [5.0, 6.0])
    assert (one.mean, one.standard_deviation, one.variation, one.interval) == (5.0, None, None, None)
    assert two.standard_deviation is not None
    assert two.interval is None
    assert summarise("p1", 10, [0.0, 0.0]).variation is None


def test_every_point_has_a_summary_at_every_number_of_connections_of_the_experiment() -> None:
    trials = [measured(LEFT, 0, {1: 5.0, 10: 7.0}), measured(RIGHT, 0, {1: 6.0}, valid=False)]
    found = summary(trials, [LEFT.point_id, RIGHT.point_id], QUERIES_PER_SECOND)
    assert {place: one.values for place, one in found.items()} == {
        (LEFT.point_id, 1): (5.0,),
        (LEFT.point_id, 10): (7.0,),
        (RIGHT.point_id, 1): (),
        (RIGHT.point_id, 10): (),
    }


def test_the_optimum_is_the_highest_mean_with_those_that_cannot_be_distinguished_from_it() -> None:
    trials = [
        measured(LEFT, block, {1: 100 + block, 10: 200 + 3 * block, 20: 201 + 3 * block, 40: 150 + block})
        for block in range(4)
    ]
    found = optimum(trials, LEFT.point_id)
    assert found is not None
    assert (found.best.place, found.ties) == (20, (10,))


def test_without_intervals_ties_are_unknown() -> None:
    found = optimum([measured(LEFT, 0, {1: 100, 10: 200})], LEFT.point_id)
    assert found is not None
    assert (found.best.place, found.ties) == (10, None)
    assert optimum([], LEFT.point_id) is None


def test_the_optimum_of_a_latency_is_the_lowest() -> None:
    found = optimum([measured(LEFT, 0, {1: 100, 10: None})], LEFT.point_id, LATENCY_P95)
    assert found is not None
    assert found.best.place == 1
