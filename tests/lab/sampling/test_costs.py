"""What the server spent on each query: growth of its counters over the work of the very same stretch."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pytest

from mydyno.lab.analysis.metrics import COSTS
from mydyno.lab.sampling.costs import Work, costs

SECONDS = 10
PER_SECOND: Mapping[str, float] = {
    "server.cpu_s": 0.84,
    "server.cpu_user_s": 0.6,
    "server.cpu_system_s": 0.2,
    "server.voluntary_switches": 3000,
    "server.involuntary_switches": 500,
    "server.instructions": 5_000_000,
    "server.cache_misses": 20_000,
    "server.read_bytes": 4096,
    "server.write_bytes": 16384,
    "status.Innodb_data_fsyncs": 50,
    "status.Innodb_os_log_written": 25_600,
    "status.Innodb_row_lock_waits": 0,
}


def samples(every_s: float = 1.0, offset_s: float = 0.0, **columns: list[float]) -> pl.DataFrame:
    times = [offset_s + step * every_s for step in range(int(SECONDS / every_s))]
    steady = {name: [rate * t for t in times] for name, rate in PER_SECOND.items()}
    return pl.DataFrame({"t_s": times, **steady, "status.Threads_created": [7] * len(times), **columns})


def even(from_s: float, to_s: float, rate: float = 1000.0) -> list[Work]:
    """Intervals of a second, each with as many queries as `rate` and half as many transactions."""
    steps = int(to_s - from_s)
    return [Work(from_s + step, from_s + step + 1, int(rate), int(rate / 2)) for step in range(steps)]


def test_what_grew_is_divided_by_the_queries_or_transactions_of_the_same_stretch() -> None:
    found = costs(samples(offset_s=0.25), even(2, 8))
    assert found == pytest.approx(
        {
            # By the process's clock, shared out as the ticks are.
            "server_cpu_per_query": 840_000,
            "server_cpu_user_per_query": 630_000,
            "server_cpu_system_per_query": 210_000,
            "instructions_per_query": 5_000,
            "cache_misses_per_query": 20,
            "voluntary_switches_per_query": 3,
            "involuntary_switches_per_query": 0.5,
            "read_per_query": 4.096,
            "written_per_transaction": 32.768,
            "fsyncs_per_transaction": 0.1,
            "redo_per_transaction": 51.2,
            "lock_waits_per_transaction": 0,
        }
    )
    assert found.keys() == {metric.name for metric in COSTS}


def test_a_rate_that_changes_at_the_edge_of_the_phase_does_not_blur_the_cost() -> None:
    # The first second has ten times the queries, and ends before the first sample.
    work = [Work(1.2, 2.0, 10_000, 5_000), *even(2, 8)]
    assert costs(samples(), work)["server_cpu_per_query"] == pytest.approx(840_000)


def test_an_interval_that_is_cut_by_a_sample_counts_with_its_share() -> None:
    halves = [Work(1.5, 3.5, 2000, 1000), Work(3.5, 5.5, 2000, 1000)]
    assert costs(samples(), halves)["server_cpu_per_query"] == pytest.approx(840_000)


def test_a_phase_without_two_samples_has_no_costs() -> None:
    assert costs(samples(), even(2, 3)[:0]) == {}
    assert costs(samples(), [Work(2.1, 2.9, 800, 400)]) == {}
    assert costs(samples(), [Work(1.9, 2.9, 1000, 500)]) == {}
    assert costs(pl.DataFrame(), even(2, 8)) == {}


def test_without_queries_or_transactions_there_is_nothing_to_divide_by() -> None:
    found = costs(samples(), [Work(2, 8, 6000, None)])
    assert found["server_cpu_per_query"] == pytest.approx(840_000)
    assert not any(name.endswith("per_transaction") for name in found)
    assert costs(samples(), [Work(2, 8, 0, 0)]) == {}


def test_what_was_not_read_is_left_out_and_not_0() -> None:
    unseen = samples().drop(name for name in PER_SECOND if name.startswith("server."))
    assert set(costs(unseen, even(2, 8))) == {
        "fsyncs_per_transaction",
        "redo_per_transaction",
        "lock_waits_per_transaction",
    }


def test_a_restart_of_the_server_within_the_phase_leaves_no_costs() -> None:
    uptime: list[float] = [*range(100, 105), *range(5)]
    assert costs(samples(**{"status.Uptime": uptime}), even(2, 8)) == {}


@pytest.mark.parametrize(
    "ended",
    [
        {"status.Threads_created": [7.0] * 5 + [9.0] * 5},
        {"server.voluntary_switches": [0.0, 3e3, 6e3, 9e3, 8e3, 11e3, 14e3, 17e3, 20e3, 23e3]},
    ],
)
def test_where_threads_came_or_went_their_switches_are_not_known(ended: dict[str, list[float]]) -> None:
    found = costs(samples(**ended), even(2, 8))
    assert "server_cpu_per_query" in found
    assert not any("switches" in name for name in found)
