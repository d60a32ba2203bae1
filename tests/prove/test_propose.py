"""What all levels of an experiment share, and what is scaled on a smaller host."""

from __future__ import annotations

from typing import Any

from advisor.builders import server, system
from advisor.builders import variable as in_force

from mydyno.apply.finding import Finding
from mydyno.lab.workload import read
from mydyno.prove.experiment import Load, Proposal
from mydyno.prove.ground import Ground
from mydyno.prove.propose import Wanted, propose
from mydyno.survey.facts import Origin, Schema, System
from prove.builders import GIB, HERE, POOL, THREADS, advice, finding, variable


def proposed(
    *findings: Finding, facts: System | None = None, connections: str = "8", **ground: Any
) -> Proposal:
    wanted = Wanted(
        name="advice",
        only=None,
        workload=read("oltp-read-write"),
        options={},
        data_bytes=None,
        load=Load("oltp-read-write", False, connections, "1s", "2s"),
        release="system",
        external=None,
    )
    return propose(advice(*findings), Ground("sandbox", system=facts, **ground), wanted, HERE)


def facts(pool: str, data: int = 40 * GIB) -> System:
    variables = {"innodb_buffer_pool_size": in_force(pool), "sync_binlog": in_force("1")}
    schema = Schema(tables=1, bytes_by_engine={"InnoDB": data})
    return system(server(variables=variables, schema_facts=schema))


def test_a_pool_that_the_advice_leaves_alone_is_scaled_with_the_data_too() -> None:
    found = proposed(THREADS, facts=facts(str(40 * GIB)))
    assert found.common.config["innodb_buffer_pool_size"] == "3968M"  # Half of 8G for 40G, in whole chunks.
    assert 3.5 * GIB < found.shape.data_bytes < 4.5 * GIB
    assert found.common.config["sync_binlog"] == "1"


def test_as_many_may_connect_as_the_load_and_the_cached_threads_need() -> None:
    assert proposed(POOL).common.config["max_connections"] == 151
    assert proposed(POOL, connections="8,400").common.config["max_connections"] == 420
    many = finding("thread-cache", variable("thread_cache_size", "500", "8"))
    assert proposed(POOL, many).common.config["max_connections"] == 500


def test_settings_that_the_server_there_does_not_take_are_not_shared() -> None:
    def refuses(name: str, value: str) -> str | None:
        return "unknown" if name == "sync_binlog" else None

    assert "sync_binlog" not in proposed(POOL, facts=facts("1G"), refuses=refuses).common.config


def test_a_value_as_it_is_that_the_server_there_does_not_take_is_reported() -> None:
    def refuses(name: str, value: str) -> str | None:
        return "no such value" if value == "8" else None

    found = proposed(POOL, THREADS, refuses=refuses)
    assert found.untried[0].reasons == ("thread_cache_size = 32 (now 8): as it is (8): no such value",)


def test_defaults_are_left_to_the_server_and_a_cache_that_is_off_stays_off() -> None:
    variables = {
        "innodb_io_capacity": in_force("200", origin=Origin(source="compiled")),
        "sort_buffer_size": in_force("1M", origin=Origin(source="file")),
        "query_cache_type": in_force("OFF", origin=Origin(source="file")),
        "query_cache_size": in_force("1048576", origin=Origin(source="file")),
    }
    config = proposed(POOL, facts=system(server(variables=variables))).common.config
    assert config == {"sort_buffer_size": "1M", "query_cache_type": "OFF", "max_connections": 151}
