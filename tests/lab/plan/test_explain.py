"""What a plan says of itself before anything is done."""

from __future__ import annotations

from pathlib import Path

from lab.spec.builders import experiment, workload
from mydyno.core.facts import HostFacts
from mydyno.lab import plan, spec

FACTS = HostFacts(memory_bytes=16 * 1024**3, cpus=2, free_disk_bytes=100 * 1024**3)
THREAD_CACHE = Path(__file__).parents[3] / "experiments" / "thread-cache.yaml"


def test_the_plan_of_the_thread_cache_experiment_reads_like_its_question() -> None:
    text = plan.render(plan.make(spec.load(THREAD_CACHE, "demo"), FACTS))
    for said in (
        "thread-cache (size demo)",
        "what does thread_cache_size = 450 buy over 8?",
        "3 points",
        "p1         thread_cache_size = 8\n",
        "smack, 90,000 rows, 6 phases of 50 to 400 connections",
        "200ms warm-up and 800ms each",
        "24 trials, seed 1",
        "slices of 100ms: in each block the servers of all 3 points run at the same time",
        "starts a private server process",
        "and nothing else",
    ):
        assert said in text
    assert "warnings" not in text


def test_loads_that_differ_are_reported_point_by_point() -> None:
    read = experiment(factors="{workload.connections: {few: 1, many: 8..64 step 8}}")
    result = plan.explain(plan.make(read, FACTS))
    assert [row.phases for row in result.points] == [
        "1 phase of 1 connection, 5 rounds each",
        "8 phases of 8 to 64 connections, 5 rounds each",
    ]
    assert "connections = few: smack" in plan.render(plan.make(read, FACTS))


def test_warm_up_rate_and_sysbench_are_reported() -> None:
    read = experiment(
        workload=workload(
            "oltp-read-only: {tables: 2, table_size: 20k}",
            each="{warmup: 1s, measure: 5s}",
            arrival="{poisson: 1000/s}",
        )
    )
    [row] = plan.explain(plan.make(read, FACTS)).points
    assert row.title == "the only point"
    assert row.workload == "oltp-read-only {tables: 2, table_size: 20000}, 40,000 rows"
    assert row.phases == "2 phases of 2 to 4 connections, 1s warm-up and 5s each, poisson 1000/s"


def test_each_trial_says_from_which_layer_on_the_stack_is_rebuilt() -> None:
    read = experiment(
        factors="{workload.smack.rows: [10, 20], server.config.max_connections: [100, 200]}",
        design="{repeats: 1, order: sequential}",
    )
    result = plan.explain(plan.make(read, FACTS))
    assert result.rebuilds == {"host": 1, "release": 1, "dataset": 2, "config": 4, "workload": 4}
    rebuilt = [row.rebuilt_from for row in result.trials]
    assert rebuilt == ["host", "config", "dataset", "config"]
    again = plan.explain(plan.make(experiment(design="{repeats: 2}"), FACTS)).trials
    assert [row.rebuilt_from for row in again] == ["host", "fresh clone"]


def test_warnings_come_last() -> None:
    read = experiment(factors="{workload.pause: [0, 1s]}", design="{repeats: 1}")
    assert plan.render(plan.make(read, FACTS)).rstrip().splitlines()[-1].startswith("  ! 1 repetition cannot")
