"""Records what a server's settings are worth: every point of a grid, several times, with the noise.

A private server with four tables of 60,000 rows (60 MB), so that the smallest buffer pool is I/O-bound and
the largest holds all data. Two of the six settings need a restart: the servers are started in random order,
each twice a repetition, and all other settings are changed while it runs, in random order. Every trial is
appended to the file when it has ended; started again with the same file, the script goes on.

    python benchmarks/record_surface.py OUT.csv [--load NAME] [--repeats 2] [--seconds 4] [--seed 1]

`tests/tune/surface.csv` was recorded by it, and replaying it compares samplers (benchmarks/samplers.py).
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import random
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench_support import DATABASE, configured_server, run_engine, say

from mydyno.lab import workload
from mydyno.lab.stack import RunningServer
from mydyno.server.access import dbapi

LEVELS: dict[str, tuple[str, ...]] = {
    "innodb_flush_method": ("fsync", "O_DIRECT"),
    "thread_handling": ("one-thread-per-connection", "pool-of-threads"),
    "innodb_buffer_pool_size": ("16M", "48M", "128M"),
    "innodb_log_file_size": ("16M", "48M", "144M"),
    "innodb_io_capacity": ("100", "1000", "10000"),
    "innodb_adaptive_hash_index": ("OFF", "ON"),
}
AT_START = ("innodb_flush_method", "thread_handling")
TABLES, ROWS, CONNECTIONS = 4, 60_000, 8
MEASURED = ("transactions_per_second", "p99_ms", "cpu_us_per_transaction")
COLUMNS = ("load", "repetition", "number", *LEVELS, *MEASURED, "load_average", "at")

Point = tuple[str, ...]
"""A level of each setting, in the order of LEVELS."""


def sessions(repeats: int, seed: int) -> list[tuple[int, list[Point]]]:
    """The points of each start of a server, with the repetition that they belong to."""
    shuffled = random.Random(seed)
    points = list(itertools.product(*LEVELS.values()))
    every: list[tuple[int, list[Point]]] = []
    for repetition in range(1, repeats + 1):
        starts = []
        for start in itertools.product(*(LEVELS[name] for name in AT_START)):
            own = [point for point in points if point[: len(AT_START)] == start]
            shuffled.shuffle(own)
            starts += [(repetition, own[::2]), (repetition, own[1::2])]
        shuffled.shuffle(starts)
        every += starts
    return every


def record(file: Path, load: str, repeats: int, seconds: float, seed: int) -> None:
    done = _done(file)
    number = len(done)
    program = (
        workload.read(load).resolve({"tables": TABLES, "table_size": ROWS, "distribution": "uniform"}).program
    )
    for repetition, points in sessions(repeats, seed):
        left = [point for point in points if (load, str(repetition), *point) not in done]
        if not left:
            continue
        config = dict(zip(LEVELS, left[0], strict=True))
        say(f"{load}, repetition {repetition}: {', '.join(left[0][: len(AT_START)])}, {len(left)} trials")
        with configured_server({"program": program}, {**config, "innodb_buffer_pool_size": "128M"}) as server:
            for point in left:
                number += 1
                settings = dict(zip(LEVELS, point, strict=True))
                figures = trial(server, {"program": program}, settings, seconds)
                row = {"load": load, "repetition": repetition, "number": number, **settings, **figures}
                _append(file, row)


def _done(file: Path) -> set[tuple[str, ...]]:
    if not file.exists():
        return set()
    with file.open(newline="") as rows:
        return {
            (row["load"], row["repetition"], *(row[name] for name in LEVELS)) for row in csv.DictReader(rows)
        }


def _append(file: Path, row: dict[str, Any]) -> None:
    fresh = not file.exists()
    with file.open("a", newline="") as rows:
        writer = csv.DictWriter(rows, COLUMNS, lineterminator="\n")
        if fresh:
            writer.writeheader()
        writer.writerow(row)


def trial(
    server: RunningServer, load: dict[str, Any], settings: dict[str, str], seconds: float
) -> dict[str, Any]:
    with closing(server.connect(answer_seconds=120)) as connection, connection.cursor() as cursor:
        for name, value in settings.items():
            if name not in AT_START:
                _set(cursor, name, value)
        for table in range(1, TABLES + 1):
            cursor.execute(f"SELECT SUM(LENGTH(pad)) FROM {DATABASE}.sbtest{table}")
            cursor.fetchall()
    before = _cpu_s(server.pid)
    work = {"kind": "timed", "warmup_s": 0.5, "measure_s": seconds}
    messages, _ = run_engine(server, load, [{"connections": CONNECTIONS, "work": work}])
    cpu_s = _cpu_s(server.pid) - before
    [end] = [message for message in messages if message["type"] == "phase_end"]
    transactions = end["transactions"]
    measured_s = (end["measured_to_ns"] - end["measured_from_ns"]) / 1e9
    whole_s = (end["measured_to_ns"] - end["started_ns"]) / 1e9
    return {
        "transactions_per_second": round(transactions["count"] / measured_s, 2),
        "p99_ms": round(transactions["latency"]["p99_ns"] / 1e6, 3),
        "cpu_us_per_transaction": round(cpu_s / whole_s * measured_s / transactions["count"] * 1e6, 1),
        "load_average": os.getloadavg()[0],
        "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _set(cursor: dbapi.Cursor, name: str, value: str) -> None:
    number = int(value[:-1]) << 20 if value.endswith("M") else value
    cursor.execute(f"SET GLOBAL {name} = %s", (int(number) if str(number).isdigit() else number,))
    if name == "innodb_io_capacity":
        cursor.execute("SET GLOBAL innodb_io_capacity_max = %s", (2 * int(value),))
    if name != "innodb_buffer_pool_size":
        return
    for _ in range(400):
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_resize_status'")
        [(_, status)] = cursor.fetchall()
        if not status or "ompleted" in str(status):
            return
        time.sleep(0.05)
    raise SystemExit(f"the buffer pool is not {value} after 20 s: {status}")


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--load", default="oltp-read-write")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    record(arguments.out, arguments.load, arguments.repeats, arguments.seconds, arguments.seed)


if __name__ == "__main__":
    main()
