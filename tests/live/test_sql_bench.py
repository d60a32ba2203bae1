"""sql-bench on a real server: what the server counts, what is reported, and what is refused."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from live.conftest import Start
from live.engine import Record, Run, ask, finish, listen_until, run, target
from live.engine import counting as counted_by_server
from live.engine import start as start_engine
from mydyno.lab.load import messages
from mydyno.lab.stack import RunningServer

pytestmark = pytest.mark.live

# What the server counts at --small-test: sql-bench 2.15 run against MariaDB 10.11, without its probe.
SMALL = {
    "alter-table": {
        "alter_table": 138, "insert": 100, "create_index": 8, "drop_index": 8, "create_table": 1,
        "drop_table": 2,
    },
    "ATIS": {"select": 430, "insert": 9768, "create_table": 28, "drop_table": 56},
    "big-tables": {"select": 200, "insert": 201, "create_table": 1, "drop_table": 2},
    "connect": {"select": 6300, "insert": 3, "create_table": 2, "drop_table": 3},
    "create": {"create_table": 120, "drop_table": 120, "select": 10},
    "insert": {
        "select": 3621, "insert": 5101, "insert_select": 2, "update": 4779, "delete": 242, "create_table": 6,
        "drop_table": 10,
    },
    "select": {"select": 14759, "insert": 1000, "create_table": 1, "drop_table": 2},
    "transactions": {
        "insert": 300, "update": 300, "delete": 300, "rollback": 30, "commit": 3, "set_option": 6,
        "create_table": 2, "drop_table": 4,
    },
    "wisconsin": {
        "select": 20, "insert": 31004, "delete": 5, "update": 6, "create_table": 4, "drop_table": 8,
    },
}  # fmt: skip

SMALL_TESTS = {
    "alter-table": 92 + 8 + 8 + 46,
    "ATIS": 28 + 9768 + 50 + 10 + 10 + 80 + 280 + 28,
    "big-tables": 400,
    "connect": 3 * 100 + 6 * 1000 + 100,
    "create": 140,
    "select": 1000 + 2 * 1000 + 7 + 41 + 7000 + 5000 + 7 * 100 + 10,
    "transactions": 6 * 100 + 3 * 10,
    "wisconsin": 3 + 31000 + 1 + 34,
}

# Every run of the engine: it looks which tables there are, and each program asks for the version.
OWN_SELECTS = 2
FULL_SECONDS = 250


@pytest.fixture(autouse=True)
def lax(server: RunningServer) -> None:
    """Commits without waiting for the disk: the counts are the same, and the tests are quicker."""
    ask(server, "SET GLOBAL innodb_flush_log_at_trx_commit=0")


def job(server: RunningServer, *groups: str, more: Record | None = None, **options: Any) -> Record:
    workload = {"groups": list(groups), "create_options": "ENGINE=InnoDB", **options}
    return {
        "protocol": 3,
        "target": target(server),
        "workload": {"sql_bench": workload},
        "phases": [],
        **(more or {}),
    }


@contextmanager
def counting(server: RunningServer) -> Iterator[dict[str, int]]:
    """How often each kind of statement was run by the test programs, without what the suite does not send."""
    with counted_by_server(server) as counts:
        yield counts
    counts["select"] = counts.get("select", 0) - OWN_SELECTS
    # The connection that reads the status sets autocommit.
    counts["set_option"] = counts.get("set_option", 0) - 1
    for own in ("show_status", "create_db"):
        counts.pop(own, None)
    for name in [name for name, count in counts.items() if not count]:
        del counts[name]


def tables(server: RunningServer) -> list[str]:
    sql = "SELECT table_name FROM information_schema.tables WHERE table_schema='engine_test'"
    return [name for (name,) in ask(server, sql)]


def summed_tests(result: Run) -> int:
    return sum(operation["tests"] for operation in result.of("operation") if operation["in_totals"])


def without_trouble(result: Run) -> None:
    assert result.the("done")["exit"] == "ok", result.text
    for operation in result.of("operation"):
        assert (operation["failed"], operation["warning"]) == (0, None), operation
        assert operation["elapsed_ns"] > 0
        assert operation["server_cpu"]["user_s"] >= 0


@pytest.mark.parametrize("program", SMALL)
def test_a_small_run_sends_what_the_suite_sends(server: RunningServer, program: str) -> None:
    with counting(server) as counts:
        result = run(job(server, program, small=True))
    without_trouble(result)
    assert counts == SMALL[program]
    if program in SMALL_TESTS:
        assert summed_tests(result) == SMALL_TESTS[program]
    assert tables(server) == []


def test_every_message_is_understood_and_the_statements_add_up(server: RunningServer) -> None:
    result = run(job(server, "wisconsin", "big-tables", small=True, more={"interval_s": 0.1}))
    for line in result.text.splitlines():
        messages.parse(line)
    assert [start["label"] for start in result.of("phase_start")] == ["big-tables", "wisconsin"]
    for end in result.of("phase_end"):
        operations = [op for op in result.of("operation") if op["phase"] == end["phase"]]
        set_up = end["statements"]["set-up"]["count"]
        sent = sum(operation["statements"] for operation in operations) + set_up
        assert end["queries"]["count"] == sent
        intervals = [one for one in result.of("interval") if one["phase"] == end["phase"]]
        # The version queries come before the measured part.
        assert sum(interval["queries"] for interval in intervals) == sent - 2
        for operation in operations:
            assert end["statements"][operation["name"]]["count"] >= operation["statements"]


def test_fast_runs_of_all_programs_succeed(
    server: RunningServer, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(lab))
    loads = int(server.status()["Com_load"])
    result = run(job(server, *SMALL, small=True, fast=True))
    assert result.the("done")["exit"] == "ok", result.text
    assert int(server.status()["Com_load"]) - loads == 28 + 4
    assert {start["label"] for start in result.of("phase_start")} == set(SMALL)
    for operation in result.of("operation"):
        assert operation["failed"] == 0, operation
    assert [op["name"] for op in result.of("operation") if op["warning"]] == []
    assert tables(server) == []
    assert list(lab.iterdir()) == []


def test_where_the_server_may_not_read_files_their_rows_are_inserted_and_that_is_reported(
    start: Start,
) -> None:
    server = start()
    ask(server, "CREATE DATABASE engine_test")
    ask(server, "CREATE USER plain@localhost IDENTIFIED BY 'no-files'")
    ask(server, "GRANT ALL ON engine_test.* TO plain@localhost")
    wisconsin = job(server, "wisconsin", small=True, fast=True)
    wisconsin["target"] |= {"user": "plain", "password": "no-files"}
    result = run(wisconsin)
    assert result.the("done")["exit"] == "ok", result.text
    [insert] = [op for op in result.of("operation") if op["name"] == "insert"]
    assert (insert["tests"], insert["failed"]) == (31_000, 0)
    assert "LOAD DATA INFILE was refused" in insert["warning"]
    assert "Access denied" in insert["warning"]


@pytest.mark.parametrize("options", [pytest.param({"fast": False}, marks=pytest.mark.slow), {"fast": True}])
def test_engines_without_transactions_run_too(server: RunningServer, options: Record) -> None:
    programs = ("alter-table", "insert", "select", "transactions", "wisconsin")
    result = run(job(server, *programs, small=True, **{**options, "create_options": "ENGINE=MyISAM"}))
    assert result.the("done")["exit"] == "ok"
    ends = {end["phase"]: end["aborted"] for end in result.of("phase_end")}
    assert [phase for phase, aborted in ends.items() if aborted] == [3]
    assert ends[3].startswith("skipped: it needs a transactional engine")
    assert all(operation["failed"] == 0 for operation in result.of("operation"))


def test_altering_by_copy_takes_the_same_statements(server: RunningServer) -> None:
    with counting(server) as counts:
        without_trouble(run(job(server, "alter-table", small=True, alter_algorithm="copy")))
    assert counts == SMALL["alter-table"]


def test_connections_are_opened_as_often_as_the_suite_does(server: RunningServer) -> None:
    before = int(server.status()["Connections"])
    result = run(job(server, "connect", small=True))
    after = int(server.status()["Connections"])
    # 100 each for three operations, three of the program, the engine's own first, and the reading.
    assert after - before == 300 + 3 + 1 + 1
    assert result.the("phase_end")["connects"]["count"] == 303


def test_a_table_of_somebody_else_is_not_dropped(server: RunningServer) -> None:
    ask(server, "CREATE DATABASE IF NOT EXISTS engine_test")
    ask(server, "CREATE TABLE engine_test.bench1 (precious int)")
    try:
        refused = run(job(server, "alter-table", "select", small=True))
        fatal = refused.the("fatal")
        assert (fatal["code"], refused.exit_code) == ("not-ours", 3)
        assert "bench1" in fatal["message"]
        assert "--drop-existing" in fatal["hint"]
        assert refused.of("phase_start") == []
        assert ask(server, "SELECT precious FROM engine_test.bench1") == []
        without_trouble(run(job(server, "select", small=True, more={"drop_existing": True})))
    finally:
        ask(server, "DROP TABLE IF EXISTS engine_test.bench1")


def test_what_an_earlier_run_left_is_its_own_to_drop(server: RunningServer) -> None:
    without_trouble(run(job(server, "wisconsin", small=True, fast=True, skip_delete=True)))
    assert set(tables(server)) == {"onek", "tenk1", "tenk2", "Bprime"}
    without_trouble(run(job(server, "wisconsin", small=True, fast=True)))
    assert tables(server) == []


def test_an_interrupted_program_drops_its_tables_and_says_how_far_it_came(server: RunningServer) -> None:
    process = start_engine(
        job(server, "create", "insert", "wisconsin", small=False, more={"interval_s": 0.1})
    )
    said = listen_until(process, "interval")
    process.send_signal(signal.SIGINT)
    result = finish(process, said)
    assert (result.the("done")["exit"], result.exit_code) == ("interrupted", 0)
    assert result.the("phase_end")["interrupted"]
    assert tables(server) == []


def test_a_program_that_fails_is_reported_and_the_next_one_runs(server: RunningServer) -> None:
    options = {"create_options": "ENGINE=InnoDB MAX_ROWS=x"}
    result = run(job(server, "big-tables", "connect", small=True, **options))
    first, second = result.of("phase_end")
    assert "error 1064" in first["aborted"]
    assert first["errors"] == {"1064": 1}
    assert "error 1064" in second["aborted"], "its first operations need no table"
    assert result.of("operation")[0]["name"] == "connect"
    assert result.the("done")["exit"] == "aborted"


def test_the_time_limit_cuts_loops_and_extrapolates(server: RunningServer) -> None:
    result = run(job(server, "select", small=True, time_limit_s=0.001))
    cut = {op["name"]: op for op in result.of("operation") if op["estimated"]}
    operation = cut["min_max_on_key"]
    assert operation["tests"] == 7000
    assert operation["statements"] < 7000
    assert "stopped after" in operation["warning"]
    measured = operation["elapsed_ns"] * operation["statements"] / operation["tests"]
    assert measured >= 1_000_000


def test_a_server_that_dies_ends_the_run(start: Start) -> None:
    server = start()
    process = start_engine(job(server, "alter-table", "wisconsin", small=True))
    said = listen_until(process, "operation")
    os.kill(server.pid, signal.SIGKILL)
    result = finish(process, said)
    assert (result.the("done")["exit"], result.exit_code) == ("aborted", 0)
    [end] = result.of("phase_end")
    assert end["aborted"].startswith("the server is gone")
    assert set(end["errors"]) <= {"2006", "2013"}


@pytest.mark.slow
@pytest.mark.timeout(FULL_SECONDS + 300)
def test_full_runs_of_the_cheap_programs_report_what_the_suite_reports(server: RunningServer) -> None:
    programs = {"alter-table": 207, "big-tables": 4000, "transactions": 60_300, "wisconsin": 31_118}
    result = run(job(server, *programs))
    without_trouble(result)
    for program, tests in programs.items():
        operations = [op for op in result.of("operation") if op["program"] == program]
        assert sum(op["tests"] for op in operations if op["in_totals"]) == tests
