"""Verdicts: the outcome follows from the numbers, and the sentence claims no more than they do."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.builders import FEW, LEFT, RIGHT, measured, pair_of_points
from mydyno.lab.analysis.bootstrap import Interval
from mydyno.lab.analysis.metrics import LATENCY_P95, QUERIES_PER_SECOND
from mydyno.lab.analysis.observations import not_finite
from mydyno.lab.analysis.ratio import Ratio
from mydyno.lab.analysis.sequential import nominal_level
from mydyno.lab.analysis.standard import LABELS, Standard, standard_of
from mydyno.lab.analysis.verdict import Side, Verdict, judge, judge_points, more_trials
from mydyno.lab.analysis.wording import largest_difference
from mydyno.lab.results.records import DesignRecord
from mydyno.server.variables.durability import Level

A, B = Side("450"), Side("8")


def given_ratio(
    value: float | None,
    low: float = 1.0,
    high: float = 1.0,
    *,
    p: float | None = 0.001,
    n: int = 5,
    spread: float | None = 0.02,
    paired: bool = True,
) -> Ratio:
    interval = None if p is None else Interval(low, high)
    return Ratio(n, n, paired, value, interval, p, spread)


def verdict(ratio: Ratio, left: Side = A, right: Side = B) -> Verdict:
    return judge(ratio, left, right, QUERIES_PER_SECOND)


def overall(left: Sequence[float], right: Sequence[float]) -> Verdict:
    return judge_points(pair_of_points(left, right), LEFT, RIGHT, QUERIES_PER_SECOND).overall


def test_faster() -> None:
    found = verdict(given_ratio(1.123, 1.094, 1.148))
    assert found.outcome == "faster"
    assert found.sentence == "450 is faster than 8 by 12.3% (95% CI 9.4 to 14.8), n=5 vs 5"


def test_slower() -> None:
    found = verdict(given_ratio(0.88, 0.85, 0.91))
    assert found.outcome == "slower"
    assert found.sentence == "450 is slower than 8 by 12.0% (95% CI 9.0 to 15.0), n=5 vs 5"


def test_lower_latency_is_faster() -> None:
    found = judge(given_ratio(0.8, 0.75, 0.85), A, B, LATENCY_P95)
    assert found.outcome == "faster"
    assert found.sentence == "450 has a lower p95 latency than 8 by 20.0% (95% CI 15.0 to 25.0), n=5 vs 5"


def test_higher_latency_is_slower() -> None:
    found = judge(given_ratio(1.2, 1.15, 1.25), A, B, LATENCY_P95)
    assert found.outcome == "slower"
    assert found.sentence == "450 has a higher p95 latency than 8 by 20.0% (95% CI 15.0 to 25.0), n=5 vs 5"


def test_no_difference_names_the_larger_bound() -> None:
    found = verdict(given_ratio(1.004, 0.988, 1.0207, p=0.4))
    assert found.outcome == "no-difference"
    assert found.sentence == (
        "no difference larger than 2.1% between 450 and 8 (95% CI -1.2 to 2.1), n=5 vs 5"
    )
    latency = judge(given_ratio(1.004, 0.988, 1.0207, p=0.4), A, B, LATENCY_P95)
    assert latency.sentence.startswith("no difference in p95 latency larger than 2.1% between 450 and 8")


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [(0.99998, 1.0448, "4.5%"), (0.9999, 1.0015, "0.15%"), (0.9998, 1.0001, "0.020%")],
)
def test_the_larger_bound_has_the_digits_of_its_size_whatever_the_other(
    low: float, high: float, shown: str
) -> None:
    assert largest_difference(Interval(low, high)) == shown


def test_a_real_difference_below_the_margin_is_called_so() -> None:
    found = verdict(given_ratio(1.01, 1.004, 1.016))
    assert (found.outcome, found.negligible) == ("faster", True)
    assert found.sentence == (
        "450 is faster than 8 by 1.0% (95% CI 0.4 to 1.6), n=5 vs 5; "
        "a real difference, but within the equivalence margin of 3%"
    )


def test_not_enough_data_says_how_many_more_trials() -> None:
    found = verdict(given_ratio(1.05, 0.97, 1.14, p=0.2, n=3, spread=0.065))
    assert (found.outcome, found.more_trials) == ("not-enough-data", 13)
    assert found.sentence == (
        "450 vs 8: +5.0% queries per second (95% CI -3.0 to 14.0), n=3 vs 3: "
        "no difference larger than 14.0%; about 13 more trials of each would settle it"
    )


def test_one_trial_of_each_asks_for_what_an_interval_needs() -> None:
    found = verdict(given_ratio(1.2, p=None, n=1, spread=None))
    assert found.more_trials == 2
    assert found.sentence == (
        "450 vs 8: +20.0% queries per second without an interval, n=1 vs 1; "
        "at least 2 more trials of each needed"
    )


def test_two_trials_of_each_ask_for_at_least_what_their_spread_says() -> None:
    found = verdict(given_ratio(1.5, p=None, n=2, spread=0.01))
    assert found.sentence == (
        "450 vs 8: +50.0% queries per second without an interval, n=2 vs 2; "
        "at least 1 more trial of each needed"
    )


def test_a_side_without_a_valid_trial_is_named() -> None:
    found = judge_points([measured(LEFT, 0, {10: 5})], LEFT, RIGHT, QUERIES_PER_SECOND).overall
    assert (found.outcome, found.more_trials) == ("not-enough-data", 3)
    assert found.sentence == (
        "cache = 450 cannot be compared with cache = 8: "
        "no valid trial of cache = 8 has queries per second, n=1 vs 0"
    )


def test_a_value_of_zero_is_named() -> None:
    found = overall([0, 1, 2], [1, 2, 3])
    assert found.sentence == (
        "cache = 450 cannot be compared with cache = 8: "
        "queries per second is not above 0 in every trial, n=3 vs 3"
    )


def test_where_no_reasonable_number_of_trials_settles_it_the_minimum_detectable_effect_is_given() -> None:
    found = verdict(given_ratio(1.03, 0.7, 1.5, p=0.7, n=4, spread=0.18))
    assert found.more_trials is None
    assert found.sentence == (
        "450 vs 8: +3.0% queries per second (95% CI -30.0 to 50.0), n=4 vs 4: "
        "no difference larger than 50.0%; minimum detectable effect with 4 trials of each: 46.7%"
    )
    hopeless = verdict(given_ratio(1.0, 0.0, 5.0, p=0.9, n=3, spread=50.0)).sentence
    assert hopeless == (
        "450 vs 8: 0.0% queries per second (95% CI too wide to be useful), "
        "n=3 vs 3; "
        "more trials would not settle it: reduce the noise first"
    )


@pytest.mark.parametrize("high", [120.0, 439.78, 16880.14, math.inf])
def test_numbers_that_say_nothing_never_reach_a_reader(high: float) -> None:
    for low, p, more in ((1 / high, 0.4, 8.0), (1.1, 0.01, 0.02)):
        sentence = verdict(given_ratio(3.0, low, high, p=p, n=3, spread=more)).sentence
        assert "too wide to be useful" in sentence
        assert max(map(float, re.findall(r"\d+(?:\.\d+)?", sentence))) <= 450


def test_a_difference_by_orders_of_magnitude_is_a_factor_and_not_a_percentage() -> None:
    fast = verdict(given_ratio(51.2, 45.14, 58.0)).sentence
    assert fast == "450 is 51.2 times as fast as 8 (95% CI 45.1 to 58), n=5 vs 5"
    slow = judge(given_ratio(51.2, 45.14, 58.0), A, B, LATENCY_P95).sentence
    assert slow.startswith("450 has 51.2 times the p95 latency of 8 (95% CI 45.1 to 58)")


def test_many_comparisons_at_once_ask_for_more_evidence() -> None:
    alone = given_ratio(1.05, 1.01, 1.09, p=0.02, spread=0.03)
    family = replace(alone, adjusted_p=0.2, family=10)
    assert verdict(alone).outcome == "faster"
    found = verdict(family)
    assert found.outcome == "not-enough-data"
    assert (
        "(95% CI 1.0 to 9.0, not significant when corrected for 10 comparisons), n=5 vs 5" in found.sentence
    )


@pytest.mark.parametrize("outcome", ["faster", "slower"])
def test_a_less_durable_winner_is_never_named_without_saying_so(outcome: str) -> None:
    safe, unsafe = Side("commit=1", LABELS[0]), Side("commit=2", LABELS[1])
    ratio = given_ratio(1.5, 1.4, 1.6) if outcome == "faster" else given_ratio(0.5, 0.4, 0.6)
    left, right = (unsafe, safe) if outcome == "faster" else (safe, unsafe)
    found = verdict(ratio, left, right)
    assert found.outcome == outcome
    assert found.sentence.endswith(
        "; but commit=2 is less durable (loses up to 1 s on OS crash) than commit=1 (durable)"
    )


def test_the_labels_are_those_that_trials_get_in_the_same_order() -> None:
    assert tuple(level.label for level in sorted(Level, reverse=True)) == LABELS


def test_a_more_durable_winner_needs_no_note() -> None:
    safe, unsafe = Side("commit=1", LABELS[0]), Side("commit=0", LABELS[3])
    assert verdict(given_ratio(1.5, 1.4, 1.6), safe, unsafe).durability_note is None
    assert verdict(given_ratio(1.5, 1.4, 1.6), A, unsafe).durability_note is None


def test_the_durability_of_a_point_is_that_of_its_least_durable_trial() -> None:
    trials = [
        measured(LEFT, block, {10: 200 + block}, durability=LABELS[2] if block == 1 else LABELS[0])
        for block in range(4)
    ]
    trials += [measured(RIGHT, block, {10: 100 + block}) for block in range(4)]
    found = judge_points(trials, LEFT, RIGHT, QUERIES_PER_SECOND).overall
    assert found.durability_note == (
        "but cache = 450 is less durable (loses up to 1 s on server crash) than cache = 8 (durable)"
    )


def test_identical_values_are_no_difference_without_a_precision() -> None:
    found = overall([100, 100, 100], [100, 100, 100])
    assert (found.outcome, found.ratio.interval) == ("no-difference", None)
    assert found.sentence == (
        "no difference between cache = 450 and cache = 8: identical values in every trial, n=3 vs 3"
    )


def test_identical_values_that_differ_leave_nothing_to_judge_by() -> None:
    found = overall([110, 110, 110], [100, 100, 100])
    assert (found.outcome, found.more_trials) == ("not-enough-data", None)
    assert found.sentence == (
        "cache = 450 vs cache = 8: 10% apart, without a spread: identical values in every trial, n=3 vs 3"
    )
    few = overall([110, 110], [100, 100]).sentence
    assert few.endswith("n=2 vs 2; at least 1 more trial of each needed")


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_a_trial_whose_metric_is_no_number_is_left_out(broken: float) -> None:
    good = pair_of_points([110, 111, 113], [100, 101, 102])
    trial = measured(LEFT, 3, {10: 111})
    bad = replace(trial, phases=(replace(trial.phases[0], queries_per_second=broken),))
    found = judge_points([*good, bad], LEFT, RIGHT, QUERIES_PER_SECOND)
    assert found == judge_points(good, LEFT, RIGHT, QUERIES_PER_SECOND)
    assert not_finite(bad, QUERIES_PER_SECOND) == (10,)


def test_service_and_response_times_are_never_compared() -> None:
    trials = [
        replace(trial, phases=tuple(replace(phase, latency_kind="response") for phase in trial.phases))
        if trial.point_id == LEFT.point_id
        else trial
        for trial in pair_of_points([110, 111, 113], [100, 101, 102])
    ]
    found = judge_points(trials, LEFT, RIGHT, LATENCY_P95)
    assert found.overall.sentence == (
        "cache = 450 cannot be compared with cache = 8: its latency is response time, the other's service "
        "time, n=3 vs 3"
    )
    assert (found.overall.outcome, found.overall.more_trials) == ("not-enough-data", None)
    assert judge_points(trials, LEFT, RIGHT, QUERIES_PER_SECOND).overall.outcome == "faster"


def test_looking_again_and_again_asks_for_more_and_says_so() -> None:
    looked = standard_of(DesignRecord(until=0.03, first_look=3, at_most=20))
    assert (looked.looks, looked.level) == (18, nominal_level(3, 20))
    ratio = replace(given_ratio(1.123, 1.094, 1.148, p=0.02))
    assert verdict(ratio).outcome == "faster"
    assert judge(ratio, A, B, QUERIES_PER_SECOND, looked).outcome == "not-enough-data"
    assert judge(given_ratio(1.123, 1.094, 1.148), A, B, QUERIES_PER_SECOND, looked).sentence == (
        "450 is faster than 8 by 12.3% (95% CI 9.4 to 14.8, corrected for looking up to 18 times), n=5 vs 5"
    )
    assert standard_of(DesignRecord()) == Standard()


def test_the_interval_of_a_sequential_design_is_at_the_level_of_its_looks() -> None:
    trials = pair_of_points([110, 111, 113, 108], [100, 101, 102, 99])
    looked = standard_of(DesignRecord(until=0.03, first_look=3, at_most=10))
    once, often = (
        judge_points(trials, LEFT, RIGHT, QUERIES_PER_SECOND, standard).overall.ratio.interval
        for standard in (Standard(), looked)
    )
    assert once is not None
    assert often is not None
    assert often.low < once.low < once.high < often.high


def test_the_margin_is_the_callers() -> None:
    ratio = given_ratio(1.004, 0.96, 1.04, p=0.4)
    assert judge(ratio, A, B, QUERIES_PER_SECOND).outcome == "not-enough-data"
    assert judge(ratio, A, B, QUERIES_PER_SECOND, Standard(margin=0.05)).outcome == "no-difference"
    small = judge(given_ratio(1.02, 1.01, 1.04), A, B, QUERIES_PER_SECOND, Standard(margin=0.05))
    assert small.sentence.endswith("; a real difference, but within the equivalence margin of 5%")


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (1.0301, 1.0899, "3.0 to 9.0"),
        (1.002, 1.062, "0.2 to 6.2"),
        (1.0004, 1.0009, "0.04 to 0.09"),
        (1.5, 3.0, "50.0 to 200"),
        (1.00001, 1.00002, "0.001 to 0.002"),
    ],
)
def test_bounds_have_the_digits_of_tables_and_charts_and_are_never_rounded_to_zero(
    low: float, high: float, shown: str
) -> None:
    assert f"(95% CI {shown})" in verdict(given_ratio((low * high) ** 0.5, low, high)).sentence


def test_the_number_of_trials_grows_with_the_spread_and_with_the_family() -> None:
    needs = [more_trials(given_ratio(1.02, p=0.5, n=3, spread=s)) for s in (0.02, 0.03, 0.04, 0.4)]
    assert needs[-1] is None
    counts = [need for need in needs if need is not None]
    assert counts == sorted(set(counts))
    alone = given_ratio(1.02, p=0.5, n=3, spread=0.04)
    family = replace(alone, family=40)
    assert (more_trials(family) or 0) > (more_trials(alone) or 0)


def test_as_many_trials_as_were_asked_for_do_settle_it_more_often_than_not() -> None:
    noise = random.Random(8)
    settled = asked = 0
    while asked < 60:
        left = [100 * noise.gauss(1.08, 0.05) for _ in range(3)]
        right = [100 * noise.gauss(1, 0.05) for _ in range(3)]
        first = overall(left, right)
        if first.outcome != "not-enough-data" or first.more_trials is None or first.more_trials > 40:
            continue
        asked += 1
        left += [100 * noise.gauss(1.08, 0.05) for _ in range(first.more_trials)]
        right += [100 * noise.gauss(1, 0.05) for _ in range(first.more_trials)]
        settled += overall(left, right).outcome != "not-enough-data"
    assert settled / asked > 0.4


def test_equal_points_are_distinguished_in_at_most_one_of_twenty_experiments() -> None:
    noise = random.Random(4)
    alarms = 0
    for _ in range(300):
        trials = [
            measured(point, block, {count: 1000 * noise.gauss(1, 0.03) for count in (1, 10, 100)})
            for point in (LEFT, RIGHT)
            for block in range(5)
        ]
        found = judge_points(trials, LEFT, RIGHT, QUERIES_PER_SECOND)
        alarms += found.overall.outcome in ("faster", "slower")
    assert alarms / 300 <= 0.085


def test_a_true_difference_of_ten_percent_is_found_in_the_noise_of_two() -> None:
    noise = random.Random(6)
    found = [
        overall(
            [1100 * noise.gauss(1, 0.02) for _ in range(5)], [1000 * noise.gauss(1, 0.02) for _ in range(5)]
        )
        for _ in range(60)
    ]
    assert sum(one.outcome == "faster" for one in found) >= 54
    assert not any(one.outcome == "slower" for one in found)


rates = st.lists(st.floats(1, 1e5), min_size=3, max_size=6)


@FEW
@given(rates, rates)
def test_swapping_the_sides_swaps_faster_and_slower(left: list[float], right: list[float]) -> None:
    swapped = {"faster": "slower", "slower": "faster"}
    one, other = overall(left, right), overall(right, left)
    assert other.outcome == swapped.get(one.outcome, one.outcome)


@FEW
@given(rates, rates)
def test_a_sentence_never_claims_what_the_interval_does_not(left: list[float], right: list[float]) -> None:
    found = overall(left, right)
    interval = found.ratio.interval
    if found.ratio.identical:
        assert interval is None
        return
    assert interval is not None
    if found.outcome == "faster":
        assert interval.low >= 1
    if found.outcome == "slower":
        assert interval.high <= 1
    if found.outcome == "no-difference":
        assert interval.low >= 1 / 1.03
        assert interval.high <= 1.03
    assert found.sentence.endswith(f"n={len(left)} vs {len(right)}") or ";" in found.sentence
