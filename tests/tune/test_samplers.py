"""Samplers on a recorded surface: 432 trials of a server, with the noise of a busy machine.

How it was recorded: benchmarks/record_surface.py. What is compared: benchmarks/samplers.py.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from mydyno.lab.plan.layers import changes_disks
from mydyno.lab.spec.search import Search
from mydyno.tune.samplers import SAMPLERS, Observation, proposals
from mydyno.tune.space import Dimension, Space, key_of
from tune.builders import HANDLING, SPACE, THREADS

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import samplers as replay

SURFACE = Path(__file__).parent / "surface.csv"
SEEDS, TRIALS = 15, 36


def test_the_surface_has_every_point_of_its_grid_twice() -> None:
    with SURFACE.open(newline="") as rows:
        trials = [row for row in csv.DictReader(rows) if row["load"] == "oltp-read-write"]
    assert len(trials) >= 400
    assert all(float(row["transactions_per_second"]) > 0 for row in trials)


@pytest.fixture(scope="module")
def surface() -> replay.Surface:
    return replay.read(SURFACE, "oltp-read-write")


@pytest.fixture(scope="module")
def medians(surface: replay.Surface) -> dict[str, list[float]]:
    """Median regret of each sampler after each trial; the same on every machine, since seeds are fixed."""
    trials = {"gp": TRIALS, "tpe": 20, "random": TRIALS}
    return {name: replay.medians([surface] * SEEDS, name, count) for name, count in trials.items()}


def test_a_model_has_less_regret_than_random_and_the_default_sampler_half_of_it(
    medians: dict[str, list[float]],
) -> None:
    assert Search.model_fields["sampler"].default == "gp"
    assert medians["tpe"][19] <= medians["random"][19] * 0.9, medians
    assert medians["gp"][19] <= medians["random"][19] * 0.5, medians


def test_the_default_sampler_is_as_good_as_the_best_within_5_percent_in_half_of_randoms_trials(
    medians: dict[str, list[float]],
) -> None:
    own = replay.trials_to(medians["gp"], 0.05)
    random = replay.trials_to(medians["random"], 0.05) or TRIALS
    assert own is not None
    assert 2 * own <= random


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_sampler_proposes_what_it_proposed_before_from_the_same_history(name: str) -> None:
    seen = [Observation(SPACE.nearest({}), (0.0,))]
    taken = {key_of(each.point) for each in seen}
    one, other = (SAMPLERS[name](SPACE, seen, taken, 7, 3) for _ in range(2))
    assert one == other
    assert not taken & {key_of(point) for point in one}


@pytest.mark.parametrize("name", SAMPLERS)
def test_proposals_have_exactly_their_active_paths(name: str) -> None:
    seen = [Observation(SPACE.nearest({}), (0.0,))]
    for _ in range(6):
        taken = {key_of(each.point) for each in seen}
        for point in SAMPLERS[name](SPACE, seen, taken, 3, 2):
            assert (THREADS in point) == (point[HANDLING] == "pool-of-threads")
            seen.append(Observation(point, (float(len(seen)),)))


def test_random_gives_no_more_points_than_the_space_has() -> None:
    points = SAMPLERS["random"](SPACE, [], set(), 1, 100)
    assert len(points) == 24


def test_one_at_a_time_changes_one_path_of_the_best() -> None:
    start = SPACE.nearest({})
    best = SPACE.nearest({HANDLING: "one-thread-per-connection", **start, next(iter(start)): "128M"})
    seen = [Observation(start, (0.0,)), Observation(best, (1.0,))]
    [point] = SAMPLERS["one-at-a-time"](SPACE, seen, {key_of(start), key_of(best)}, 1, 1)
    assert sum(point.get(path) != best.get(path) for path in best) == 1


@pytest.mark.parametrize("name", ["gp", "tpe"])
def test_what_could_not_be_measured_and_what_breaks_a_constraint_is_avoided_later(name: str) -> None:
    """The pool of 128M always fails: of later proposals fewer have it than of a history without failures."""
    pool = "server.config.innodb_buffer_pool_size"

    def proposed(broken: bool) -> int:
        count = 0
        for seed in range(1, 11):
            seen: list[Observation] = []
            for point in SAMPLERS["random"](SPACE, [], set(), seed, 14):
                large = point[pool] == "128M"
                seen.append(Observation(point, None if broken and large else (1.0 if large else 0.0,)))
            taken = {key_of(each.point) for each in seen}
            count += sum(point[pool] == "128M" for point in SAMPLERS[name](SPACE, seen, taken, seed, 2))
        return count

    assert proposed(broken=True) < proposed(broken=False)


@pytest.mark.parametrize("name", ["gp", "tpe"])
def test_two_objectives_are_sampled_too(name: str) -> None:
    seen = [
        Observation(point, (float(at), -float(at)))
        for at, point in enumerate(SAMPLERS["random"](SPACE, [], set(), 1, 12))
    ]
    taken = {key_of(each.point) for each in seen}
    points = SAMPLERS[name](SPACE, seen, taken, 1, 2)
    assert len({key_of(point) for point in points} - taken) == 2


@pytest.mark.parametrize("values", [None, (0.0,)])
def test_a_history_without_a_difference_is_sampled_too(values: tuple[float, ...] | None) -> None:
    seen = [Observation(point, values) for point in SAMPLERS["random"](SPACE, [], set(), 1, 12)]
    taken = {key_of(each.point) for each in seen}
    points = SAMPLERS["gp"](SPACE, seen, taken, 1, 3)
    assert len({key_of(point) for point in points} - taken) == 3


def test_a_process_gives_no_more_points_than_the_space_has() -> None:
    points = SAMPLERS["random"](SPACE, [], set(), 1, 100)
    seen = [Observation(point, (float(at),)) for at, point in enumerate(points[1:])]
    taken = {key_of(each.point) for each in seen}
    assert SAMPLERS["gp"](SPACE, seen, taken, 1, 3) == [points[0]]


FILESYSTEM, MOUNT, SCHEDULER = (f"storage.data.{key}" for key in ("filesystem", "mount", "scheduler"))
DISKS = Space(
    (
        Dimension(FILESYSTEM, ("ext4", "xfs"), False),
        Dimension(MOUNT, ("data=ordered", "data=writeback"), False, {FILESYSTEM: ("ext4",)}),
        Dimension(SCHEDULER, ("none", "mq-deadline"), False),
        *SPACE.dimensions,
    )
)
COSTLY = [each.path for each in DISKS.dimensions if changes_disks(each.path)]


@pytest.mark.parametrize("name", ["gp", "tpe", "random"])
def test_candidates_of_a_heat_share_disks_that_take_long_to_build(name: str) -> None:
    seen = [Observation(DISKS.nearest({}), (0.0,))]
    schedulers = set()
    for _ in range(8):
        taken = {key_of(each.point) for each in seen}
        points = proposals(name, DISKS, seen, taken, 5, 3, COSTLY)
        assert len(points) == len(taken.union(map(key_of, points))) - len(taken)
        assert len({(point[FILESYSTEM], point.get(MOUNT)) for point in points}) == 1
        schedulers.update(point[SCHEDULER] for point in points)
        seen += [Observation(point, (float(len(seen)),)) for point in points]
    assert schedulers == {"none", "mq-deadline"}


def test_a_heat_is_filled_from_other_disks_when_these_have_no_more_points() -> None:
    few = Space(DISKS.dimensions[:3])
    points = proposals("random", few, [], set(), 1, 6, COSTLY)
    assert len({key_of(point) for point in points}) == 6
    assert len({(point[FILESYSTEM], point.get(MOUNT)) for point in points[:2]}) == 1
