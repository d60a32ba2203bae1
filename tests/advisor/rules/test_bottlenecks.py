"""What is the limit: CPUs, memory, or too many statements at once."""

from __future__ import annotations

import random

import pytest

from advisor.builders import MARIADB, MYSQL_84, host, server
from advisor.disks import storage
from advisor.rules.judging import finding, judged
from mydyno.advisor.rule import Fine, NotHere, Unknown
from mydyno.advisor.targets import Targets
from mydyno.survey.facts import DiskLoad, Host, Load, Reading, Schema, Server

GIB = 1 << 30


def loaded(busy: float, waiting: float = 0.0, disk_busy: float = 0.05, cpus: int = 4) -> Host:
    load = Load(
        seconds=60,
        cpus=cpus,
        cpu_busy=busy,
        cpu_waiting=waiting,
        cpu_stolen=0,
        disks=(DiskLoad(name="sda", busy=disk_busy, reads=3, writes=40),),
    )
    return host(storage=storage(), load=load)


def test_where_the_cpus_are_the_limit_disks_bring_nothing() -> None:
    found = finding("cpu-bound", server(), host=loaded(0.97))
    assert found.title == "The CPUs are the limit (97% busy): faster disks have no effect"
    assert "sda, the busiest, was at work 5% of the time" in found.evidence[1]


def test_cpus_with_time_left_or_disks_that_are_busy_too_are_no_such_finding() -> None:
    for other in (loaded(0.5), loaded(0.9, disk_busy=0.8), loaded(0.87, waiting=0.12)):
        assert isinstance(judged("cpu-bound", server(), host=other), Fine)
    assert isinstance(judged("cpu-bound", server(), host=host()), Unknown)
    assert isinstance(judged("cpu-bound", server(), host=loaded(0.97, cpus=64)), NotHere)


def partly_in_memory(pool: int, reads: float = 400.0, data: int = 11 * GIB) -> Server:
    return server(
        variables={"innodb_buffer_pool_size": str(pool)},
        status={
            "Innodb_buffer_pool_reads": reads * 864_000,
            "Innodb_buffer_pool_read_requests": 40_000 * 864_000,
        },
        schema_facts=Schema(tables=1, bytes_by_engine={"InnoDB": data}),
    )


def test_most_of_the_data_in_memory_calls_for_memory_before_disks() -> None:
    pool = Targets(buffer_pool_bytes=8 * GIB)
    found = finding("memory-not-disks", partly_in_memory(8 * GIB), pool)
    assert "a pool of 8G / 11G of tables and indexes = 73%" in found.evidence
    assert "(11G - 8G) x 1.1 = 3.3G" in found.evidence
    assert "99.00% of 40,000 a second requests were in memory" in found.evidence


def test_memory_is_no_answer_where_it_is_enough_or_far_from_it_or_still_to_be_had() -> None:
    def fine(the_server: Server, pool: int) -> bool:
        return isinstance(judged("memory-not-disks", the_server, Targets(buffer_pool_bytes=pool)), Fine)

    assert fine(partly_in_memory(12 * GIB), 12 * GIB)
    assert fine(partly_in_memory(8 * GIB, reads=2), 8 * GIB)
    assert fine(partly_in_memory(4 * GIB), 4 * GIB)
    room = judged("memory-not-disks", partly_in_memory(8 * GIB), Targets(buffer_pool_bytes=10 * GIB))
    assert isinstance(room, NotHere)
    assert isinstance(judged("memory-not-disks", server(), Targets(buffer_pool_bytes=GIB)), Unknown)


def seconds(throughput_at: dict[int, float], each: int = 12, version: str = MARIADB) -> Server:
    """As many seconds at each number of statements at once, 5% of noise, in any order."""
    noise = random.Random(7)
    readings = [
        Reading(running=running, statements=noise.gauss(statements, statements / 20))
        for running, statements in throughput_at.items()
        for _ in range(each)
    ]
    noise.shuffle(readings)
    variables = {"thread_handling": "one-thread-per-connection"}
    variables |= {"thread_pool_size": "4"} if version == MARIADB else {}
    result = server(version, variables)
    return result.model_copy(
        update={"status": result.status.model_copy(update={"readings": tuple(readings)})}
    )


def test_the_number_of_statements_beyond_which_throughput_falls_is_found() -> None:
    found = finding("connection-knee", seconds({10: 20_000, 24: 41_000, 80: 28_000}))
    assert found.title.startswith("Beyond 24 statements at once throughput falls by 3")
    assert "thread pool" in found.recommendation
    without = finding("connection-knee", seconds({10: 20_000, 24: 41_000, 80: 28_000}, version=MYSQL_84))
    assert "thread pool" not in without.recommendation


@pytest.mark.parametrize(
    "throughput_at",
    [{10: 20_000, 24: 41_000, 80: 44_000}, {10: 30_000, 24: 30_500, 80: 29_500}, {10: 0, 11: 0, 12: 0}],
)
def test_throughput_that_does_not_fall_is_fine(throughput_at: dict[int, float]) -> None:
    assert isinstance(judged("connection-knee", seconds(throughput_at)), Fine)


def test_ten_seconds_are_too_few_for_a_verdict() -> None:
    assert isinstance(judged("connection-knee", seconds({10: 9000, 80: 1000}, each=5)), Unknown)
