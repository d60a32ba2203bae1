"""Ranges in steps, conditions between paths, points that mean the same."""

from __future__ import annotations

from random import Random

import pytest

from mydyno.lab.spec.search import Parameter
from mydyno.tune.space import STEPS, dimension, key_of, steps
from tune.builders import HANDLING, METHOD, POOL, SPACE, THREADS


def test_a_range_of_sizes_is_divided_into_equal_ratios_of_whole_mebibytes() -> None:
    values = steps(64 << 20, 1 << 30, True, "size")
    assert values[0] == "64M"
    assert values[-1] == "1024M"
    assert values[STEPS // 2] == "256M"


def test_a_short_range_has_each_number_once() -> None:
    assert steps(1, 4, False, "whole") == (1, 2, 3, 4)


def test_words_keep_their_order_and_numbers_are_sorted_by_size() -> None:
    assert dimension("a", Parameter(values=("O_DIRECT", "fsync"))).values == ("O_DIRECT", "fsync")
    sizes = dimension("a", Parameter(values=("1G", "512M", "2G")))
    assert sizes.ordered
    assert sizes.values == ("512M", "1G", "2G")


def test_a_conditional_path_is_there_only_under_its_value() -> None:
    alone = SPACE.nearest({POOL: "64M", METHOD: "fsync", HANDLING: "one-thread-per-connection", THREADS: 4})
    assert THREADS not in alone
    pooled = SPACE.nearest({HANDLING: "pool-of-threads", THREADS: 3})
    assert pooled[THREADS] in (2, 4)


@pytest.mark.parametrize("seed", range(20))
def test_random_points_have_exactly_their_active_paths(seed: int) -> None:
    point = SPACE.random(Random(seed))
    assert (THREADS in point) == (point[HANDLING] == "pool-of-threads")
    assert [each.path for each in SPACE.active(point)] == list(point)


def test_a_space_without_a_path_has_none_that_depends_on_it() -> None:
    left = SPACE.without([HANDLING])
    assert [each.path for each in left.dimensions] == [POOL, METHOD]


def test_keys_are_equal_for_what_a_server_takes_as_equal() -> None:
    assert key_of({"a": "64M", "b": True}) == key_of({"b": "on", "a": 67108864})
    assert key_of({"a": "64M"}) != key_of({"a": "65M"})


def test_unseen_gives_every_point_once_and_then_none() -> None:
    taken: set[str] = set()
    while (point := SPACE.unseen(taken, Random(len(taken)))) is not None:
        assert key_of(point) not in taken
        taken.add(key_of(point))
    assert len(taken) == 3 * 2 * (1 + 3)
