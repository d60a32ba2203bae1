"""The ATIS program of sql-bench against a real server: its queries find what the original's do."""

from __future__ import annotations

from typing import Any

import pytest

from live.engine import Record, Run, job, run
from mydyno.lab.stack import RunningServer

pytestmark = pytest.mark.live

GROUPS = {
    "select_simple_join": (500, 60_200),
    "select_join": (100, 57_900),
    "select_key_prefix_join": (100, 569_200),
    "select_distinct": (800, 181_700),
    "select_group": (2800, 73_100),
}
"""Queries of a default run, and the rows that they find: a hundred times what the original expects."""


def atis(server: RunningServer, **options: Any) -> Run:
    return run(job(server, {"sql_bench": {"groups": ["ATIS"], **options}}, prepare="none"))


def operations(run: Run) -> dict[str, Record]:
    assert run.the("done")["exit"] == "ok", run.text
    return {operation["name"]: operation for operation in run.of("operation")}


def execute(server: RunningServer, sql: str) -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(sql)


def statements(server: RunningServer) -> dict[str, int]:
    kinds = ("select", "insert", "create_table", "drop_table")
    status = server.status()
    return {kind: int(status[f"Com_{kind}"]) for kind in kinds}


def test_a_default_run_sends_the_statements_and_finds_the_rows_of_the_original(server: RunningServer) -> None:
    before = statements(server)
    found = operations(atis(server))
    sent = {kind: count - before[kind] for kind, count in statements(server).items()}

    assert (sent["insert"], sent["create_table"], sent["drop_table"]) == (9768, 28, 56)
    # The rest asks for the version and for tables that are in the way.
    assert 4300 < sent["select"] < 4305
    assert {name: operation["tests"] for name, operation in found.items()} == {
        "create_table": 28,
        "insert": 9768,
        **{name: queries for name, (queries, _) in GROUPS.items()},
        "drop_table": 28,
    }
    assert found["create_table"]["statements"] == 56
    for name, (queries, rows) in GROUPS.items():
        assert (found[name]["statements"], found[name]["rows"]) == (queries, rows)
    assert [operation["failed"] for operation in found.values()] == [0] * 8
    assert [operation["warning"] for operation in found.values()] == [None] * 8


@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM", "Aria"])
def test_a_small_fast_run_finds_the_same_whatever_the_storage_engine(
    server: RunningServer, engine: str
) -> None:
    found = operations(atis(server, small=True, fast=True, create_options=f"ENGINE={engine}"))
    assert (found["insert"]["tests"], found["insert"]["statements"]) == (9768, 30)
    assert found["insert"]["warning"] is None
    assert found["book-keeping"]["statements"] == 1
    for name, (queries, rows) in GROUPS.items():
        assert (found[name]["tests"], found[name]["rows"]) == (queries / 10, rows / 10)
    assert [operation["failed"] for operation in found.values()] == [0] * 9


def test_a_query_that_finds_other_rows_counts_as_failed_with_a_warning(server: RunningServer) -> None:
    operations(atis(server, small=True, fast=True, skip_delete=True))
    execute(server, "DELETE FROM engine_test.day_name WHERE day_code = 7")
    found = operations(atis(server, small=True, skip_create=True))
    assert "create_table" not in found
    assert "insert" not in found
    # Two queries of the group ask for months and days, in ten loops.
    assert found["select_simple_join"]["failed"] == 20
    assert "7 rows expected, 6 found" in found["select_simple_join"]["warning"]
    assert found["select_distinct"]["failed"] == 0
