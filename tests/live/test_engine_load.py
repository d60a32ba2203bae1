"""Connections that come and go, rest, read and fail: the engine's load against a real server."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import pytest

from live.conftest import Start
from live.engine import Record, ask, finish, job, listen_until, phase, rounds, run, target, timed
from live.engine import start as begin
from live.programs import program, send, transaction, value
from mydyno.lab.stack import RunningServer

pytestmark = pytest.mark.live

ONE = send("one", "SELECT 1")
OTHERS = "SELECT id FROM information_schema.processlist WHERE db = 'engine_test' ORDER BY id"


@pytest.fixture(autouse=True)
def database(request: pytest.FixtureRequest) -> None:
    """The database is there: programs without tables make none."""
    if "server" in request.fixturenames:
        ask(request.getfixturevalue("server"), "CREATE DATABASE IF NOT EXISTS engine_test")


def load(server: RunningServer, workload: Record, *phases: Record, **more: Any) -> Record:
    return job(server, workload, *phases, prepare="none", **more)


def connections(server: RunningServer) -> int:
    return int(server.status()["Connections"])


def test_a_connect_storm_makes_one_connection_for_every_event(server: RunningServer) -> None:
    storm = program(open="event", transactions=transaction(ONE))
    before = connections(server)
    end = run(load(server, storm, phase(8, rounds(50)))).the("phase_end")
    # One of the engine's own at the start, and this test's second look.
    assert connections(server) - before == 400 + 1 + 1
    assert end["statements"]["connect"]["count"] == end["transactions"]["count"] == 400
    assert end["queries"]["count"] == 400
    assert end["errors"] == {}


def test_a_connect_storm_on_a_full_server_counts_what_was_refused(start: Start) -> None:
    server = start({"max_connections": 10})
    storm = program(open="event", transactions=transaction(send("nap", "SELECT SLEEP(0.01)")))
    result = run(_in_mysql(load(server, storm, phase(30, rounds(5)))))
    end = result.the("phase_end")
    refused = end["errors"]["1040"]
    assert set(end["errors"]) == {"1040"}
    assert end["statements"]["connect"]["errors"] == refused
    assert end["transactions"]["count"] + refused == 150
    assert result.the("done")["exit"] == "ok"


def test_mostly_idle_connections_stay_open_and_only_the_active_ones_ask(server: RunningServer) -> None:
    running = begin(load(server, program(transactions=transaction(ONE)), phase(50, timed(3.0), active=3)))
    said = listen_until(running, "measuring")
    rows = ask(server, "SELECT time FROM information_schema.processlist WHERE db = 'engine_test'")
    end = finish(running, said).the("phase_end")
    assert len(rows) == 50
    assert end["connections_reached"] == 50
    assert end["transactions"]["count"] > 100


@pytest.mark.parametrize(("kind", "expected"), [("events", 1000), ("split", 999)])
def test_events_that_are_counted_reach_the_server_exactly(
    server: RunningServer, kind: str, expected: int
) -> None:
    before = int(server.status()["Com_do"])
    do = program(transactions=transaction(send("do", "DO 1")))
    end = run(load(server, do, phase(9, {"kind": kind, "events": 1000}))).the("phase_end")
    assert int(server.status()["Com_do"]) - before == expected == end["transactions"]["count"]


def test_think_time_paces_the_events(server: RunningServer) -> None:
    paced = phase(10, timed(1.0), think={"kind": "exponential", "mean_s": 0.05})
    end = run(load(server, program(transactions=transaction(ONE)), paced)).the("phase_end")
    # Ten connections, twenty events a second each, or fewer on a busy machine; the deviation of 200 is 14.
    assert 60 < end["transactions"]["count"] < 280
    # Thinking, 50 ms on average, is no part of a transaction.
    assert end["transactions"]["latency"]["mean_ns"] * end["transactions"]["count"] < 10 * 10**9 / 2


def test_connections_ramp_up_before_they_are_measured(server: RunningServer) -> None:
    ramped = phase(20, timed(1.0), ramp_s=0.6)
    result = run(load(server, program(transactions=transaction(ONE)), ramped, interval_s=0.1))
    counts = [interval["connections"] for interval in result.of("interval")]
    assert counts == sorted(counts)
    assert counts[0] < 8 < counts[-1] == 20
    end = result.the("phase_end")
    assert end["measured_from_ns"] - end["started_ns"] >= 600_000_000
    assert end["measured_to_ns"] - end["measured_from_ns"] == 1_000_000_000


def _kill(server: RunningServer, count: int) -> None:
    for (number,) in ask(server, OTHERS)[:count]:
        ask(server, f"KILL {number}")


@pytest.mark.parametrize(
    ("policy", "left", "reopened"), [({"lost": "close"}, 3, 0), ({"lost": "reopen"}, 4, 1)]
)
def test_killed_connections_stay_closed_or_come_back_as_the_policy_says(
    server: RunningServer, policy: Record, left: int, reopened: int
) -> None:
    workload = program(**policy, transactions=transaction(ONE))
    running = begin(load(server, workload, phase(4, timed(60.0)), interval_s=0.1))
    said = listen_until(running, "measuring")
    _kill(server, 1)
    said += listen_until(running, "interval", reconnects=reopened, connections=left)
    running.terminate()
    result = finish(running, said)
    end = result.the("phase_end")
    assert sum(end["errors"].values()) == 1, "a killed connection is one error"
    assert set(end["errors"]) <= {"1927", "2013", "2006", "1317"}
    assert (end["reconnects"], result.of("interval")[-1]["connections"]) == (reopened, left)
    assert (end["aborted"], result.the("done")["exit"]) == (None, "interrupted")


def test_a_server_that_stands_still_for_a_moment_loses_nothing(start: Start) -> None:
    server = start()
    running = begin(_in_mysql(load(server, program(transactions=transaction(ONE)), phase(4, timed(1.0)))))
    said = listen_until(running, "measuring")
    os.kill(server.pid, signal.SIGSTOP)
    threading.Timer(0.3, os.kill, [server.pid, signal.SIGCONT]).start()
    end = finish(running, said).the("phase_end")
    assert (end["errors"], end["unanswered"], end["aborted"]) == ({}, 0, None)
    assert end["queries"]["latency"]["max_ns"] > 250_000_000


@pytest.mark.parametrize("lost", ["close", "reopen"])
def test_a_server_that_stops_answering_ends_a_timed_phase_within_ten_seconds_of_its_end(
    start: Start, lost: str
) -> None:
    server = start()
    sampling = {"interval_s": 0.1, "server_pid": server.pid}
    workload = program(lost=lost, transactions=transaction(ONE))
    given = load(server, workload, phase(4, timed(0.5)), phase(4, timed(600.0)), sampling=sampling)
    running = begin(_in_mysql(given))
    said = listen_until(running, "measuring")
    began = time.monotonic()
    os.kill(server.pid, signal.SIGSTOP)
    try:
        result = finish(running, said)
    finally:
        os.kill(server.pid, signal.SIGCONT)
    assert time.monotonic() - began < 60, "nobody waits for the end of the phase, nor for the sampler"
    end = result.the("phase_end")
    assert end["unanswered"] == 4
    assert "4 statements had no answer" in end["aborted"]
    assert end["ended_ns"] - end["measured_to_ns"] < 10_000_000_000
    assert (result.the("done")["exit"], result.exit_code) == ("aborted", 0)


@pytest.mark.parametrize("lost", ["close", "reopen"])
def test_a_server_that_stops_answering_ends_rounds_too(start: Start, lost: str) -> None:
    server = start()
    workload = program(lost=lost, transactions=transaction(ONE))
    given = _in_mysql(load(server, workload, phase(4, rounds(10**9)), answer_within_s=0.5))
    running = begin(given)
    said = listen_until(running, "measuring")
    began = time.monotonic()
    os.kill(server.pid, signal.SIGSTOP)
    try:
        result = finish(running, said)
    finally:
        os.kill(server.pid, signal.SIGCONT)
    assert time.monotonic() - began < 30
    end = result.the("phase_end")
    assert end["errors"]["2013"] >= 4
    assert end["aborted"]
    assert result.the("done")["exit"] == "aborted"


@pytest.mark.parametrize("prepared", [False, True])
def test_what_a_statement_reads_is_in_the_next_one(server: RunningServer, prepared: bool) -> None:
    ask(server, "DROP TABLE IF EXISTS engine_test.source, engine_test.copied")
    columns = (
        "i BIGINT UNSIGNED, d DECIMAL(8,2), f DOUBLE, t VARCHAR(20), w DATETIME(3), n INT, x TIME, y YEAR"
    )
    names = ["i", "d", "f", "t", "w", "n", "x", "y"]
    ask(server, f"CREATE TABLE engine_test.source (k INT PRIMARY KEY, {columns})")
    ask(server, f"CREATE TABLE engine_test.copied ({columns})")
    row = "18446744073709551615, -12.50, 0.1, 'it''s', '2026-01-02 03:04:05.678', NULL, '-26:00:01', 2026"
    ask(server, f"INSERT INTO engine_test.source VALUES (1, 1, 1, 1, 'first', NULL, 1, 0, 2001), (2, {row})")
    ask(server, f"INSERT INTO engine_test.source VALUES (3, {row}), (4, {row})")
    select = f"SELECT {', '.join(names)} FROM source ORDER BY k"
    into = [part for name in names for part in (", ", value(["var", name]))][1:]
    workload = program(
        prepared=prepared,
        transactions=transaction(
            send("read", select, read={"into": names, "row": "middle"}),
            send("write", "INSERT INTO copied VALUES (", *into, ")"),
        ),
        checks=[
            {"name": "copied", "sql": "SELECT COUNT(*) FROM copied HAVING COUNT(*) <> 6"},
            {"name": "none", "sql": "SELECT i, n FROM copied LIMIT 2"},
        ],
    )
    result = run(load(server, workload, phase(2, rounds(3))))
    end = result.the("phase_end")
    assert end["errors"] == {}, end["error_examples"]
    assert end["statements"]["read"]["rows"] == 24
    original = ask(server, "SELECT i, d, f, t, w, n, x, y FROM engine_test.source WHERE k = 2")
    assert ask(server, "SELECT * FROM engine_test.copied") == original * 6
    checks = {check["name"]: (check["holds"], check["detail"]) for check in result.of("check")}
    assert checks["copied"] == (True, None)
    assert checks["none"][0] is False
    assert "18446744073709551615, NULL" in checks["none"][1]


@pytest.mark.parametrize("prepared", [False, True])
def test_a_row_that_is_needed_and_missing_ends_the_event(server: RunningServer, prepared: bool) -> None:
    empty = "SELECT 1 FROM information_schema.schemata WHERE schema_name = 'none'"
    read = send("read", empty, read={"into": ["a"], "empty": "fail"})
    workload = program(
        prepared=prepared, transactions=transaction(send("begin", "BEGIN"), read, send("commit", "COMMIT"))
    )
    before = int(server.status()["Com_rollback"])
    end = run(load(server, workload, phase(1, rounds(5)))).the("phase_end")
    assert (end["errors"], end["transactions"]["count"]) == ({"1329": 5}, 0)
    assert int(server.status()["Com_rollback"]) - before == 5


def test_session_statements_hold_on_every_connection_and_after_a_reconnect(server: RunningServer) -> None:
    check = send("see", "SELECT 1 FROM DUAL WHERE @mine = 7", read={"into": ["a"], "empty": "fail"})
    workload = program(session=["SET @mine = 7"], transactions=transaction(check, {"reconnect": True}, check))
    before = connections(server)
    end = run(load(server, workload, phase(3, rounds(4)))).the("phase_end")
    assert end["errors"] == {}
    assert end["statements"]["connect"]["count"] == 12
    # Three at the start, twelve reconnects, one of the engine's own, this test's second look.
    assert connections(server) - before == 3 + 12 + 1 + 1


def test_an_expected_error_is_success(server: RunningServer) -> None:
    wrong = send("wrong", "SELECT * FROM no_such_table", expect_error=1146)
    end = run(load(server, program(transactions=transaction(wrong, ONE)), phase(1, rounds(3)))).the(
        "phase_end"
    )
    assert end["errors"] == {}
    assert end["statements"]["wrong"]["count"] == end["statements"]["one"]["count"] == 3


def test_a_request_for_a_local_file_is_refused(server: RunningServer) -> None:
    ask(server, "CREATE TABLE IF NOT EXISTS engine_test.files (line TEXT)")
    steal = send("steal", "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE files")
    end = run(load(server, program(transactions=transaction(steal)), phase(1, rounds(1)))).the("phase_end")
    assert sum(end["errors"].values()) == 1
    assert ask(server, "SELECT COUNT(*) FROM engine_test.files") == [(0,)]


def test_watching_samples_without_load_until_it_is_asked_to_stop(server: RunningServer) -> None:
    given = {
        "protocol": 3,
        "target": target(server),
        "workload": {"watch": {}},
        "phases": [],
        "sampling": {"interval_s": 0.05, "server_pid": server.pid},
    }
    running = begin(given)
    said = listen_until(running, "sample")
    said += listen_until(running, "sample")
    running.send_signal(signal.SIGTERM)
    result = finish(running, said)
    assert set(result.kinds) == {"hello", "sample", "done"}
    assert (result.the("done")["exit"], result.exit_code) == ("ok", 0)
    assert result.the("hello")["server_pid"] == server.pid
    assert all(sample["status"] for sample in result.of("sample"))


def test_the_servers_process_is_not_known_over_tcp(server: RunningServer) -> None:
    given = load(server, program(transactions=transaction(ONE)), phase(1, rounds(1)))
    assert run(given).the("hello")["server_pid"] == server.pid
    given["target"] = target(server, tcp=True)
    assert run(given).the("hello")["server_pid"] is None


def _in_mysql(given: Record) -> Record:
    """The same in a database that is there already."""
    given["target"]["database"] = "mysql"
    return given
