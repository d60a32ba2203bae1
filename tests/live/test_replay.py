"""`mydyno replay` and `workload.trace` on a real server: order, transactions, results, what is left out."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from live.conftest import Start
from live.engine import ask
from live.mydyno_process import MEASURED, MYDYNO, Workplace, call
from mydyno.core.errors import ExitCode
from mydyno.core.synthetic import SAYS
from mydyno.lab.stack import RunningServer
from mydyno.machine.programs import find_program

pytestmark = pytest.mark.live

_HEAD = """/usr/sbin/mariadbd, Version: 10.11.6-MariaDB (Debian 12). started with:
Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock
Time                Id Command  Argument
"""
_PUT_TOGETHER = """# Time: 2026-01-01T00:00:00.100000Z
# User@Host: synthetic[synthetic] @ localhost []  Id: 1
# Query_time: 0.001000
use shop;
SET timestamp=1767225600;
SELECT name FROM article;
"""
"""As `mydyno synthesize` writes it: nothing is known of rows."""
IN_TRANSACTION = 4


def traced(
    folder: Path, statements: Iterable[tuple[float, int, str]], rows: int = 1, schema: str = "shop"
) -> Path:
    """A trace of (second, connection, statement), by way of a slow log; each took 1 ms and sent `rows`."""
    lines = [_HEAD]
    for second, connection, sql in sorted(statements, key=lambda one: one[0]):
        lines.append(
            f"# User@Host: app[app] @ localhost []\n# Thread_id: {connection}  Schema: {schema}  QC_hit: No\n"
            f"# Query_time: 0.001000  Lock_time: 0.000000  Rows_sent: {rows}  Rows_examined: 1\n"
            f"SET timestamp={1_700_000_000 + second + 0.001:.6f};\n{sql};\n"
        )
    log, trace = folder / "slow.log", folder / "shop.trace"
    log.write_text("".join(lines))
    subprocess.run(
        [find_program("mydyno-engine"), "trace", "capture", str(log), "--out", str(trace)], check=True
    )
    return trace


@pytest.fixture
def shop(server: RunningServer) -> RunningServer:
    """A schema with ten articles."""
    ask(server, "DROP DATABASE IF EXISTS shop")
    ask(server, "CREATE DATABASE shop")
    ask(server, "CREATE TABLE shop.article (id INT PRIMARY KEY, name VARCHAR(20), price DOUBLE)")
    articles = ", ".join(f"({number}, 'article {number}', {number / 3})" for number in range(1, 11))
    ask(server, f"INSERT INTO shop.article VALUES {articles}")
    ask(server, "CREATE TABLE shop.seen (id INT AUTO_INCREMENT PRIMARY KEY, connection INT, step INT)")
    return server


def options_of(server: RunningServer, folder: Path) -> tuple[str, ...]:
    path = folder / "client.cnf"
    path.touch(mode=0o600)
    password = server.login.password.reveal()
    path.write_text(f"[client]\nuser={server.login.user}\npassword='{password}'\nsocket={server.socket}\n")
    return ("--defaults-file", str(path))


def wait_for_statements(process: subprocess.Popen[str]) -> None:
    """Until an interval of the trace has been shown; the first one comes before its statements."""
    assert process.stderr is not None
    line = ""
    while "qps" not in line or "warm-up" in line:
        line = process.stderr.readline()
        assert line, "it ended"


def replayed(server: RunningServer, trace: Path, folder: Path, *options: str) -> dict[str, Any]:
    done = call("replay", str(trace), *options_of(server, folder), *options, "--json")
    assert done.returncode == 0, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def test_each_connection_keeps_its_order_and_every_statement_is_counted(
    shop: RunningServer, tmp_path: Path
) -> None:
    steps = [
        (step / 100, connection, f"INSERT INTO seen (connection, step) VALUES ({connection}, {step})")
        for connection in range(20)
        for step in range(50)
    ]
    trace = traced(tmp_path, steps)
    out = tmp_path / "out"
    figures = replayed(shop, trace, tmp_path, "--speed", "max", "--all-statements", "--out", str(out))
    assert (figures["statements"], figures["replayed"], figures["skipped"]) == (1000, 1000, {})
    rows = ask(shop, "SELECT connection, step FROM shop.seen ORDER BY id")
    for connection in range(20):
        assert [int(step) for one, step in rows if int(one) == connection] == list(range(50))
    records = np.load(out / "statements.npy", mmap_mode="r")
    assert records["statement"].tolist() == list(range(1000))
    assert (records["outcome"] == 1).all()
    assert (records["affected"] == 1).all()
    for connection in np.unique(records["connection"]):
        own = records[records["connection"] == connection]
        ends = own["sent_us"] + own["service_us"]
        assert (own["sent_us"][1:] >= ends[:-1]).all()


def test_statements_start_when_they_did_and_none_before(shop: RunningServer, tmp_path: Path) -> None:
    trace = traced(tmp_path, [(step / 10, step % 3, "SELECT 1") for step in range(20)])
    out = tmp_path / "out"
    figures = replayed(shop, trace, tmp_path, "--speed", "2x", "--out", str(out))
    records = np.load(out / "statements.npy")
    due = records["trace_start_us"].astype(np.int64) // 2
    assert (records["sent_us"].astype(np.int64) >= due - 1).all()
    assert (records["start_error_us"] >= 0).all()
    # Not the 0.95 s that they take at best: a busy machine may send the first one late.
    ends = records["sent_us"].astype(np.int64) + records["service_us"].astype(np.int64)
    assert figures["elapsed_us"] == ends.max() - records["sent_us"].min()
    assert ends.max() >= 900_000
    assert (records["latency_us"] >= records["service_us"]).all()


def test_a_transaction_stays_whole(shop: RunningServer, tmp_path: Path) -> None:
    steps = [(0.0, 1, "BEGIN")]
    steps += [(0.01 * step, 1, f"INSERT INTO seen VALUES (NULL, 1, {step})") for step in range(1, 5)]
    steps += [(0.06, 1, "ROLLBACK"), (0.07, 1, "INSERT INTO seen VALUES (NULL, 1, 9)")]
    out = tmp_path / "out"
    trace = traced(tmp_path, steps)
    replayed(shop, trace, tmp_path, "--speed", "max", "--all-statements", "--out", str(out))
    assert [int(step) for (step,) in ask(shop, "SELECT step FROM shop.seen")] == [9]
    flags = np.load(out / "statements.npy")["flags"] & IN_TRANSACTION
    assert flags.astype(bool).tolist() == [False, True, True, True, True, True, False]


def test_two_replays_agree_until_a_row_changes(shop: RunningServer, tmp_path: Path) -> None:
    trace = traced(
        tmp_path,
        [
            (0.0, 1, "SELECT * FROM article ORDER BY id"),
            (0.1, 2, "SELECT name, price FROM article"),
            (0.2, 1, "SELECT count(*) FROM article"),
        ],
    )

    def checksums(name: str) -> list[tuple[int, int]]:
        replayed(shop, trace, tmp_path, "--speed", "max", "--out", str(tmp_path / name))
        records = np.load(tmp_path / name / "statements.npy")
        assert records["rows"].tolist() == [10, 10, 1]
        return [(int(one["ordered"]), int(one["unordered"])) for one in records]

    first, second = checksums("first"), checksums("second")
    ask(shop, "UPDATE shop.article SET name = 'another' WHERE id = 3")
    third = checksums("third")
    assert first == second
    assert [one != other for one, other in zip(first, third, strict=True)] == [True, True, False]


def test_reads_only_is_what_happens_unless_all_is_wanted(shop: RunningServer, tmp_path: Path) -> None:
    ask(shop, "CREATE FUNCTION shop.doubled(a INT) RETURNS INT DETERMINISTIC RETURN 2 * a")
    statements = [
        "SELECT id FROM article WHERE id = 1",
        "DELETE FROM article",
        "SELECT id FROM article WHERE id = 1 FOR UPDATE",
        "SELECT doubled(1)",
        "SELECT 1 INTO OUTFILE '/tmp/mydyno-never'",
        "CREATE USER somebody IDENTIFIED BY 'x'",
        "SET GLOBAL max_connections = 1",
        "KILL 1",
        "XA START 'a'",
        "CHANGE MASTER TO MASTER_HOST = 'x'",
        "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE article",
    ]
    trace = traced(tmp_path, [(number / 100, 1, sql) for number, sql in enumerate(statements)])
    refused = {
        "server-file": 1,
        "account": 1,
        "administration": 2,
        "xa": 1,
        "leaves-server": 1,
        "local-file": 1,
    }
    figures = replayed(shop, trace, tmp_path, "--speed", "max")
    assert figures["skipped"] == {**refused, "write": 1, "lock": 1, "unknown-effect": 1}
    assert figures["replayed"] == 1
    assert int(ask(shop, "SELECT count(*) FROM shop.article")[0][0]) == 10
    figures = replayed(shop, trace, tmp_path, "--speed", "max", "--all-statements")
    assert figures["skipped"] == refused
    assert figures["replayed"] == 4


def test_errors_and_row_counts_are_compared_with_the_trace(shop: RunningServer, tmp_path: Path) -> None:
    trace = traced(tmp_path, [(0.0, 1, "SELECT id FROM article"), (0.1, 1, "SELECT nothing FROM article")])
    out = tmp_path / "out"
    figures = replayed(shop, trace, tmp_path, "--speed", "max", "--out", str(out))
    assert figures["failed_newly"] + figures["failed_unknown"] == 1
    assert (figures["rows_compared"], figures["rows_differ"]) == (1, 1)
    [error] = [json.loads(line) for line in (out / "errors.jsonl").read_text().splitlines()]
    assert (error["error"], error["statement"]) == (1054, 1)
    texts = [json.loads(line) for line in (out / "fingerprints.jsonl").read_text().splitlines()]
    assert [one["tables"] for one in texts] == [[{"schema": None, "name": "article"}]] * 2
    assert json.loads((out / "summary.json").read_text())["replayed"] == 2


def test_of_a_synthetic_part_no_row_count_is_compared_and_the_replay_is_called_synthetic(
    shop: RunningServer, tmp_path: Path
) -> None:
    recorded = traced(tmp_path, [(step / 100, 1, f"SELECT {step} FROM article") for step in range(3)])
    engine = find_program("mydyno-engine")
    made, both = tmp_path / "made.trace", tmp_path / "both.trace"
    (tmp_path / "made.log").write_text(_PUT_TOGETHER)
    put_together = [engine, "trace", "capture", tmp_path / "made.log", "--out", made, "--synthetic"]
    subprocess.run(put_together, check=True)
    merge = [engine, "trace", "merge", recorded, made, "--align-starts", "--out", both]
    subprocess.run(merge, check=True)
    counts = {}
    for trace in (made, both):
        figures = replayed(shop, trace, tmp_path, "--speed", "max")
        assert figures["source"] == "synthetic"
        assert (figures["replayed"], figures["errors"]) == (figures["statements"], {})
        counts[trace] = (figures["statements"], figures["rows_compared"], figures["rows_differ"])
    # The recorded ones say that they sent one row, and send ten.
    assert counts == {made: (1, 0, 0), both: (4, 3, 3)}
    text = call("replay", str(both), *options_of(shop, tmp_path), "--speed", "max").stdout
    assert text.startswith("synthetic trace on ")
    assert SAYS in text
    assert "sent          4 of 4 statements" in text
    assert "row counts" not in text
    assert "replay" not in text


def test_what_the_server_lacks_is_said_before_the_start(shop: RunningServer, tmp_path: Path) -> None:
    ask(shop, "DROP TABLE shop.article")
    trace = traced(tmp_path, [(0.0, 1, "SELECT id FROM article")])
    done = call("replay", str(trace), *options_of(shop, tmp_path))
    assert done.returncode == ExitCode.USAGE
    assert "none of the tables of the trace: shop.article" in done.stderr
    ask(shop, "DROP DATABASE shop")
    done = call("replay", str(trace), *options_of(shop, tmp_path))
    assert done.returncode == ExitCode.USAGE
    assert "no schema shop" in done.stderr


_EXPERIMENT = """
experiment: replayed
setup:
  server: {config: {innodb_buffer_pool_size: 32M, innodb_log_file_size: 8M}}
factors:
  server.config.thread_cache_size: [4, 20]
workload:
  trace: {path: shop.trace, speed: 2x}
design: {repeats: 2, seed: 3}
"""


def test_an_experiment_replays_a_trace_in_each_trial(workplace: Workplace) -> None:
    steps = [(step / 100, step % 4, f"SELECT {step}, version()") for step in range(200)]
    traced(workplace.folder, steps, schema="")
    file = workplace.folder / "replayed.yaml"
    file.write_text(_EXPERIMENT)
    planned = workplace.run("plan", str(file))
    assert planned.returncode == 0, planned.stderr
    assert "200 statements of 4 connections" in " ".join(planned.stdout.split())
    done = workplace.run("run", str(file))
    assert done.returncode in MEASURED, done.stderr
    results = sorted(workplace.lab.rglob("statements.npy"))
    assert len(results) == 4
    for path in results:
        assert (np.load(path)["outcome"] == 1).sum() == 200


def test_ctrl_c_keeps_what_was_measured(shop: RunningServer, tmp_path: Path) -> None:
    trace = traced(tmp_path, [(step / 10, 1, "SELECT 1") for step in range(10_000)])
    out = tmp_path / "out"
    process = subprocess.Popen(
        [MYDYNO, "replay", str(trace), *options_of(shop, tmp_path), "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_statements(process)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED
    assert "statements (100.0%)" in text
    records = np.load(out / "statements.npy")
    assert 0 < len(records) < 10_000
    assert (records["outcome"] == 1).all()


def test_a_server_that_dies_leaves_what_was_replayed(start: Start, tmp_path: Path) -> None:
    server = start()
    ask(server, "CREATE DATABASE shop")
    trace = traced(tmp_path, [(step / 10, step % 5, "SELECT 1") for step in range(10_000)])
    out = tmp_path / "out"
    process = subprocess.Popen(
        [MYDYNO, "replay", str(trace), *options_of(server, tmp_path), "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_statements(process)
    assert server.pid is not None
    subprocess.run(["kill", "-KILL", str(server.pid)], check=True)
    text, errors = process.communicate(timeout=90)
    assert process.returncode == ExitCode.SERVER, errors
    assert "the replay ended early" in errors
    assert "replayed" in text
    assert (np.load(out / "statements.npy")["outcome"] == 1).any()
