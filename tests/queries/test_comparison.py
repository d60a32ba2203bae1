"""What changed from one digest to another, and how sure that is."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mydyno.queries.change import FEWEST, chance_slower, ratio_of_means, ratio_of_rates
from mydyno.queries.comparison import Change, Comparison, compare, comparison_json
from mydyno.queries.filed import Filed
from mydyno.queries.records import Digest, Group, Measure

from .builders import NIGHT_US, digest, group, lognormal, measure, sample, sums

TIMES = st.lists(st.integers(1, 10**8), min_size=1, max_size=60)


def hour(*groups: Group) -> Digest:
    return digest(*groups)


def one(old: Group, new: Group) -> Change:
    (change,) = compare(hour(old), hour(new)).changes
    return change


def of(comparison: Comparison, id_: str) -> Change:
    return next(each for each in comparison.changes if each.id == id_)


def test_a_digest_does_not_differ_from_itself() -> None:
    found = compare(sample(), sample())
    assert {change.load for change in found.changes} == {0}
    assert {change.times for change in found.changes} <= {"alike", "unsure"}
    assert {change.calls for change in found.changes} <= {"alike", "unsure"}
    assert found.load == 0


def test_a_statement_that_only_one_side_has_is_new_or_gone_with_all_of_its_load() -> None:
    old, new = group("select ?", [1_000_000] * 36), group("select ? from t", [1_000_000] * 72)
    found = compare(hour(old), hour(new))
    assert [(each.times, each.load) for each in found.changes] == [("new", 0.02), ("gone", -0.01)]
    assert [(each.old is None, each.new is None) for each in found.changes] == [(True, False), (False, True)]


def test_slower_calls_are_distinguished_from_more_calls() -> None:
    old = lognormal(500, 10_000, seed=1)
    assert one(group("q", old), group("q", lognormal(500, 20_000, seed=2))).times == "slower"
    assert one(group("q", lognormal(500, 20_000, seed=2)), group("q", old)).times == "faster"
    more = one(group("q", old), group("q", old * 3))
    assert (more.times, more.calls) == ("alike", "more")
    assert one(group("q", old * 3), group("q", old)).calls == "fewer"


def test_more_calls_and_slower_calls_come_to_the_whole_change_of_the_load() -> None:
    change = one(group("q", [1_000_000] * 36), group("q", [3_000_000] * 72))
    assert change.load == pytest.approx(0.05)
    assert change.by_calls == pytest.approx(0.02)
    assert change.by_times == pytest.approx(0.03)


@given(TIMES, TIMES)
def test_the_parts_always_come_to_the_whole_and_turn_round_with_the_digests(
    old: list[int], new: list[int]
) -> None:
    there = one(group("q", old), group("q", new))
    back = one(group("q", new), group("q", old))
    assert there.load is not None
    assert there.by_calls is not None
    assert there.by_times is not None
    assert there.by_calls + there.by_times == pytest.approx(there.load, abs=1e-12)
    assert back.load == pytest.approx(-there.load)
    assert back.by_times == pytest.approx(-there.by_times)


def test_the_largest_change_of_load_comes_first() -> None:
    old = hour(group("a", [1_000] * 40), group("b", [2_000_000] * 40))
    new = hour(group("a", [9_000] * 40), group("b", [1_000_000] * 40))
    assert [each.fingerprint for each in compare(old, new).changes] == ["b", "a"]


def test_few_calls_have_a_ratio_but_no_verdict() -> None:
    change = one(group("q", [1_000] * (FEWEST - 1)), group("q", [5_000] * 500))
    assert change.times == "unsure"
    assert change.mean_ratio is not None
    assert change.mean_ratio.value == 5
    assert change.mean_ratio.low is None


def test_sums_alone_have_a_ratio_but_no_verdict() -> None:
    change = one(group("q", sums(100, 100_000)), group("q", sums(100, 300_000)))
    assert change.times == "unsure"
    assert change.mean_ratio is not None
    assert (change.mean_ratio.value, change.chance_slower) == (3, None)


def test_a_difference_that_is_smaller_than_a_tenth_is_no_change_however_many_calls_show_it() -> None:
    change = one(group("q", [1_000] * 9_000), group("q", [1_050] * 9_000))
    assert change.times == "alike"


def test_windows_of_different_lengths_are_compared_by_the_second() -> None:
    day = group("q", [1_000] * 24_000, last_us=NIGHT_US + 86_400_000_000)
    change = one(day, group("q", [1_000] * 1_000))
    assert change.calls == "alike"
    assert change.load == pytest.approx(0)


def test_without_the_length_of_a_window_times_are_compared_and_calls_are_not() -> None:
    at_once = group("q", [1_000] * 50, last_us=NIGHT_US)
    found = compare(hour(at_once), hour(group("q", [3_000] * 50)))
    (change,) = found.changes
    assert (change.times, change.calls, change.load, found.load) == ("slower", None, None, None)


def test_since_and_until_bound_the_window() -> None:
    whole = hour(group("q", [1_000] * 50))
    half = whole.model_copy(update={"until_us": NIGHT_US + 1_800_000_000})
    assert (whole.seconds, half.seconds) == (3_600, 1_800)


def test_a_statement_that_is_not_timed_is_not_judged() -> None:
    untimed = group("q", sums(0, 0), count=40)
    assert one(untimed, group("q", [1_000] * 40)).mean_ratio is None


@given(TIMES, TIMES)
def test_the_interval_holds_the_ratio_and_is_the_same_every_time(old: list[int], new: list[int]) -> None:
    ratio = ratio_of_means(measure(old), measure(new))
    assert ratio == ratio_of_means(measure(old), measure(new))
    assert ratio is not None
    assert ratio.value == pytest.approx(sum(new) / len(new) / (sum(old) / len(old)))
    if min(len(old), len(new)) >= FEWEST:
        assert ratio.low is not None
        assert ratio.high is not None
        assert 0 < ratio.low <= ratio.value <= ratio.high < math.inf


def test_the_interval_holds_the_true_ratio_nearly_as_often_as_it_says() -> None:
    held = 0
    for seed in range(200):
        old = measure(lognormal(100, 10_000, 0.7, seed=2 * seed))
        new = measure(lognormal(100, 20_000, 0.7, seed=2 * seed + 1))
        ratio = ratio_of_means(old, new)
        assert ratio is not None
        assert ratio.low is not None
        assert ratio.high is not None
        held += ratio.low <= 2 <= ratio.high
    assert held >= 180


def test_rates_of_few_calls_have_wide_intervals() -> None:
    few, many = ratio_of_rates(4, 60, 6, 60), ratio_of_rates(40_000, 60, 60_000, 60)
    assert few.value == many.value == 1.5
    assert (few.is_more, many.is_more) == (False, True)


@given(TIMES, TIMES)
def test_the_chance_that_a_call_is_slower_is_that_of_all_pairs_of_calls(
    old: list[int], new: list[int]
) -> None:
    before, after = measure(old), measure(new)
    chance, back = chance_slower(before, after), chance_slower(after, before)
    assert chance is not None
    assert back is not None
    assert chance + back == pytest.approx(1)
    bounds = [[bound for bound, count in side.histogram for _ in range(count)] for side in (before, after)]
    wins = sum((b > a) + (a == b) / 2 for a in bounds[0] for b in bounds[1])
    assert chance == pytest.approx(wins / len(old) / len(new))


def test_a_comparison_comes_back_from_its_json() -> None:
    slower = sample().model_copy(update={"groups": sample().groups[1:]})
    found = compare(sample(), slower)
    assert Comparison.model_validate_json(found.model_dump_json()) == found
    assert of(found, sample().groups[0].id).times == "gone"


def test_all_calls_of_one_time_have_an_interval_without_width() -> None:
    ratio = ratio_of_means(Measure(unit="us", count=50, sum=50, histogram=((1, 50),)), measure([2] * 50))
    assert ratio is not None
    assert (ratio.low, ratio.value, ratio.high) == (2, 2, 2)


def test_a_comparison_in_a_file_is_the_same_and_is_written_part_by_part() -> None:
    slower = sample().model_copy(update={"groups": sample().groups[1:]})
    held = compare(sample(), slower)
    sides = [each.model_copy(update={"groups": Filed(Group, each.groups)}) for each in (sample(), slower)]
    filed = compare(*sides, in_file=True)
    assert filed.changes[:] == held.changes
    assert Comparison.model_validate_json("".join(comparison_json(filed))) == held
    assert Comparison.model_validate_json("".join(comparison_json(compare(digest(), digest())))).changes == ()


def test_records_in_a_file_are_a_sequence() -> None:
    groups = sample().groups
    filed = Filed(Group, groups)
    assert (len(filed), tuple(filed)) == (len(groups), groups)
    assert (filed[-1], filed[1:3]) == (groups[-1], groups[1:3])
    assert tuple(Filed(Group, groups, lambda group: group.id)) == tuple(
        sorted(groups, key=lambda group: group.id)
    )
    with pytest.raises(IndexError):
        filed[len(groups)]
