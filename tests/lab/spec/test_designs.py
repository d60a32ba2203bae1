"""Which points a design takes: properties that hold for every design of its kind."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.spec.builders import experiment
from mydyno.lab.spec.designs.aliases import aliases
from mydyno.lab.spec.designs.fraction import fraction, plackett_burman, words

TWO_LEVELS = (
    "server.config.max_connections: [20, 30]",
    "server.config.table_open_cache: [100, 200]",
    "server.config.sort_buffer_size: [1M, 2M]",
    "server.config.join_buffer_size: [1M, 2M]",
    "server.config.thread_cache_size: [1, 2]",
    "workload.pause: [0, 1s]",
)
NESTED = (
    "{array: {raid1: {server.config.max_connections: 20}, raid5: {server.config.max_connections: 30}, "
    "raid10: {server.config.max_connections: 40}}, "
    "server.config.table_open_cache: {when: {array: [raid5, raid10]}, levels: [100, 200]}, "
    "workload.pause: [0, 1s]}"
)


def factors(count: int) -> str:
    return "{" + ", ".join(TWO_LEVELS[:count]) + "}"


@pytest.mark.parametrize("count", range(2, 24))
def test_plackett_burman_runs_are_balanced_orthogonal_different_and_hold_the_first_levels(count: int) -> None:
    runs = plackett_burman(count).astype(int)
    assert len(runs) == 4 * (count // 4 + 1)
    assert not runs.sum(axis=0).any()
    assert (runs.T @ runs == len(runs) * np.eye(count)).all()
    assert len({tuple(run) for run in runs}) == len(runs)
    assert (runs == -1).all(axis=1).any()


@given(st.data())
def test_fractions_are_balanced_orthogonal_and_hold_every_combination_of_fewer_factors_than_their_resolution(
    data: st.DataObject,
) -> None:
    count = data.draw(st.integers(5, 11))
    fewest = next(size for size in range(2, 9) if 2**size > count)
    halvings = data.draw(st.integers(max(1, count - 7), count - fewest))
    runs = fraction(count, halvings).astype(int)
    resolution = len(words(count, halvings)[0])
    assert runs.shape == (2 ** (count - halvings), count)
    assert (runs.T @ runs == len(runs) * np.eye(count)).all()
    assert (runs == -1).all(axis=1).any()
    some = data.draw(st.permutations(range(count)))[: resolution - 1]
    seen = Counter(map(tuple, runs[:, some].tolist()))
    assert len(seen) == 2 ** len(some)
    assert len(set(seen.values())) == 1


@pytest.mark.parametrize(
    ("count", "halvings", "resolution", "shortest"),
    # The table of Box, Hunter and Hunter, and how many words are so short in the fractions of 32 runs and
    # fewer that Chen, Sun and Wu list (International Statistical Review 61, 1993).
    [
        *((count, 1, count, 1) for count in range(3, 10)),
        (5, 2, 3, 2), (6, 2, 4, 3), (6, 3, 3, 4), (7, 2, 4, 1), (7, 3, 4, 7), (7, 4, 3, 7), (8, 2, 5, 2),
        (8, 3, 4, 3), (8, 4, 4, 14), (9, 2, 6, 3), (9, 3, 4, 1), (9, 4, 4, 6), (9, 5, 3, 4), (10, 5, 4, 10),
        (11, 6, 4, 25), (15, 11, 3, 35), (16, 11, 4, 140),
    ],
)  # fmt: skip
def test_fractions_have_the_published_resolution_and_as_few_short_words(
    count: int, halvings: int, resolution: int, shortest: int
) -> None:
    lengths = [len(word) for word in words(count, halvings)]
    assert (lengths[0], lengths.count(resolution)) == (resolution, shortest)
    assert len(lengths) == 2**halvings - 1


def test_the_alias_table_names_factors_and_reports_what_is_turned_round() -> None:
    assert aliases(fraction(3, 1), ["pool", "log", "raid"]) == (
        "pool = -log×raid",
        "log = -pool×raid",
        "raid = -pool×log",
    )
    assert aliases(fraction(4, 1), "ABCD") == ("A×B = C×D", "A×C = B×D", "A×D = B×C")
    assert aliases(fraction(5, 1), "ABCDE") == ()
    [partly] = aliases(plackett_burman(11), [f"f{place}" for place in range(11)])
    assert partly == "each factor = ± 1/3 of each interaction of two others"


@given(st.integers(3, 7))
def test_what_the_alias_table_says_is_the_same_number_in_every_run(count: int) -> None:
    runs = fraction(count, 1).astype(int)
    names = "ABCDEFG"[:count]
    column = {name: runs[:, place] for place, name in enumerate(names)}
    for sentence in aliases(fraction(count, 1), names):
        one, _, other = sentence.partition(" = ")
        sign, other = (-1, other[1:]) if other.startswith("-") else (1, other)
        left, right = (np.prod([column[each] for each in side.split("×")], axis=0) for side in (one, other))
        assert (left == sign * right).all()


def test_a_fraction_of_an_experiment_begins_with_the_first_levels_and_says_what_it_mixes() -> None:
    read = experiment(factors=factors(5), design="{points: {fraction: 1/4}}")
    points = list(read.combinations())
    assert len(points) == 8
    assert tuple(points[0].values()) == ("20", "100", "1M", "1M", "1")
    assert read.chosen.resolution == 3
    assert len(read.chosen.defining) == 3
    assert read.chosen.aliases[0].startswith("max_connections = ")


def test_one_at_a_time_changes_one_factor_of_the_first_point() -> None:
    read = experiment(factors=factors(4), design="{points: one-at-a-time}")
    first, *others = read.combinations()
    changes = [[name for name in first if first[name] != other[name]] for other in others]
    assert changes == [[name] for name in first]


def test_a_nested_factor_varies_only_where_it_applies() -> None:
    points = [tuple(levels.values()) for levels in experiment(factors=NESTED).combinations()]
    assert points[:3] == [("raid1", "0"), ("raid1", "1s"), ("raid5", "100", "0")]
    assert len(points) == 2 * (1 + 2 + 2)


def test_one_at_a_time_goes_where_a_nested_factor_applies() -> None:
    read = experiment(factors=NESTED, design="{points: one-at-a-time}")
    assert [tuple(levels.values()) for levels in read.combinations()] == [
        ("raid1", "0"),
        ("raid5", "100", "0"),
        ("raid10", "100", "0"),
        ("raid5", "200", "0"),
        ("raid1", "1s"),
    ]


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 1]), st.sampled_from([0, 1])), max_size=4)
)
def test_every_point_obeys_the_constraints_and_no_other_is_left_out(
    excluded: list[tuple[int, int, int]],
) -> None:
    names = ("max_connections", "table_open_cache", "sort_buffer_size")
    levels = (("20", "30"), ("100", "200"), ("1M", "2M"))
    listed = [
        "{"
        + ", ".join(
            f"{name}: {levels[place][at]}" for place, (name, at) in enumerate(zip(names, each, strict=True))
        )
        + "}"
        for each in excluded
    ]
    design = f"{{exclude: [{', '.join(listed)}]}}" if listed else "{}"
    points = {tuple(point.values()) for point in experiment(factors=factors(3), design=design).combinations()}
    out = {tuple(levels[place][at] for place, at in enumerate(each)) for each in excluded}
    assert points == set(itertools.product(*levels)) - out


def test_only_keeps_what_one_of_its_entries_names_by_short_names_and_lists() -> None:
    read = experiment(
        factors=factors(2),
        design="{only: [{max_connections: 20, table_open_cache: [100, 200]}, "
        "{server.config.table_open_cache: 200}]}",
    )
    assert [tuple(levels.values()) for levels in read.combinations()] == [
        ("20", "100"),
        ("20", "200"),
        ("30", "200"),
    ]


def test_a_design_that_takes_few_of_many_points_needs_no_thousand() -> None:
    many = ", ".join(f"server.config.variable_{letter}: [1, 2]" for letter in "abcdefghijklmno")
    read = experiment(factors=f"{{{many}}}", design="{points: plackett-burman}")
    assert len(list(read.combinations())) == 16


def test_a_size_that_repeats_a_number_of_times_takes_the_place_of_until_and_the_other_way_round() -> None:
    sizes = "{toy: {design.repeats: 2}, fine: {design.until: 1%}}"
    sequential = experiment(design="{until: ±3%, at_most: 9}", sizes=sizes, size="toy").design
    assert (sequential.repeats, sequential.until, sequential.blocks) == (2, None, 2)
    fixed = experiment(design="{repeats: 5}", sizes=sizes, size="fine").design
    assert (fixed.until, fixed.blocks) == (0.01, 20)


@pytest.mark.parametrize("written", ["±3%", "3%", "+/-3%", "0.03"])
def test_a_precision_may_be_written_in_several_ways(written: str) -> None:
    assert experiment(design=f"{{until: {written}}}").design.until == pytest.approx(0.03)
