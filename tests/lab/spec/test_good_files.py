"""Every file in good/ and every shipped experiment is accepted, in each of its sizes."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from lab.spec.builders import document, experiment, workload
from mydyno.lab import spec

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
FILES = [*sorted((HERE / "good").glob("*.yaml")), *sorted((ROOT / "experiments").glob("*.yaml"))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_good_file_is_accepted_in_every_size_and_at_every_point(file: Path) -> None:
    plain = spec.load(file)
    for size in (None, *plain.sizes):
        chosen = spec.load(file, size)
        assert chosen.size == size
        for levels in chosen.combinations():
            assert chosen.variant(levels).workload.connections


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_setup_and_workload_are_the_same_after_a_way_through_json(file: Path) -> None:
    read = spec.load(file)
    for levels in read.combinations():
        variant = read.variant(levels)
        assert spec.Setup.model_validate_json(variant.setup.model_dump_json()) == variant.setup
        assert spec.Workload.model_validate_json(variant.workload.model_dump_json()) == variant.workload
        assert spec.Workload.model_validate(variant.workload.model_dump(mode="json")) == variant.workload


def test_the_guide_shows_only_experiments_that_are_accepted() -> None:
    guide = (ROOT / "docs" / "reference" / "experiment-file.md").read_text("utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
    assert len(blocks) == 6
    for block in blocks:
        spec.loads(block, "experiment-file.md")


def test_the_guide_shows_the_very_answer_to_its_wrong_file() -> None:
    guide = (ROOT / "docs" / "reference" / "experiment-file.md").read_text("utf-8")
    wrong = re.search(r"```yaml \(wrong\)\n(.*?)```.*?```text\n(.*?)\n```", guide, re.DOTALL)
    assert wrong is not None
    with pytest.raises(spec.SpecErrors) as caught:
        spec.loads(wrong.group(1), "thread-cache.yaml")
    assert str(caught.value) == wrong.group(2)


def test_quantities_become_seconds_rates_counts_and_connections() -> None:
    read = spec.load(HERE / "good" / "every-key.yaml")
    assert read.workload.generator == "oltp-read-write"
    assert read.workload.resolved is not None
    assert read.workload.resolved.rows == 4 * 20_000
    assert read.workload.connections == (1, 5, 10, 20, 30, 40, 50, 64, 100)
    assert read.workload.each is not None
    assert (read.workload.each.warmup, read.workload.each.measure) == (0.5, 2.0)
    assert (read.workload.arrival.kind, read.workload.arrival.rate) == ("poisson", 2500.0)
    assert read.workload.pause == 0
    assert read.sampling.every == 0.25


def test_the_text_of_the_file_is_kept_with_its_comments() -> None:
    file = ROOT / "experiments" / "thread-cache.yaml"
    assert spec.load(file, "toy").text == file.read_text("utf-8")


def test_the_thread_cache_experiment_asks_what_its_source_asked() -> None:
    read = spec.load(ROOT / "experiments" / "thread-cache.yaml", "full")
    assert read.workload.connections == tuple(range(10, 401, 10))
    assert sum(read.workload.connections) == 8200
    assert read.workload.each.rounds == 100
    assert read.workload.pause == 10.0
    assert read.setup.server.config["max_connections"].number == 450
    assert [level.name for level in read.factors[0].levels] == ["8", "450"]


def test_dashes_in_a_variable_name_are_underscores_wherever_it_is_set() -> None:
    read = experiment(
        factors="{server.config.max-connections: [100, 200]}",
        config="{max-connections: 50}",
    )
    values = [read.variant(levels).setup.server.config for levels in read.combinations()]
    assert [list(config) for config in values] == [["max_connections"], ["max_connections"]]
    assert [config["max_connections"].number for config in values] == [100, 200]


def test_on_and_off_stay_words_and_true_becomes_on() -> None:
    config = experiment(
        config="{event_scheduler: on, query_cache_type: OFF, skip_name_resolve: true}"
    ).setup.server.config
    assert {name: value.text for name, value in config.items()} == {
        "event_scheduler": "on",
        "query_cache_type": "OFF",
        "skip_name_resolve": "ON",
    }


@pytest.mark.parametrize(
    ("written", "number"),
    [("256M", 256 * 1024**2), ("8", 8), ("2g", 2 * 1024**3), ("-1", -1), ("1E", 1024**6), ("0.5", 0.5)],
)
def test_a_config_value_that_is_a_number_is_known_in_plain_units(written: str, number: float) -> None:
    assert experiment(config=f"{{some_size: {written}}}").setup.server.config["some_size"].number == number


@pytest.mark.parametrize(
    "written", ["ANSI", "ibdata1:12M:autoextend", "1/2", "/tmp/x", "on", "true", "2 apples"]
)
def test_a_config_value_that_is_no_number_is_left_as_it_is(written: str) -> None:
    assert experiment(config=f"{{some_word: {written}}}").setup.server.config["some_word"].number is None


def test_a_share_of_memory_becomes_whole_mebibytes() -> None:
    value = experiment(config="{innodb_buffer_pool_size: 33.3% of memory}").setup.server.config[
        "innodb_buffer_pool_size"
    ]
    assert value.share is not None
    assert (value.share.part, value.share.of) == (pytest.approx(0.333), "memory")
    assert value.share.size(16 * 1024**3) == 5455 * 1024**2


@pytest.mark.parametrize(("data", "pool"), [(1000, 800), (10, 8), (7, 6), (0, 6)])
def test_a_share_of_data_becomes_whole_mebibytes_and_never_less_than_a_pool_may_have(
    data: int, pool: int
) -> None:
    value = experiment(config="{innodb_buffer_pool_size: 80% of data}").setup.server.config[
        "innodb_buffer_pool_size"
    ]
    assert value.share is not None
    assert value.share.size(data * 1024**2) == pool * 1024**2


@pytest.mark.parametrize(
    ("written", "enabled", "port"), [("false", False, None), ("true", True, 0), ("{port: 3307}", True, 3307)]
)
def test_the_network_is_off_any_port_or_a_fixed_one(written: str, enabled: bool, port: int | None) -> None:
    network = experiment(setup=f"{{server: {{network: {written}}}}}").setup.server.network
    assert (network.enabled, network.port) == (enabled, port)


def test_without_a_network_key_there_is_no_network() -> None:
    assert not experiment().setup.server.network.enabled


def test_a_size_replaces_what_its_paths_name_and_nothing_else() -> None:
    text = document(
        workload=workload(pause="1s"),
        sizes="{full: {}, toy: "
        "{workload.connections: 7, server.config.max_connections: 9, design.repeats: 2}}",
    )
    full, toy = (spec.loads(text, "experiment.yaml", size) for size in ("full", "toy"))
    assert (toy.workload.connections, toy.design.repeats) == ((7,), 2)
    assert toy.setup.server.config["max_connections"].number == 9
    assert toy.workload.pause == full.workload.pause == 1.0
    assert (full.workload.connections, full.design.repeats) == ((2, 4), 5)
    assert "max_connections" not in full.setup.server.config


def test_levels_keep_the_names_that_the_file_gives_them() -> None:
    read = experiment(
        factors="{server.config.innodb_buffer_pool_size: [64M, 128M], workload.pause: {none: 0, long: 1s}}"
    )
    assert [[level.name for level in factor.levels] for factor in read.factors] == [
        ["64M", "128M"],
        ["none", "long"],
    ]
    pairs = [tuple(levels.values()) for levels in read.combinations()]
    assert pairs == list(itertools.product(["64M", "128M"], ["none", "long"]))


def test_the_place_of_a_value_is_that_of_the_level_or_size_that_sets_it() -> None:
    text = document(
        factors="{server.config.max_connections: [100, 200]}",
        config="{max_connections: 50}",
        sizes="{toy: {workload.pause: 5s}}",
    )
    read = spec.loads(text, "experiment.yaml", "toy")
    lines = text.split("\n")
    assert read.position("server.config.max-connections") == spec.Position(2, lines[1].index("50") + 1)
    assert read.position("workload.pause") == spec.Position(5, lines[4].index("5s") + 1)
    variant = read.variant({"server.config.max_connections": "200"})
    problem = variant.problem(("setup", "server", "config", "max_connections"), "is odd")
    assert str(problem) == f"experiment.yaml:3:{lines[2].index('200') + 1}: is odd (got 200)"
    key = variant.problem(
        ("setup", "server", "config", "max_connections"), "is odd", nearest="even", at_key=True
    )
    assert str(key) == "experiment.yaml:3:11: is odd (got 200); did you mean even?"


def test_the_place_of_something_that_the_file_leaves_out_is_what_encloses_it() -> None:
    read = experiment(config="{max_connections: 50}")
    line = document(config="{max_connections: 50}").split("\n")[1]
    assert read.position("server.config.sort_buffer_size") == spec.Position(2, line.index("config") + 1)
    assert read.position("design.repeats") == spec.Position(1, 1)
