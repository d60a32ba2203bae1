"""Orders with ties: over matched conditions, honest where ties are not transitive."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.builders import measured, timed
from mydyno.lab.analysis.metrics import QUERIES_PER_SECOND, RUNNING_TIME
from mydyno.lab.analysis.ranking import Ranking, display, groups, letters, ranking
from mydyno.lab.analysis.standard import LABELS
from mydyno.lab.results.records import PointRecord, TrialRecord

SPEED = {"jfs": 1.30, "xfs": 1.14, "reiserfs": 1.135, "ext3": 1.0}
MACHINES = {"small": 1000.0, "large": 3000.0}


def point(filesystem: str, machine: str) -> PointRecord:
    levels = {"filesystem": filesystem, "machine": machine}
    return PointRecord(point_id=f"{filesystem}-{machine}", levels=levels, title=f"{filesystem}, {machine}")


POINTS = [point(filesystem, machine) for filesystem in SPEED for machine in MACHINES]


def experiment(
    *, blocks: int = 5, noise: float = 0.01, speed: Mapping[str, float] = SPEED, seed: int = 1
) -> list[TrialRecord]:
    random_ = random.Random(seed)
    return [
        measured(
            each,
            block,
            {
                10: 100
                * MACHINES[each.levels["machine"]]
                * speed[each.levels["filesystem"]]
                * random_.gauss(1, noise)
            },
        )
        for block in range(blocks)
        for each in POINTS
    ]


def only(trials: list[TrialRecord], **where: str) -> Ranking:
    (found,) = ranking(trials, POINTS, "filesystem", QUERIES_PER_SECOND, where=where)
    return found


def test_levels_that_differ_are_ordered_and_others_tied() -> None:
    found = only(experiment())
    assert found.display == "jfs > xfs, reiserfs (not distinguishable) > ext3"
    assert found.levels == ("jfs", "xfs", "reiserfs", "ext3")
    assert found.letters == {"jfs": "a", "xfs": "b", "reiserfs": "b", "ext3": "c"}
    assert found.test == "paired bootstrap-t on logarithms over 5 blocks, corrected for 6 pairs (Holm)"


def test_each_group_has_an_order_of_its_own() -> None:
    trials = experiment()
    assert only(trials, machine="small").levels[0] == "jfs"
    slower = {"jfs": 0.5}
    turned = [
        measured(
            point(trial.levels["filesystem"], "large"),
            trial.block,
            {10: (trial.phases[0].queries_per_second or 0) * slower.get(trial.levels["filesystem"], 1)},
        )
        if trial.levels["machine"] == "large"
        else trial
        for trial in trials
    ]
    assert only(turned, machine="small").levels[0] == "jfs"
    assert only(turned, machine="large").levels[-1] == "jfs"


def test_of_times_the_shortest_is_best() -> None:
    wobble = (1.0, 1.01, 0.99, 1.005)
    trials = [
        timed(each, block, {"insert": 100 / SPEED[each.levels["filesystem"]] * wobble[(block + number) % 4]})
        for block in range(4)
        for number, each in enumerate(POINTS)
    ]
    (found,) = ranking(trials, POINTS, "filesystem", RUNNING_TIME)
    assert found.levels[0] == "jfs"
    assert found.levels[-1] == "ext3"


def test_without_repetitions_the_conditions_are_the_repetitions() -> None:
    random_ = random.Random(3)
    kernels = ("2.4", "2.6.8", "2.6.12", "2.6.14", "2.6.16", "2.6.18")
    points = [
        PointRecord(
            point_id=f"{filesystem}-{kernel}",
            levels={"filesystem": filesystem, "kernel": kernel},
            title=f"{filesystem}, {kernel}",
        )
        for filesystem in SPEED
        for kernel in kernels
    ]
    shared = {kernel: random_.uniform(0.5, 2) for kernel in kernels}
    trials = [
        measured(
            each,
            0,
            {
                10: 1e5
                * shared[each.levels["kernel"]]
                * SPEED[each.levels["filesystem"]]
                * random_.gauss(1, 0.01)
            },
        )
        for each in points
    ]
    (found,) = ranking(trials, points, "filesystem", QUERIES_PER_SECOND)
    assert found.display == "jfs > xfs, reiserfs (not distinguishable) > ext3"
    assert "over 6 conditions" in found.test
    assert {pair.ratio.n_left for pair in found.pairs} == {6}


def test_what_was_never_measured_side_by_side_is_not_compared() -> None:
    apart = [
        trial
        for trial in experiment()
        if (trial.levels["filesystem"] == "jfs") == (trial.levels["machine"] == "small")
    ]
    found = only(apart)
    assert "jfs" not in found.levels


def test_a_level_that_was_measured_too_seldom_has_no_place() -> None:
    seldom = [trial for trial in experiment() if trial.levels["filesystem"] != "ext3" or trial.block < 2]
    found = only(seldom)
    assert found.untested == ("ext3",)
    assert found.display == "jfs > xfs, reiserfs (not distinguishable)"
    assert found.test.endswith("; too rarely measured side by side: ext3")


def test_levels_of_other_durability_are_ranked_apart() -> None:
    trials = [
        replace(trial, durability=LABELS[1] if trial.levels["filesystem"] in ("jfs", "ext3") else LABELS[0])
        for trial in experiment()
    ]
    found = ranking(trials, POINTS, "filesystem", QUERIES_PER_SECOND)
    assert {(one.durability, one.display) for one in found} == {
        (LABELS[1], "jfs > ext3"),
        (LABELS[0], "xfs, reiserfs (not distinguishable)"),
    }


def test_two_trials_of_two_conditions_have_an_order_and_no_test() -> None:
    found = only(experiment(blocks=2))
    assert not found.tested
    assert found.display == "jfs, xfs, reiserfs, ext3 (not distinguishable)"
    assert found.test.startswith("no test")


def test_equal_levels_are_distinguished_in_at_most_one_of_twenty_experiments() -> None:
    same = dict.fromkeys(SPEED, 1.0)
    alarms = sum(">" in only(experiment(blocks=4, speed=same, seed=seed)).display for seed in range(40))
    assert alarms <= 5


def test_ties_that_are_not_transitive_are_reported() -> None:
    differ = [frozenset(("a", "c"))]
    assert letters(("a", "b", "c"), differ) == {"a": "a", "b": "ab", "c": "b"}
    assert display(("a", "b", "c"), differ) == "a, b, c (not distinguishable, but a > c)"
    assert display(
        ("a", "b", "c", "d"), [*differ, *map(frozenset, (("a", "d"), ("b", "d"), ("c", "d")))]
    ) == ("a, b, c (not distinguishable, but a > c) > d")
    assert display(("a",), []) == "a"


names = ("a", "b", "c", "d", "e")


@given(st.sets(st.sampled_from(list(itertools.combinations(names, 2)))))
def test_two_things_share_a_letter_exactly_when_they_cannot_be_distinguished(
    pairs: set[tuple[str, str]],
) -> None:
    differ = [frozenset(pair) for pair in pairs]
    found = letters(names, differ)
    for one, other in itertools.combinations(names, 2):
        assert bool(set(found[one]) & set(found[other])) == (frozenset((one, other)) not in differ)
    result = groups(names, differ)
    assert not any(set(one) < set(other) for one in result for other in result)


@pytest.mark.parametrize("order", [names, tuple(reversed(names))])
def test_a_display_never_claims_a_difference_that_is_not_shown(order: tuple[str, ...]) -> None:
    differ = [frozenset(("a", "b")), frozenset(("a", "e"))]
    before, _, rest = display(order, differ).partition(", but ")
    assert ">" not in before
    assert len(rest.split(", ")) == 2
