"""Loading sysbench's tables: mydyno-engine against `sysbench oltp_read_write prepare` (1.0.20).

Both load the same private server, whose settings are those of its makers but for a buffer pool that the data
fit in, in turn for several rounds; the order turns round from one round to the next. CPU is that of
the whole client process and of the server, from the start of the client until it ends.

    python benchmarks/loading_vs_sysbench.py [--rounds 3] [--tables 4] [--rows 1000000] [--release mysql-9.7]
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench_support import (
    DATABASE,
    ProcessUsage,
    configured_server,
    machine,
    print_table,
    ratio,
    run_engine,
    run_measured,
    say,
    spread,
)

from mydyno.core.server_release import SYSTEM
from mydyno.lab import workload
from mydyno.lab.stack import RunningServer

LEAST_RATIO = 2.0
"""The engine has promised to load at least so many times as fast as sysbench."""
CONFIG = {"innodb_buffer_pool_size": "2G"}
CONTENTS = (
    "SELECT COUNT(*), MIN(id), MAX(id), ROUND(AVG(k), -4), MIN(LENGTH(c)), MAX(LENGTH(c)), MAX(LENGTH(pad))"
)


@dataclass(frozen=True)
class Loading:
    seconds: float
    client: ProcessUsage
    server_s: float


def engine(server: RunningServer, tables: int, rows: int) -> ProcessUsage:
    options = {"tables": tables, "table_size": rows}
    program = {"program": workload.read("oltp-read-write").resolve(options).program}
    _, usage = run_engine(server, program, [], prepare="create")
    return usage


def sysbench(server: RunningServer, tables: int, rows: int) -> ProcessUsage:
    options = {
        "mysql-socket": server.socket,
        "mysql-user": server.login.user,
        "mysql-password": server.login.password.reveal(),
        "mysql-db": DATABASE,
        "threads": tables,
    }
    # What a script declares is not read from a file.
    shape = [f"--tables={tables}", f"--table-size={rows}"]
    # In a file of our own, where no other user can read the password.
    with tempfile.NamedTemporaryFile("w", suffix=".cnf") as config:
        config.write("".join(f"{name}={value}\n" for name, value in options.items()))
        config.flush()
        _, usage = run_measured(
            ["sysbench", f"--config-file={config.name}", "oltp_read_write", *shape, "prepare"]
        )
    return usage


CLIENTS: dict[str, Callable[[RunningServer, int, int], ProcessUsage]] = {
    "engine": engine,
    "sysbench": sysbench,
}


def measure(server: RunningServer, name: str, tables: int, rows: int) -> tuple[Loading, object]:
    """One loading into an empty database, and what is in its tables afterwards."""
    with closing(server.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        cursor.execute(f"CREATE DATABASE {DATABASE}")
        before, started = server_cpu(server), time.monotonic()
        client = CLIENTS[name](server, tables, rows)
        loading = Loading(time.monotonic() - started, client, server_cpu(server) - before)
        cursor.execute(f"USE {DATABASE}")
        found = []
        for number in range(1, tables + 1):
            cursor.execute(f"{CONTENTS} FROM sbtest{number}")
            contents = cursor.fetchone()
            cursor.execute(f"SHOW CREATE TABLE sbtest{number}")
            create = cursor.fetchone() or ("", "")
            found.append((contents, create[1].split(" COMMENT=")[0]))
    return loading, found


def server_cpu(server: RunningServer) -> float:
    fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def print_results(results: dict[str, list[Loading]], rows: int) -> None:
    table = []
    for name, runs in results.items():
        client = [run.client.user_s + run.client.system_s for run in runs]
        table.append(
            (
                name,
                spread([run.seconds for run in runs], 1),
                f"{rows / min(run.seconds for run in runs):,.0f}",
                spread([seconds / rows * 1e6 for seconds in client], 2),
                spread([run.server_s / rows * 1e6 for run in runs], 2),
            )
        )
    print_table(("client", "seconds", "rows/s, best", "client CPU us/row", "server CPU us/row"), table)
    pairs = {name: [run.seconds for run in runs] for name, runs in results.items()}
    mean, low, high = ratio(pairs["sysbench"], pairs["engine"])
    kept = "kept" if mean >= LEAST_RATIO else "BROKEN"
    print(
        f"\nTime of sysbench / time of the engine: {mean:.2f} [{low:.2f} {high:.2f}], "
        f">= {LEAST_RATIO:g}: {kept}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tables", type=int, default=4)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of each table")
    parser.add_argument("--release", default=SYSTEM)
    arguments = parser.parse_args()
    if not shutil.which("sysbench"):
        raise SystemExit("sysbench was not found: install it (apt-get install sysbench)")
    results: dict[str, list[Loading]] = {name: [] for name in CLIENTS}
    contents = set()
    empty = {"program": workload.read("oltp-point-select").resolve({"table_size": 1}).program}
    with configured_server(empty, CONFIG, arguments.release) as server:
        for number in range(arguments.rounds):
            for name in list(CLIENTS)[:: 1 if number % 2 == 0 else -1]:
                say(f"round {number + 1} of {arguments.rounds}: {name}")
                loading, found = measure(server, name, arguments.tables, arguments.rows)
                results[name].append(loading)
                contents.add(repr(found))
        version = server.version
    rows = arguments.tables * arguments.rows
    print(f"\n{arguments.tables} tables of {arguments.rows:,} rows, {version}. {machine()}\n")
    print_results(results, rows)
    print(
        f"Schemas and statistics of the data: {'equal' if len(contents) == 1 else f'DIFFERENT: {contents}'}"
    )


if __name__ == "__main__":
    main()
