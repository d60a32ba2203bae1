"""The order of trials: whole blocks, a function of the seed, nothing expensive rebuilt without need."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.spec.builders import experiment, workload
from mydyno.core.facts import HostFacts
from mydyno.lab import plan
from mydyno.lab.plan.layers import LAYERS, layer_keys, rebuilds
from mydyno.lab.plan.order import blocked, trial_seed

FACTS = HostFacts(memory_bytes=16 * 1024**3, cpus=2, free_disk_bytes=100 * 1024**3)
SEEDS = st.integers(0, 2**32 - 1)
patient = settings(deadline=None)  # a busy machine is no failure

# Levels for each layer; a point takes one of each, as hosts and binaries differ in a real plan.
KEYS = st.lists(st.tuples(*(st.integers(0, 2) for _ in LAYERS)), min_size=1, max_size=40, unique=True)


def keyed(levels: list[tuple[int, ...]]) -> list[tuple[int, tuple[tuple[str, str], ...]]]:
    """Points as their numbers, each with layer keys made of its levels."""
    return [
        (number, tuple((layer, str(level)) for layer, level in zip(LAYERS, each, strict=True)))
        for number, each in enumerate(levels)
    ]


@patient
@given(KEYS, SEEDS, st.integers(1, 50))
def test_each_block_holds_each_point_once(levels: list[tuple[int, ...]], seed: int, block: int) -> None:
    assert sorted(blocked(keyed(levels), seed, block)) == list(range(len(levels)))


@patient
@given(KEYS, SEEDS, st.integers(1, 50))
def test_the_same_seed_gives_the_same_order(levels: list[tuple[int, ...]], seed: int, block: int) -> None:
    assert blocked(keyed(levels), seed, block) == blocked(keyed(levels), seed, block)


@patient
@given(SEEDS, SEEDS)
def test_other_seeds_give_other_orders(one: int, other: int) -> None:
    points = keyed([(0, 0, 0, 0, 0, workload) for workload in range(40)])
    orders_are_equal = blocked(points, one, 1) == blocked(points, other, 1)
    assert orders_are_equal == (one == other)


@patient
@given(SEEDS, st.lists(st.integers(1, 1000), min_size=2, max_size=6, unique=True))
def test_blocks_are_shuffled_independently(seed: int, blocks: list[int]) -> None:
    points = keyed([(0, 0, 0, 0, 0, workload) for workload in range(40)])
    orders = {tuple(blocked(points, seed, block)) for block in blocks}
    assert len(orders) == len(blocks)


@patient
@given(KEYS, SEEDS, st.integers(1, 50))
def test_points_that_share_a_layer_and_all_below_it_stand_together(
    levels: list[tuple[int, ...]], seed: int, block: int
) -> None:
    order = blocked(keyed(levels), seed, block)
    for depth in range(1, len(LAYERS) + 1):
        runs = [prefix for prefix, _ in groupby(levels[number][:depth] for number in order)]
        assert len(runs) == len(set(runs))


@settings(deadline=None, max_examples=10)
@given(SEEDS)
def test_every_place_in_a_block_is_equally_likely(seed: int) -> None:
    points = keyed([(0, 0, 0, 0, 0, workload) for workload in range(4)])
    blocks = 400
    firsts = [blocked(points, seed, block)[0] for block in range(blocks)]
    for point in range(4):
        # A binomial count of 400 x 1/4: 8.7 is its standard deviation, and 6 of them never happen.
        assert abs(firsts.count(point) - 100) < 52


def full_plan(seed: int, order: str = "blocked") -> plan.Plan:
    """Twelve points over three layers, three blocks."""
    return plan.make(
        experiment(
            factors="{workload.pause: [0, 1s], server.config.max_connections: [100, 200], "
            "workload.smack.rows: [10, 20, 30]}",
            design=f"{{repeats: 3, seed: {seed}, order: {order}, control: false}}",
        ),
        FACTS,
    )


@patient
@given(st.integers(0, 1000))
def test_each_layer_is_raised_as_rarely_as_a_block_allows(seed: int) -> None:
    made = full_plan(seed)
    for block in (1, 2, 3):
        points = [made.point(trial.point_id) for trial in made.trials if trial.block == block]
        counts = rebuilds(points)
        keys = [layer_keys(point) for point in points]
        for depth, layer in enumerate(LAYERS, start=1):
            # Whatever the order, each distinct stack of layers up to this one has to be raised once.
            assert counts[layer] == len({each[:depth] for each in keys})
    assert rebuilds(made.points) == {
        "host": 1,
        "storage": 1,
        "release": 1,
        "dataset": 12,
        "config": 12,
        "workload": 12,
    }


@patient
@given(st.integers(0, 1000))
def test_the_trials_of_a_release_stand_together_in_every_block(seed: int) -> None:
    made = plan.make(
        experiment(
            factors="{server.config.max_connections: [100, 200], server.release: [system, mysql-5.6, 10.11]}",
            design=f"{{repeats: 2, seed: {seed}}}",
        ),
        FACTS,
    )
    for block in (1, 2):
        points = [made.point(trial.point_id) for trial in made.trials if trial.block == block]
        releases = [release for release, _ in groupby(point.setup.server.release for point in points)]
        assert sorted(releases) == ["10.11", "mysql-5.6", "system"], "10.11 is a name and no number"
        assert rebuilds(points)["release"] == rebuilds(points)["dataset"] == 3


@patient
@given(st.integers(0, 1000))
def test_a_plan_visits_every_point_in_every_block(seed: int) -> None:
    made = full_plan(seed)
    everything = sorted(point.id for point in made.points)
    for block in (1, 2, 3):
        assert sorted(trial.point_id for trial in made.trials if trial.block == block) == everything
    assert [trial.index for trial in made.trials] == list(range(36))
    assert [trial.id for trial in made.trials][::35] == ["t001", "t036"]
    assert [trial.block for trial in made.trials] == sorted(trial.block for trial in made.trials)


def test_sequential_order_is_that_of_the_file_in_every_block() -> None:
    made = full_plan(1, order="sequential")
    written = [f"p{number}" for number in range(1, 13)]
    assert [trial.point_id for trial in made.trials] == written * 3


def test_all_points_of_a_block_meet_the_same_random_numbers() -> None:
    made = full_plan(7)
    seeds = {
        trial.block: {each.seed for each in made.trials if each.block == trial.block} for trial in made.trials
    }
    assert [len(each) for each in seeds.values()] == [1, 1, 1]
    assert len(set.union(*seeds.values())) == 3


@patient
@given(SEEDS, st.integers(1, 1000))
def test_a_trial_seed_fits_into_32_bits(seed: int, block: int) -> None:
    assert 0 <= trial_seed(seed, block) < 2**32


@pytest.mark.parametrize(
    ("factor", "layer"),
    [
        ("server.config.innodb_page_size: [8k, 16k]", "dataset"),
        ("server.config.max_connections: [100, 200]", "config"),
        ("server.network: [false, true]", "config"),
        ("workload.smack.rows: [10, 20]", "dataset"),
        ("workload.smack.scenario: [select-key, update-select]", "workload"),
        ("workload.connections: [[1, 2], [4]]", "workload"),
        ("server: {system: {release: system}, other: {binary: /opt/mariadbd}}", "release"),
    ],
)
def test_a_factor_changes_the_layer_that_it_belongs_to(factor: str, layer: str) -> None:
    one, other = plan.make(experiment(factors=f"{{{factor}}}"), FACTS).points
    pairs = zip(layer_keys(one), layer_keys(other), strict=True)
    assert next(before[0] for before, after in pairs if before != after) == layer


@pytest.mark.parametrize(
    ("option", "layer"),
    [
        ("tables: [1, 2]", "dataset"),
        ("table_size: [10, 20]", "dataset"),
        ("storage_engine: [innodb, aria]", "dataset"),
        ("distribution: [special, uniform]", "dataset"),
        ("prepared: [false, true]", "workload"),
        ("range_size: [10, 20]", "workload"),
    ],
)
def test_a_sysbench_option_changes_the_dataset_only_if_the_tables_differ(option: str, layer: str) -> None:
    read = experiment(
        factors=f"{{workload.oltp-read-only.{option}}}", workload=workload("oltp-read-only: {tables: 1}")
    )
    one, other = plan.make(read, FACTS).points
    pairs = zip(layer_keys(one), layer_keys(other), strict=True)
    assert next(before[0] for before, after in pairs if before != after) == layer
