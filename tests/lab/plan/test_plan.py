"""A plan as a value: what it holds, what it costs, what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.spec.builders import document, experiment, workload
from mydyno.core.facts import HostFacts
from mydyno.lab import plan, spec
from mydyno.lab.plan.estimate import QUERIES_PER_SECOND, load_seconds, queries_per_transaction
from mydyno.lab.plan.memory import memory_sum

GIB = 1024**3
FACTS = HostFacts(memory_bytes=16 * GIB, cpus=2, free_disk_bytes=100 * GIB)
ROOT = Path(__file__).parents[3]
TWO_POOLS = "{server.config.innodb_buffer_pool_size: [25% of memory, 50% of memory]}"


@pytest.mark.parametrize(
    "file",
    [*sorted((ROOT / "tests/lab/spec/good").glob("*.yaml")), *sorted((ROOT / "experiments").glob("*.yaml"))],
    ids=lambda file: file.stem,
)
def test_a_plan_is_the_same_after_a_way_through_json(file: Path) -> None:
    for size in (None, *spec.load(file).sizes):
        made = plan.make(spec.load(file, size), FACTS)
        assert plan.Plan.model_validate_json(made.model_dump_json()) == made
        assert plan.Plan.model_validate(json.loads(made.model_dump_json())) == made


def test_points_are_numbered_as_written_and_the_last_factor_varies_fastest() -> None:
    made = plan.make(
        experiment(factors="{workload.pause: [0, 1s], workload.smack.rows: [10, 20]}"),
        FACTS,
    )
    assert [(point.id, tuple(point.levels.values())) for point in made.points] == [
        ("p1", ("0", "10")),
        ("p2", ("0", "20")),
        ("p3", ("1s", "10")),
        ("p4", ("1s", "20")),
    ]
    assert made.points[1].title == "pause = 0, rows = 20"


def test_an_experiment_without_factors_has_one_point_and_as_many_trials_as_repeats() -> None:
    made = plan.make(experiment(design="{repeats: 4}"), FACTS)
    assert [point.levels for point in made.points] == [{}]
    assert [trial.block for trial in made.trials] == [1, 2, 3, 4]


def test_a_named_factor_sets_all_its_paths_at_its_point() -> None:
    made = plan.make(
        experiment(
            factors="{size: {small: {workload.smack.rows: 10, server.config.max_connections: 20}, "
            "large: {workload.smack.rows: 1000}}}",
            config="{max_connections: 50}",
        ),
        FACTS,
    )
    limits = [point.setup.server.config["max_connections"].number for point in made.points]
    rows = [point.workload.smack.rows for point in made.points if point.workload.smack]
    assert (limits, rows) == ([20, 50], [10, 1000])


def test_a_share_of_memory_is_worked_out_for_the_machine() -> None:
    made = plan.make(experiment(factors=TWO_POOLS), FACTS)
    values = [point.setup.server.config["innodb_buffer_pool_size"].number for point in made.points]
    assert values == [4 * GIB, 8 * GIB]
    assert [point.title for point in made.points] == [
        "innodb_buffer_pool_size = 25% of memory",
        "innodb_buffer_pool_size = 50% of memory",
    ]


def test_a_share_of_memory_that_nobody_knows_is_refused_where_it_stands() -> None:
    unknown = HostFacts(memory_bytes=None, cpus=2, free_disk_bytes=None)
    with pytest.raises(spec.SpecErrors) as caught:
        plan.make(experiment(factors=TWO_POOLS), unknown)
    line = document(factors=TWO_POOLS).split("\n")[2]
    assert [(problem.line, problem.column) for problem in caught.value.problems] == [
        (3, line.index("25%") + 1),
        (3, line.index("50%") + 1),
    ]


def test_a_plan_without_shares_needs_no_knowledge_of_the_machine() -> None:
    made = plan.make(experiment(), HostFacts(memory_bytes=None, cpus=1, free_disk_bytes=None))
    assert not made.warnings


def test_more_memory_than_the_machine_has_is_refused_with_the_arithmetic() -> None:
    config = (
        "{innodb_buffer_pool_size: 12G, max_connections: 450, sort_buffer_size: 8M, join_buffer_size: 2M}"
    )
    with pytest.raises(spec.SpecErrors) as caught:
        plan.make(experiment(config=config), FACTS)
    column = document(config=config).split("\n")[1].index("12G") + 1
    assert str(caught.value) == (
        f"experiment.yaml:2:{column}: the server may need more memory than there is: "
        "innodb_buffer_pool_size 12G + 450 connections x (sort_buffer_size 8M + join_buffer_size 2M) "
        "= 16.4G, and this machine has 16G (got 12G); allowed: a sum of at most 16G"
    )


def test_too_much_memory_at_one_point_points_at_the_level_that_asks_for_it() -> None:
    factors = "{server.config.innodb_buffer_pool_size: [1G, 20G]}"
    with pytest.raises(spec.SpecErrors) as caught:
        plan.make(experiment(factors=factors), FACTS)
    [problem] = caught.value.problems
    assert (problem.line, problem.column) == (3, document(factors=factors).split("\n")[2].index("20G") + 1)
    assert "at innodb_buffer_pool_size = 20G: innodb_buffer_pool_size 20G = 20G" in problem.message


def test_buffers_of_connections_count_with_the_default_limit_when_none_is_set() -> None:
    made = plan.make(experiment(config="{sort_buffer_size: 1M}"), FACTS)
    assert memory_sum(made.points[0]).total == 151 * 1024**2


@pytest.mark.parametrize(("pool", "warned"), [("14G", False), ("15G", True), ("16G", True)])
def test_memory_that_is_nearly_full_is_a_warning(pool: str, warned: bool) -> None:
    made = plan.make(experiment(config=f"{{innodb_buffer_pool_size: {pool}}}"), FACTS)
    assert any("memory is tight" in warning for warning in made.warnings) == warned


def test_connections_beyond_the_usual_limit_are_a_warning_when_no_limit_is_set() -> None:
    busy = workload(connections="[200]")
    assert any(
        "max_connections is not set" in each for each in plan.make(experiment(workload=busy), FACTS).warnings
    )
    limited = experiment(workload=busy, config="{max_connections: 300}")
    assert not plan.make(limited, FACTS).warnings


def test_a_disk_that_is_too_small_is_a_warning() -> None:
    small = HostFacts(memory_bytes=16 * GIB, cpus=2, free_disk_bytes=10 * 1024**2)
    [warning] = plan.make(experiment(), small).warnings
    assert "of disk is needed and 10M is free" in warning


def test_what_cannot_show_a_difference_is_a_warning() -> None:
    made = plan.make(experiment(factors=TWO_POOLS, design="{repeats: 1, order: sequential}"), FACTS)
    assert ["1 repetition cannot" in made.warnings[0], "sequential" in made.warnings[1]] == [True, True]


def fingerprint(**sections: str) -> str:
    return plan.make(experiment(**sections), FACTS).fingerprint


def test_the_fingerprint_ignores_what_does_not_change_the_measurement() -> None:
    text = document()
    commented = "# a comment\n" + text.replace(
        "experiment: example", "experiment: renamed\nquestion: another"
    )
    same = plan.make(spec.loads(commented, "other.yaml"), FACTS)
    assert same.fingerprint == plan.make(spec.loads(text, "experiment.yaml"), FACTS).fingerprint
    assert fingerprint(config="{max-connections: 100}") == fingerprint(config="{max_connections: 100}")


@pytest.mark.parametrize(
    "sections",
    [
        {"config": "{max_connections: 100}"},
        {"factors": "{workload.pause: [0, 1s]}"},
        {"setup": "{server: {release: mysql-5.6}}"},
        {"workload": workload(each="{rounds: 6}")},
        {"workload": workload(pause="1ms")},
        {"sampling": "{every: 2s}"},
        {"design": "{seed: 2}"},
        {"design": "{data_seed: 2}"},
        {"design": "{repeats: 4}"},
    ],
    ids=str,
)
def test_the_fingerprint_changes_with_what_is_measured(sections: dict[str, str]) -> None:
    assert fingerprint(**sections) != fingerprint()


def test_data_have_the_seed_of_the_design_or_one_for_themselves() -> None:
    assert plan.make(experiment(design="{seed: 2}"), FACTS).dataset_seed == 2
    apart = plan.make(experiment(design="{seed: 2, data_seed: 5}"), FACTS)
    assert (apart.seed, apart.dataset_seed) == (2, 5)


def test_the_fingerprint_depends_on_the_memory_only_if_a_value_is_a_share_of_it() -> None:
    larger = HostFacts(memory_bytes=32 * GIB, cpus=2, free_disk_bytes=100 * GIB)
    for factors, same in (("{}", True), (TWO_POOLS, False)):
        read = experiment(factors=factors)
        assert (plan.make(read, FACTS).fingerprint == plan.make(read, larger).fingerprint) == same


@settings(deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 9))
def test_timed_phases_last_as_long_as_they_say(warmup: int, measure: int, phases: int) -> None:
    connections = ", ".join(str(each) for each in range(1, phases + 1))
    read = experiment(
        workload=workload(
            connections=f"[{connections}]", each=f"{{warmup: {warmup}s, measure: {measure}s}}", pause="2s"
        )
    )
    loaded = load_seconds(read.workload)
    asked = phases * (warmup + measure) + (phases - 1) * 2
    assert asked <= loaded <= asked + phases


def test_phases_in_rounds_are_estimated_from_the_stated_rate() -> None:
    read = experiment(workload=workload(connections="[100]", each="{rounds: 3000}"), design="{repeats: 1}")
    made = plan.make(read, FACTS)
    assert load_seconds(read.workload) == pytest.approx(100 * 3000 * 2 / QUERIES_PER_SECOND, rel=0.02)
    assert any(f"{QUERIES_PER_SECOND:,} queries/s" in said for said in made.estimate.assumptions)


def test_phases_in_rounds_at_a_slow_rate_last_as_long_as_the_rate_needs() -> None:
    slow = workload(connections="[10]", each="{rounds: 100}", arrival="{fixed: 50/s}")
    assert load_seconds(experiment(workload=slow).workload) == pytest.approx(20, rel=0.02)


def test_only_what_is_counted_in_rounds_needs_an_assumed_rate() -> None:
    timed = plan.make(experiment(workload=workload(each="{measure: 1s}")), FACTS)
    assert not any("queries/s" in said for said in timed.estimate.assumptions)


@pytest.mark.parametrize(
    ("script", "statements"),
    [("oltp-point-select", 1), ("oltp-read-only", 16), ("oltp-read-write", 20), ("oltp-write-only", 6)],
)
def test_a_sysbench_transaction_has_its_known_number_of_statements(script: str, statements: int) -> None:
    read = experiment(workload=workload(f"{script}: {{tables: 1}}"))
    assert queries_per_transaction(read.workload) == statements


def test_more_trials_rows_or_datasets_cost_more() -> None:
    def cost(**sections: str) -> plan.Estimate:
        return plan.make(experiment(**sections), FACTS).estimate

    base = cost()
    assert cost(design="{repeats: 9}").seconds > base.seconds
    large = cost(workload=workload("smack: {scenario: select-key, rows: 5M}"))
    assert large.disk_bytes > base.disk_bytes
    assert large.seconds > base.seconds
    two = cost(factors="{workload.smack.rows: [1000, 1001]}")
    assert two.disk_bytes == pytest.approx(1.5 * base.disk_bytes, rel=0.01)


def test_a_network_port_is_a_side_effect_and_no_network_is_none() -> None:
    def effects(network: str) -> str:
        return "\n".join(
            plan.make(experiment(setup=f"{{server: {{network: {network}}}}}"), FACTS).side_effects
        )

    assert "TCP" not in effects("false")
    assert "a free TCP port of 127.0.0.1" in effects("true")
    assert "TCP port 3307 of 127.0.0.1" in effects("{port: 3307}")


def test_asking_for_a_point_that_is_not_in_the_plan_fails() -> None:
    with pytest.raises(KeyError):
        plan.make(experiment(), FACTS).point("p2")


EXTERNAL = "{server: {external: {host: db1, user: bench, database: shop}, config: {sort_buffer_size: 1M}}}"


def test_a_plan_for_an_external_server_says_what_is_done_to_it_and_takes_no_disk_here() -> None:
    made = plan.make(experiment(setup=EXTERNAL), FACTS)
    text = plan.render(made)
    assert "loads and samples db1:3306, which mydyno neither starts nor stops" in text
    assert "into the schema shop alone" in text
    assert "sets there for each trial sort_buffer_size (SET GLOBAL) and restores the old values" in text
    assert "starts a private server" not in text
    assert "[the same tables]" in text
    assert made.estimate.disk_bytes == 0
    assert made.warnings == plan.make(experiment(config="{max_connections: 100}"), FACTS).warnings


def test_tables_on_an_external_server_are_loaded_for_each_trial_that_writes() -> None:
    loads = [workload(f"{kind}: {{table_size: 100k}}") for kind in ("oltp-read-only", "oltp-read-write")]
    read = [experiment(setup=EXTERNAL, workload=load, design="{repeats: 2}") for load in loads]
    reading, writing = (plan.make(each, FACTS) for each in read)
    assert "[fresh tables]" in plan.render(writing)
    assert writing.estimate.seconds - 2 * load_seconds(read[1].workload) > 3.9
    assert reading.estimate.seconds - 2 * load_seconds(read[0].workload) < 3.5


def test_shares_of_the_memory_of_an_external_server_are_refused_where_they_stand() -> None:
    setup = EXTERNAL.replace("sort_buffer_size: 1M", "innodb_buffer_pool_size: 25% of memory")
    with pytest.raises(spec.SpecErrors, match="the machine's memory is not known"):
        plan.make(experiment(setup=setup), FACTS)


def test_a_clone_that_shares_blocks_costs_no_copying_and_only_without_storage() -> None:
    shared = replace(FACTS, shares_blocks=True)
    load = workload("smack: {rows: 10M}")
    copying, sharing = (plan.make(experiment(workload=load), facts).estimate for facts in (FACTS, shared))
    assert sharing.seconds < copying.seconds
    assert any("sharing blocks (reflink)" in said for said in sharing.assumptions)
    assert not any("reflink" in said for said in copying.assumptions)
    on_disks = experiment(workload=load, setup="{host: uml, storage: {data: {disks: {size: 20G}}}}")
    text = " ".join(plan.make(on_disks, shared).estimate.assumptions)
    assert "copies its data directory" in text
    assert "reflink" not in text
