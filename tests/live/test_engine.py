"""The load engine against a real server: the statements that arrive, the numbers that come back."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest

from live.engine import (
    ROWS,
    Record,
    ask,
    counting,
    finish,
    job,
    listen_until,
    phase,
    rounds,
    run,
    target,
    timed,
)
from live.programs import smack, sysbench
from mydyno.lab.load import messages
from mydyno.lab.stack import RunningServer
from mydyno.machine.programs import find_program

pytestmark = pytest.mark.live

CONNECTIONS = 4
ROUNDS = 25
EVENTS = CONNECTIONS * ROUNDS


def prepared_tables(server: RunningServer, workload: Record) -> None:
    assert run(job(server, workload)).the("done")["exit"] == "ok"


def events(server: RunningServer, workload: Record, **more: Any) -> Record:
    work = phase(CONNECTIONS, rounds(ROUNDS))
    return job(server, workload, work, prepare="none", **more)


def per_event(counts: dict[str, int], *names: str) -> list[float]:
    return [counts.get(name, 0) / EVENTS for name in names]


@pytest.mark.parametrize("prepared", [False, True])
@pytest.mark.parametrize(("scenario", "selects", "updates"), [("select-key", 2, 0), ("update-select", 1, 1)])
def test_smack_sends_two_statements_a_round(
    server: RunningServer, scenario: str, selects: int, updates: int, prepared: bool
) -> None:
    workload = smack(scenario, prepared=prepared)
    prepared_tables(server, workload)
    with counting(server) as counts:
        end = run(events(server, workload)).the("phase_end")
    assert per_event(counts, "select", "update") == [selects, updates]
    assert end["queries"]["count"] == EVENTS * 2
    assert end["transactions"]["count"] == EVENTS
    assert end["statements"]["select_index"]["rows"] == EVENTS * selects, "each key names one row"
    assert end["errors"] == {}


@pytest.mark.parametrize("prepared", [False, True])
@pytest.mark.parametrize(
    ("script", "mix"),
    [
        ("oltp_point_select", {"select": 1}),
        ("oltp_read_only", {"begin": 1, "select": 14, "commit": 1}),
        ("oltp_read_write", {"begin": 1, "select": 14, "update": 2, "delete": 1, "insert": 1, "commit": 1}),
        ("oltp_write_only", {"begin": 1, "update": 2, "delete": 1, "insert": 1, "commit": 1}),
    ],
)
def test_a_sysbench_script_sends_its_statements(
    server: RunningServer, script: str, mix: dict[str, int], prepared: bool
) -> None:
    workload = sysbench(script, prepared=prepared, distribution="uniform")
    prepared_tables(server, workload)
    with counting(server) as counts:
        end = run(events(server, workload)).the("phase_end")
    assert end["transactions"]["count"] == EVENTS
    if end["retries"] == 0:
        assert dict(zip(mix, per_event(counts, *mix), strict=True)) == mix
        assert end["queries"]["count"] == EVENTS * sum(mix.values())
    assert set(end["errors"]) <= {"1213", "1205", "1020"}
    kinds = len(end["statements"])
    assert counts.get("stmt_prepare", 0) == (CONNECTIONS * kinds if prepared else 0)
    assert [count for (count,) in ask(server, "SELECT COUNT(*) FROM engine_test.sbtest1")] == [ROWS]


def test_ranges_return_the_rows_that_they_span(server: RunningServer) -> None:
    workload = sysbench("oltp_read_only", skip_trx=True, distribution="gaussian")
    prepared_tables(server, workload)
    statements = run(events(server, workload)).the("phase_end")["statements"]
    rows = {kind: result["rows"] / result["count"] for kind, result in statements.items()}
    assert rows["point_select"] == 1
    assert rows["sum_range"] == 1
    assert rows["simple_range"] == rows["order_range"] == 100, "the bell is far from the end of the table"


@contextmanager
def logging(server: RunningServer) -> Iterator[list[str]]:
    """The statements of others meanwhile, in the order of the general log."""
    statements: list[str] = []
    ask(server, "TRUNCATE mysql.general_log")
    ask(server, "SET GLOBAL log_output = 'TABLE'")
    ask(server, "SET GLOBAL general_log = 1")
    try:
        yield statements
    finally:
        ask(server, "SET GLOBAL general_log = 0")
    rows = ask(
        server,
        "SELECT argument FROM mysql.general_log WHERE command_type = 'Query'"
        " AND argument NOT LIKE 'SET %' AND argument NOT LIKE 'SHOW %'",
    )
    statements += [sql.decode() if isinstance(sql, bytes) else sql for (sql,) in rows]


def test_the_statements_follow_from_the_seed_alone(server: RunningServer) -> None:
    workload = sysbench("oltp_read_write", tables=2)
    prepared_tables(server, workload)

    def sent(seed: int) -> list[str]:
        with logging(server) as statements:
            work = phase(1, rounds(5))
            run(job(server, workload, work, prepare="none", seed=seed))
        return statements

    first = sent(seed=1)
    assert len([sql for sql in first if sql.startswith(("SELECT ", "UPDATE ", "DELETE ", "INSERT "))]) == 90
    assert first == sent(seed=1)
    assert first != sent(seed=2)


def test_engines_that_share_a_load_send_together_what_one_sends_alone(server: RunningServer) -> None:
    workload = sysbench("oltp_read_only")
    prepared_tables(server, workload)

    def sent(of: int) -> list[str]:
        with logging(server) as statements:
            for number in range(of):
                work = phase(5, rounds(3))
                part = {"number": number, "of": of}
                run(job(server, workload, work, prepare="none", part=part))
        return sorted(sql for sql in statements if sql.startswith("SELECT "))

    alone = sent(1)
    assert len(alone) == 5 * 3 * 14
    assert sent(2) == alone
    assert sent(3) == alone


def test_a_phase_waits_for_its_start_and_is_interrupted_when_none_follows(server: RunningServer) -> None:
    workload = smack("select-key")
    prepared_tables(server, workload)
    two = [phase(2, rounds(3)), phase(2, rounds(3))]
    process = subprocess.Popen(
        [find_program("mydyno-engine"), "run", "--starts"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(job(server, workload, *two, prepare="none")) + "\n")
    process.stdin.flush()
    said = listen_until(process, "connected")
    at_ns = json.loads(said.splitlines()[-1])["t_ns"] + 300_000_000
    process.stdin.write(f"{at_ns}\n")
    process.stdin.flush()
    said += listen_until(process, "connected")
    process.stdin.close()
    result = finish(process, said)
    first, second = result.of("phase_end")
    assert first["measured_from_ns"] >= at_ns
    assert (first["transactions"]["count"], first["interrupted"]) == (6, False)
    assert (second["transactions"]["count"], second["interrupted"]) == (0, True)
    assert (result.the("done")["exit"], result.exit_code) == ("interrupted", 0)


def test_every_message_is_understood_by_the_python_side(server: RunningServer) -> None:
    sampling = {"interval_s": 0.1, "server_pid": server.pid}
    phases = [phase(2, timed(0.5, warmup_s=0.2)), phase(3, rounds(10), pause_s=0.1)]
    result = run(job(server, smack(), *phases, prepare="create", sampling=sampling, interval_s=0.1))
    for line in result.text.splitlines():
        messages.parse(line)
    expected = ["phase_start", "connected", "measuring", "phase_end"]
    story = [kind for kind in result.kinds if kind in {"hello", "prepared", "done", *expected}]
    assert story == ["hello", "prepared", *expected, *expected, "done"]
    assert [message["t_ns"] for message in result.messages] == sorted(m["t_ns"] for m in result.messages)


def test_intervals_cover_the_phase_without_gaps_and_add_up_to_its_statements(server: RunningServer) -> None:
    work = phase(4, timed(0.5, warmup_s=0.25))
    result = run(job(server, smack(), work, interval_s=0.1))
    intervals = result.of("interval")
    end = result.the("phase_end")
    for before, after in pairwise(intervals):
        assert before["to_ns"] == after["from_ns"]
    measured = [interval for interval in intervals if not interval["warmup"]]
    assert len(intervals) > len(measured) >= 4
    assert measured[0]["from_ns"] == end["measured_from_ns"]
    assert measured[-1]["to_ns"] == end["measured_to_ns"]
    assert sum(interval["queries"] for interval in measured) == end["queries"]["count"]
    assert sum(interval["transactions"] for interval in measured) == end["transactions"]["count"]
    assert end["measured_to_ns"] - end["measured_from_ns"] == 500_000_000


def test_samples_hold_the_servers_status_and_both_processes(server: RunningServer) -> None:
    sampling = {"interval_s": 0.1, "server_pid": server.pid}
    result = run(job(server, smack(), phase(7, timed(2.0)), sampling=sampling))
    samples = result.of("sample")
    assert len(samples) >= 5
    assert {"8"} <= {sample["status"]["Threads_connected"] for sample in samples}, "7 and the sampler's own"
    questions = [int(sample["status"]["Questions"]) for sample in samples]
    assert questions == sorted(questions)
    switches = [sample["server"]["voluntary_switches"] for sample in samples]
    assert switches[-1] - switches[0] > 100, "seven connections wait for each of their queries"
    for sample in samples:
        assert sample["server"]["rss_bytes"] > 10_000_000
        assert sample["client"]["voluntary_switches"] is not None
        assert sample["server"]["involuntary_switches"] is not None
        assert sample["host"]["cpu"]["idle"] > 0


def test_tables_that_are_there_are_left_alone_and_others_made(server: RunningServer) -> None:
    workload = sysbench("oltp_read_only", tables=2)
    first = run(job(server, workload, prepare="create")).the("prepared")
    assert first["tables"] == [{"name": "sbtest1", "rows": ROWS}, {"name": "sbtest2", "rows": ROWS}]
    ask(server, "DELETE FROM engine_test.sbtest2 WHERE id = 1")
    ask(server, "UPDATE engine_test.sbtest1 SET pad = 'mine' WHERE id = 1")
    again = run(job(server, workload, prepare="if-missing")).the("prepared")
    assert again["tables"] == first["tables"]
    assert ask(server, "SELECT pad FROM engine_test.sbtest1 WHERE id = 1") == [("mine",)]
    assert ask(server, "SELECT COUNT(*), COUNT(DISTINCT k) > 100 FROM engine_test.sbtest2") == [(ROWS, 1)]


def test_the_rows_do_not_depend_on_the_seed(server: RunningServer) -> None:
    def content(seed: int) -> list[tuple[Any, ...]]:
        run(job(server, smack(), prepare="create", seed=seed))
        return ask(server, "CHECKSUM TABLE engine_test.http_auth")

    assert content(seed=1) == content(seed=2)


def test_a_connection_over_tcp_authenticates_as_over_the_socket(server: RunningServer) -> None:
    prepared_tables(server, smack())
    over_tcp = job(server, smack(), phase(20, rounds(5)), prepare="none")
    over_tcp["target"] = target(server, tcp=True)
    end = run(over_tcp).the("phase_end")
    assert (end["connections_reached"], end["queries"]["count"]) == (20, 200)


def test_an_open_loop_keeps_its_rate_whatever_the_number_of_connections(server: RunningServer) -> None:
    prepared_tables(server, smack())
    for connections in (1, 5):
        arrival = {"kind": "fixed", "rate": 200.0}
        work = phase(connections, timed(1.0), arrival=arrival)
        end = run(job(server, smack(), work, prepare="none")).the("phase_end")
        # On a busy machine some are still waiting at the end of the window.
        assert end["transactions"]["count"] <= 220
        assert end["transactions"]["count"] + end["backlog_max"] >= 180
        assert end["ended_ns"] - end["measured_to_ns"] < 8_000_000_000
        assert end["latency_kind"] == "response"


def test_poisson_arrivals_have_the_asked_rate_on_average(server: RunningServer) -> None:
    prepared_tables(server, smack())
    arrival = {"kind": "poisson", "rate": 400.0}
    work = phase(8, timed(1.0), arrival=arrival)
    end = run(job(server, smack(), work, prepare="none")).the("phase_end")
    # Four standard deviations of a Poisson count are 4 * sqrt(400); on a busy machine some are still waiting.
    assert end["transactions"]["count"] <= 480
    assert end["transactions"]["count"] + end["backlog_max"] >= 320


def test_a_stall_of_the_server_is_in_the_latencies_of_an_open_loop(server: RunningServer) -> None:
    """100 events a second over 2 connections; the table is locked for a while in the middle."""
    prepared_tables(server, smack())
    arrival = {"kind": "fixed", "rate": 100.0}
    work = phase(2, rounds(75), arrival=arrival)
    done = threading.Event()

    def stall() -> None:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("LOCK TABLES engine_test.http_auth WRITE")
            cursor.execute("SELECT SLEEP(0.5)")
            cursor.execute("UNLOCK TABLES")
        done.set()

    thread = threading.Thread(target=stall)
    thread.start()
    end = run(job(server, smack(), work, prepare="none")).the("phase_end")
    thread.join()
    assert done.is_set()
    assert end["transactions"]["count"] == 150
    latency = end["transactions"]["latency"]
    # Two events hang for half a second, and about fifty others should have started meanwhile: a third
    # of all have waited, the last of them hardly at all. A closed loop would show two slow ones.
    assert latency["max_ns"] > 300_000_000
    assert latency["p90_ns"] > 100_000_000
    assert end["backlog_max"] >= 20


def test_deadlocks_start_the_transaction_again_and_lose_no_row(server: RunningServer) -> None:
    workload = sysbench("oltp_write_only", table_size=12, distribution="uniform")
    result = run(job(server, workload, phase(16, rounds(40)), prepare="create"))
    end = result.the("phase_end")
    assert end["retries"] > 0, "sixteen writers on twelve rows collide"
    assert set(end["errors"]) <= {"1213", "1205", "1020"}
    assert sum(end["errors"].values()) == end["retries"]
    assert end["transactions"]["count"] == 16 * 40
    assert end["statements"]["commit"]["count"] == 16 * 40
    assert set(end["error_examples"]) == set(end["errors"])
    assert ask(server, "SELECT COUNT(*) FROM engine_test.sbtest1") == [(12,)]


def test_other_errors_are_counted_and_end_their_event_only(server: RunningServer) -> None:
    prepared_tables(server, sysbench("oltp_read_only"))
    ask(server, "ALTER TABLE engine_test.sbtest1 DROP COLUMN c")
    workload = sysbench("oltp_read_only")
    # With its table the program would be refused at once: it needs the column.
    workload["program"]["tables"] = []
    try:
        end = run(job(server, workload, phase(2, rounds(10)), prepare="none")).the("phase_end")
    finally:
        ask(server, "DROP TABLE engine_test.sbtest1")
    assert end["errors"] == {"1054": 20}
    assert end["statements"]["point_select"]["errors"] == 20
    assert (end["transactions"]["count"], end["statements"]["begin"]["count"]) == (0, 20)
    assert end["aborted"] is None
