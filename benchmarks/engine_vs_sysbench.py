"""mydyno-engine against sysbench 1.0.20, mysqlslap and a floor: scripts of sysbench over a unix socket.

All drive the same private server, in turn, for several rounds; the order turns round from one round to
the next. CPU is that of the whole client process, connecting included, over all its queries. The floor
(floor.rs) sends the same point selects and does nothing else: what a client cannot do without. mysqlslap
sends one and the same point select, and so does engine-one-row.

    python benchmarks/engine_vs_sysbench.py [--rounds 5] [--seconds 3] [--connections 1 8 32 128 400 1000]
    python benchmarks/engine_vs_sysbench.py --mode prepared --tools engine floor
    python benchmarks/engine_vs_sysbench.py --script read-write --tools engine sysbench
    python benchmarks/engine_vs_sysbench.py --client-cpus 0 --server-cpus 1
    python benchmarks/engine_vs_sysbench.py --tools engine engine-unpinned engine-1-reactor
    python benchmarks/engine_vs_sysbench.py --tools engine-one-row mysqlslap
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench_support import (
    DATABASE,
    Measured,
    ProcessUsage,
    machine,
    print_table,
    private_server,
    ratio,
    run_engine,
    run_measured,
    say,
    spread,
)

from mydyno.lab import workload
from mydyno.lab.stack import RunningServer

TABLE_SIZE = 10_000
MODES = ("text", "prepared")
SCRIPTS = ("point-select", "read-only", "read-write")
# Errors that sysbench ignores, too: its transaction begins again.
RESTARTED = {"1020", "1205", "1213"}


@dataclass(frozen=True)
class Load:
    script: str
    mode: str

    def program(self, one_row: bool = False) -> dict[str, object]:
        program = workload.read(f"oltp-{self.script}").resolve({"table_size": TABLE_SIZE}).program
        if one_row:
            send = {"send": {"name": "point_select", "sql": [ONE_ROW]}}
            program = {**program, "transactions": [{"name": "transaction", "weight": 1, "steps": [send]}]}
        return {"program": {**program, "prepared": self.mode == "prepared"}}


# Connections -> at least this many times sysbench's queries per second, and at most this share of its
# user CPU per query: what the engine has promised.
LEAST_SPEED = {1: 1.0, 8: 1.0, 32: 1.0, 128: 1.0, 400: 1.0, 1000: 1.6}
MOST_USER_CPU = {8: 0.4, 128: 0.2, 400: 0.2, 1000: 0.2}
# Against the floor, at any number of connections: queries per second and CPU per query.
LEAST_OF_FLOOR, MOST_CPU_OF_FLOOR = 0.95, 1.2

SLAP_QUERIES_PER_SECOND = 30_000
ONE_ROW = f"SELECT c FROM sbtest1 WHERE id={TABLE_SIZE // 2}"
_TICK_S = 0.01

Tool = Callable[[RunningServer, int, float, Load], Measured]


def measured(queries: int, seconds: float, usage: ProcessUsage) -> Measured:
    return Measured(
        queries=queries,
        queries_per_second=queries / seconds,
        # Short runs may have none at all: user time is counted in ticks.
        user_us=max(usage.user_s, _TICK_S) / queries * 1e6,
        system_us=usage.system_s / queries * 1e6,
        peak_bytes=usage.peak_bytes,
    )


def engine(one_row: bool = False, **job: object) -> Tool:
    def run(server: RunningServer, connections: int, seconds: float, load: Load) -> Measured:
        work = {"kind": "timed", "warmup_s": 0.0, "measure_s": seconds}
        phases = [{"connections": connections, "work": work}]
        messages, usage = run_engine(server, load.program(one_row), phases, **job)
        [end] = [message for message in messages if message["type"] == "phase_end"]
        if set(end["errors"]) - RESTARTED or end["connections_reached"] != connections:
            raise SystemExit(f"the engine's load was not clean: {end['errors']}")
        elapsed = (end["measured_to_ns"] - end["measured_from_ns"]) / 1e9
        return measured(end["queries"]["count"], elapsed, usage)

    return run


def sysbench(server: RunningServer, connections: int, seconds: float, load: Load) -> Measured:
    options = {
        "mysql-socket": server.socket,
        "mysql-user": server.login.user,
        "mysql-password": server.login.password.reveal(),
        "mysql-db": DATABASE,
        "threads": connections,
        "time": f"{seconds:.0f}",
        "db-ps-mode": "disable" if load.mode == "text" else "auto",
        "rand-type": "special",
    }
    # In a file of our own, where no other user can read the password.
    with tempfile.NamedTemporaryFile("w", suffix=".cnf") as config:
        config.write("".join(f"{name}={value}\n" for name, value in options.items()))
        config.flush()
        command = ["sysbench", f"--config-file={config.name}", f"oltp_{load.script.replace('-', '_')}"]
        # What a script declares is not read from a file.
        report, usage = run_measured([*command, f"--table-size={TABLE_SIZE}", "run"])
    found = re.search(r"queries:\s+(\d+)\s+\(([\d.]+) per sec", report)
    if not found:
        raise SystemExit(f"sysbench said something unexpected:\n{report}")
    return measured(int(found[1]), int(found[1]) / float(found[2]), usage)


def mysqlslap(server: RunningServer, connections: int, seconds: float, load: Load) -> Measured:
    """As many queries as it may send in about that time."""
    program = shutil.which("mariadb-slap") or shutil.which("mysqlslap")
    if program is None:
        raise SystemExit("mysqlslap was not found: install mariadb-client, or choose other --tools")
    queries = max(1, round(SLAP_QUERIES_PER_SECOND * seconds / connections)) * connections
    with tempfile.NamedTemporaryFile("w", suffix=".cnf") as config:
        config.write(
            f"[client]\nsocket={server.socket}\nuser={server.login.user}\n"
            f"password={server.login.password.reveal()}\n"
        )
        config.flush()
        shape = [f"--concurrency={connections}", f"--number-of-queries={queries}"]
        load_options = [f"--create-schema={DATABASE}", f"--query={ONE_ROW}"]
        command = [program, f"--defaults-file={config.name}", *load_options, *shape]
        report, usage = run_measured(command)
    found = re.search(r"Average number of seconds to run all queries: ([\d.]+) seconds", report)
    if not found:
        raise SystemExit(f"mysqlslap reported something unexpected:\n{report}")
    return measured(queries, float(found[1]), usage)


@cache
def floor_program() -> Path:
    program = Path(tempfile.mkdtemp(prefix="mydyno-floor-")) / "floor"
    source = Path(__file__).with_name("floor.rs")
    subprocess.run(["rustc", "-O", "--edition=2024", str(source), "-o", str(program)], check=True)
    return program


def floor(server: RunningServer, connections: int, seconds: float, load: Load) -> Measured:
    with closing(server.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE USER IF NOT EXISTS mydyno_floor@localhost")
        cursor.execute(f"GRANT SELECT ON {DATABASE}.* TO mydyno_floor@localhost")
    numbers = [str(connections), str(seconds), load.mode, str(TABLE_SIZE)]
    text, usage = run_measured([str(floor_program()), str(server.socket), "mydyno_floor", DATABASE, *numbers])
    queries, took = text.split()
    return measured(int(queries), float(took), usage)


TOOLS: dict[str, Tool] = {
    "engine": engine(),
    "engine-unpinned": engine(pin=False),
    "engine-one-row": engine(one_row=True),
    "engine-1-reactor": engine(reactors=1),
    "engine-8-reactors": engine(reactors=8),
    "sysbench": sysbench,
    "mysqlslap": mysqlslap,
    "floor": floor,
}
ONLY_POINT_SELECTS = {"engine-one-row", "mysqlslap", "floor"}

Results = dict[tuple[int, str], list[Measured]]


def measure(arguments: argparse.Namespace) -> Results:
    results: Results = {}
    load = Load(arguments.script, arguments.mode)
    with private_server(load.program(), max_connections=max(arguments.connections) + 50) as server:
        pin(server, arguments.server_cpus, arguments.client_cpus)
        for number in range(arguments.rounds):
            for connections in arguments.connections:
                names = arguments.tools if number % 2 == 0 else arguments.tools[::-1]
                for name in names:
                    say(f"round {number + 1} of {arguments.rounds}: {name}, {connections} connections")
                    measured = TOOLS[name](server, connections, arguments.seconds, load)
                    results.setdefault((connections, name), []).append(measured)
    return results


def pin(server: RunningServer, server_cpus: list[int] | None, client_cpus: list[int] | None) -> None:
    """The clients inherit the CPUs of this process."""
    if server_cpus:
        for task in Path(f"/proc/{server.pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), server_cpus)
    if client_cpus:
        os.sched_setaffinity(0, client_cpus)


def print_results(results: Results, arguments: argparse.Namespace) -> None:
    header = ("connections", "client", "queries/s", "user us", "system us", "peak MB", "n")
    rows = []
    for connections in arguments.connections:
        for name in arguments.tools:
            runs = results[connections, name]
            rows.append(
                (
                    str(connections),
                    name,
                    spread([run.queries_per_second for run in runs], 0),
                    spread([run.user_us for run in runs], 2),
                    spread([run.system_us for run in runs], 2),
                    f"{max(run.peak_bytes for run in runs) / 1e6:.1f}",
                    str(len(runs)),
                )
            )
    print(
        f"\n{arguments.script}, unix socket, {arguments.mode} protocol; median [least most]; CPU per query. "
        f"{machine()}\n"
    )
    print_table(header, rows)


def print_ratios(results: Results, arguments: argparse.Namespace) -> None:
    first, *others = arguments.tools
    rows = []
    for connections in arguments.connections:
        ours = results[connections, first]
        for other in others:
            theirs = results[connections, other]
            speed = ratio(
                [run.queries_per_second for run in ours], [run.queries_per_second for run in theirs]
            )
            user = ratio([run.user_us for run in ours], [run.user_us for run in theirs])
            system = ratio([run.system_us for run in ours], [run.system_us for run in theirs])
            cpu = ratio([run.cpu_us for run in ours], [run.cpu_us for run in theirs])
            row = [str(connections), f"{first} / {other}"]
            row += [f"{mean:.2f} [{low:.2f} {high:.2f}]" for mean, low, high in (speed, user, system, cpu)]
            row.append("")
            if (first, other) == ("engine", "sysbench"):
                row[-1] = verdict(connections, speed, user)
            elif (first, other) == ("engine", "floor"):
                row[-1] = verdict_of_floor(speed, cpu)
            rows.append(row)
    print("\nRatios of runs side by side: geometric mean [95% interval]\n")
    print_table(("connections", "clients", "queries/s", "user CPU", "system CPU", "CPU", "promise"), rows)


def verdict(connections: int, speed: tuple[float, float, float], user: tuple[float, float, float]) -> str:
    """A speed of 1 is kept unless the whole interval is below; any other mark the mean must reach."""
    words = []
    if (least := LEAST_SPEED.get(connections)) is not None:
        kept = not speed[2] < least if least == 1.0 else speed[0] >= least
        words.append(f"speed >= {least:g}: {'kept' if kept else 'BROKEN'}")
    if (most := MOST_USER_CPU.get(connections)) is not None:
        words.append(f"user <= {most:g}: {'kept' if user[0] <= most else 'BROKEN'}")
    return ", ".join(words)


def verdict_of_floor(speed: tuple[float, float, float], cpu: tuple[float, float, float]) -> str:
    """Kept unless the whole interval is on the wrong side; a single round has no interval (NaN)."""
    fast, cheap = not speed[2] < LEAST_OF_FLOOR, not cpu[1] > MOST_CPU_OF_FLOOR
    return (
        f"speed >= {LEAST_OF_FLOOR:g}: {'kept' if fast else 'BROKEN'}, "
        f"CPU <= {MOST_CPU_OF_FLOOR:g}: {'kept' if cheap else 'BROKEN'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 8, 32, 128, 400, 1000])
    parser.add_argument("--mode", choices=MODES, default="text")
    parser.add_argument("--script", choices=SCRIPTS, default="point-select")
    parser.add_argument("--tools", nargs="+", choices=list(TOOLS), default=["engine", "sysbench", "floor"])
    parser.add_argument("--client-cpus", type=int, nargs="+", help="CPUs that the clients run on")
    parser.add_argument("--server-cpus", type=int, nargs="+")
    arguments = parser.parse_args()
    if arguments.script != "point-select":
        arguments.tools = [name for name in arguments.tools if name not in ONLY_POINT_SELECTS]
    if "sysbench" in arguments.tools and not shutil.which("sysbench"):
        raise SystemExit(
            "sysbench was not found: install it (apt-get install sysbench), or choose other --tools"
        )
    results = measure(arguments)
    print_results(results, arguments)
    if len(arguments.tools) > 1:
        print_ratios(results, arguments)


if __name__ == "__main__":
    main()
