"""Replaying a trace: the pace, order and rate of mydyno-engine, and the rate of pt-upgrade (Percona Toolkit).

A log is made of point reads of one table on many connections, as a server writes it. The engine replays its
trace at 1x, where the error of the starts is measured, and as fast as possible on two private servers, one
after the other; pt-upgrade runs the same statements of the same log on the same two servers. Rates are
statements over the time of both servers; the programs take turns for several rounds.

    python benchmarks/replay.py [--statements 20000] [--connections 200] [--seconds 20] [--rounds 3]
        [--pt-upgrade PATH] [--no-peer]
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
from bench_support import configured_server, machine, print_table, run_engine, say
from numpy.typing import NDArray

from mydyno.lab.stack import RunningServer, Setting
from mydyno.machine.programs import find_program

LEAST_RATIO = 10.0
"""The engine has promised so many times the rate of pt-upgrade."""
MOST_START_ERROR_US = 5000
"""At 1x, of 99 in 100 statements, on a machine that does nothing else."""
ROWS = 10_000
CONFIG: dict[str, Setting] = {"innodb_buffer_pool_size": "256M", "max_connections": 300}
_HEAD = """/usr/sbin/mariadbd, Version: 10.11.6-MariaDB (Debian 12). started with:
Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock
Time                Id Command  Argument
"""


def make_log(path: Path, statements: int, connections: int, seconds: float) -> None:
    """A slow log whose statements are spread evenly over the time, on connections in random order."""
    draw = random.Random(1)
    with path.open("w") as log:
        log.write(_HEAD)
        for number in range(statements):
            at = 1_700_000_000 + seconds * number / statements
            log.write(
                f"# User@Host: root[root] @ localhost []\n"
                f"# Thread_id: {1 + draw.randrange(connections)}  Schema: shop  QC_hit: No\n"
                "# Query_time: 0.000100  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 1\n"
                f"SET timestamp={at + 0.0001:.6f};\n"
                f"SELECT name FROM article WHERE id = {1 + draw.randrange(ROWS)};\n"
            )


def fill(server: RunningServer) -> None:
    with closing(server.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE shop")
        cursor.execute("CREATE TABLE shop.article (id INT PRIMARY KEY, name VARCHAR(40))")
        rows = ", ".join(f"({number}, 'article {number}')" for number in range(1, ROWS + 1))
        cursor.execute(f"INSERT INTO shop.article VALUES {rows}")


def replay(
    server: RunningServer, trace: Path, connections: int, speed: float | None, out: Path
) -> tuple[NDArray[Any], dict[str, Any], float]:
    """The records, the summary, and the seconds from the first statement to the last."""
    job = {"trace": str(trace), "speed": speed, "reads_only": True, "out": str(out)}
    phase = {"connections": connections, "work": {"kind": "trace"}}
    messages, _ = run_engine(server, {"replay": job}, [phase])
    [summary] = [message for message in messages if message["type"] == "replay"]
    return np.load(out / "statements.npy", mmap_mode="r"), summary, summary["elapsed_us"] / 1e6


def violations(records: NDArray[Any]) -> int:
    """Statements that were sent before the one in front of them on their connection had been answered."""
    order = np.lexsort((records["statement"], records["connection"]))
    own = records[order]
    same = own["connection"][1:] == own["connection"][:-1]
    ends = own["sent_us"] + own["service_us"]
    return int((same & (own["sent_us"][1:] < ends[:-1])).sum())


def pt_upgrade(program: str, servers: list[RunningServer], log: Path, folder: Path) -> float:
    """Seconds of a whole run."""
    names = []
    for number, server in enumerate(servers):
        path = folder / f"server{number}.cnf"
        path.touch(mode=0o600)
        password = server.login.password.reveal()
        path.write_text(f"[client]\nuser={server.login.user}\npassword={password}\nsocket={server.socket}\n")
        names.append(f"F={path},D=shop")
    begun = time.monotonic()
    done = subprocess.run(
        # Without the second option it leaves out what it has seen often enough.
        [program, str(log), *names, "--noversion-check", "--max-class-size=1000000000"],
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - begun
    if "queries_read" not in done.stdout and "Queries" not in done.stdout:
        raise SystemExit(f"{program} did not run: {done.stderr[-500:] or done.stdout[-500:]}")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--statements", type=int, default=20_000)
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20.0, help="length of the log")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pt-upgrade", default=shutil.which("pt-upgrade"))
    parser.add_argument("--no-peer", action="store_true")
    options = parser.parse_args()
    say(machine())
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mydyno-replay-")))
        log, trace = folder / "slow.log", folder / "slow.trace"
        make_log(log, options.statements, options.connections, options.seconds)
        engine = str(find_program("mydyno-engine"))
        subprocess.run(
            [engine, "trace", "capture", str(log), "--out", str(trace)], check=True, stdout=subprocess.DEVNULL
        )
        servers = [
            stack.enter_context(configured_server({"program": {"name": "none"}}, CONFIG)) for _ in range(2)
        ]
        for server in servers:
            fill(server)
        rows = [_paced(servers[0], trace, options, folder)]
        rows += _fastest(servers, trace, log, options, folder)
    print_table(("what", "statements", "figure", "bar"), rows)


def _paced(server: RunningServer, trace: Path, options: argparse.Namespace, folder: Path) -> tuple[str, ...]:
    records, _, _ = replay(server, trace, options.connections, 1.0, folder / "paced")
    p99 = float(np.percentile(records["start_error_us"], 99))
    return (
        "start error at 1x, p99",
        f"{len(records):,}",
        f"{p99 / 1000:.2f} ms",
        f"under {MOST_START_ERROR_US / 1000:g} ms",
    )


def _fastest(
    servers: list[RunningServer], trace: Path, log: Path, options: argparse.Namespace, folder: Path
) -> list[tuple[str, ...]]:
    ours, theirs, wrong, counted = [], [], 0, 0
    for number in range(options.rounds):
        seconds = 0.0
        for one, server in enumerate(servers):
            out = folder / f"max-{number}-{one}"
            records, summary, took = replay(server, trace, options.connections, None, out)
            seconds += took
            wrong += violations(records)
            counted += summary["replayed"]
        ours.append(options.statements / seconds)
        if not options.no_peer and options.pt_upgrade:
            theirs.append(options.statements / pt_upgrade(options.pt_upgrade, servers, log, folder))
    wanted = options.statements * options.rounds * len(servers)
    rows: list[tuple[str, ...]] = [
        ("out of order", f"{wanted:,}", f"{wrong}", "0"),
        ("counted", f"{wanted:,}", f"{counted / wanted:.1%}", "100%"),
        ("rate, both servers", f"{options.statements:,}", f"{statistics.median(ours):,.0f}/s", ""),
    ]
    if theirs:
        ratio = statistics.median(one / other for one, other in zip(ours, theirs, strict=True))
        rate = statistics.median(theirs)
        rows.append(("pt-upgrade, both servers", f"{options.statements:,}", f"{rate:,.0f}/s", ""))
        rows.append(("times its rate", "", f"{ratio:.1f}", f"at least {LEAST_RATIO:g}"))
    elif not options.no_peer:
        say("pt-upgrade was not found: apt-get install percona-toolkit")
    return rows


if __name__ == "__main__":
    main()
