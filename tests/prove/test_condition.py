"""What the advice carries of the advised server, and what that says of its load."""

from __future__ import annotations

from advisor.builders import host, server, system, variable

from mydyno.advisor.advice import advise, read_advice
from mydyno.advisor.excerpt import excerpt
from mydyno.prove.condition import Condition, condition_of
from mydyno.survey.facts import Schema, Status, System
from mydyno.survey.facts.server import Table


def seen(before: dict[str, int], after: dict[str, int]) -> System:
    def text(counts: dict[str, int]) -> dict[str, str]:
        return {name: str(count) for name, count in counts.items()}

    status = Status(before=text(before), after=text(after), seconds=10.0)
    schema = Schema(
        tables=1,
        bytes_by_engine={"InnoDB": 198 << 20},
        without_primary_key=(Table(name="secret.table", engine="InnoDB"),),
    )
    variables = {"innodb_buffer_pool_size": variable("67108864"), "hostname": variable("db-secret")}
    known = server(variables=variables, schema_facts=schema).model_copy(update={"status": status})
    return system(known, host())


BUSY = seen(
    {"Innodb_buffer_pool_read_requests": 1000, "Innodb_buffer_pool_reads": 0, "Threads_running": 3},
    {
        "Innodb_buffer_pool_read_requests": 101_000,
        "Innodb_buffer_pool_reads": 17_000,
        "Com_select": 700,
        "Com_update": 300,
        "Threads_running": 9,
    },
)


def test_misses_statements_and_connections_are_read_of_the_interval_that_was_watched() -> None:
    found = condition_of(BUSY)
    assert found == Condition(misses=0.17, reading=0.7, running=8)
    assert (found.workload, found.connections) == ("oltp-read-write", 8)


def test_a_load_that_only_reads_or_only_writes_is_measured_by_one_that_does() -> None:
    assert Condition(reading=0.99).workload == "oltp-read-only"
    assert Condition(reading=0.01).workload == "oltp-write-only"


def test_of_an_idle_server_the_time_since_its_start_is_looked_at_and_of_a_new_one_nothing() -> None:
    counts = {"Innodb_buffer_pool_read_requests": 50_000, "Innodb_buffer_pool_reads": 500}
    assert condition_of(seen(counts, counts)).misses == 0.01
    few = {"Innodb_buffer_pool_read_requests": 10, "Innodb_buffer_pool_reads": 5}
    assert condition_of(seen(few, few)) == Condition()
    assert Condition().workload == "oltp-read-write"


def test_the_facts_travel_in_the_advice_without_names() -> None:
    text = advise(BUSY, "2026-11-22T00:00:00Z").to_json()
    facts = read_advice(text, "advice.json").facts
    assert facts == excerpt(BUSY)
    assert facts is not None
    assert condition_of(facts) == condition_of(BUSY)
    assert facts.server.schema_facts is not None
    assert facts.server.schema_facts.innodb_bytes == 198 << 20
    assert facts.host is not None
    assert facts.host.memory == BUSY.host.memory if BUSY.host else False
    assert "secret" not in facts.to_json()
