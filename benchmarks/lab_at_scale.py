"""How fast a large lab answers: 10,000 trials in 100 runs, 10 million samples; made up, in the real formats.

    open             a process opens the lab and names its newest run
    read             what a report reads of one run: finding it, its trials, the series that are drawn
    runs             `mydyno runs`
    report           `mydyno report` of one run: reading, judging, drawing, writing
    compare          `mydyno compare` of two runs

Two runs are saved trial by trial as a campaign saves them; they are the ones that are reported and compared.
The others go through the same functions a run at a time, and have the files of those two under names of their
own (hard links), so the size of a trial is that of the two. Every time is of a fresh process, in turn with
the lab's files out of the page cache (posix_fadvise(2), DONTNEED) and with them in it.

    python benchmarks/lab_at_scale.py [--rounds 5] [--runs 100] [--trials 100] [--samples 1000] [--lab FOLDER]

`--lab` keeps the lab there, or takes it if it is there already.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from bench_support import machine, print_table, run_measured, say, spread

from mydyno.core.units import format_bytes
from mydyno.lab.results import files, rows
from mydyno.lab.results.database import transaction
from mydyno.lab.results.records import (
    ExperimentRecord,
    Latency,
    PhaseRecord,
    PointRecord,
    StatementRecord,
    TrialRecord,
)
from mydyno.lab.results.run_rows import insert_run
from mydyno.lab.results.store import DATABASE, Lab
from mydyno.lab.results.writer import RunWriter

MOST_REPORT_SECONDS = 3.0
MOST_COMPARE_SECONDS = 1.0
FACTOR = "server.config.thread_cache_size"
LEVELS = ("8", "450")
CONNECTIONS = (10, 50, 100, 200)
PHASE_S = 250.0
SETTINGS, COUNTERS = 656, 530
"""As many as MariaDB 10.11 tells."""
STATEMENTS = ("point select", "range", "update", "commit")
DISK = ("reads", "writes", "write_bytes", "busy_s")
MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
PROCESS = ("cpu_user_s", "cpu_system_s", "rss_bytes", "threads")
HISTOGRAM = "HISTFAAAA" * 60
Taken = tuple[float, float]
"""Seconds by the clock, and CPU seconds of the whole process."""
MYDYNO = [sys.executable, "-m", "mydyno.cli.main"]

READING = """
import json, sys, time
from pathlib import Path
began = time.perf_counter()
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.views.overview import overview
from mydyno.lab.results.store import Lab
imported = time.perf_counter()
with Lab.open(Path(sys.argv[1]), write=False) as lab:
    run = lab.find_run(sys.argv[2] if len(sys.argv) > 2 else None)
    found = time.perf_counter()
    if len(sys.argv) > 2:
        evidence = gather(run)
        overview(evidence)
    read = time.perf_counter()
print(json.dumps({"open": found - imported, "read": read - imported}))
"""


def experiment(number: int, trials: int) -> ExperimentRecord:
    return ExperimentRecord(
        name=f"scale-{number:03}",
        question="Does a larger thread cache help?",
        source=None,
        size="full",
        spec_text=f"experiment: scale-{number:03}\n" + "# a line of the file\n" * 60,
        spec_file=f"scale-{number:03}.yaml",
        plan_fingerprint=f"{number:08x}" * 8,
        seed=number,
        factors={FACTOR: LEVELS},
        points=tuple(
            PointRecord(point_id=f"p{place}", levels={FACTOR: level}, title=f"thread_cache_size = {level}")
            for place, level in enumerate(LEVELS, start=1)
        ),
        planned_trials=trials,
        created_at="2026-01-31T12:00:00Z",
        mydyno_version="0.1.0",
    )


def latency(count: int, middle_ns: float) -> Latency:
    return Latency(
        count=count,
        min_ns=int(middle_ns / 3),
        mean_ns=middle_ns * 1.2,
        max_ns=int(middle_ns * 20),
        p50_ns=int(middle_ns),
        p75_ns=int(middle_ns * 1.4),
        p90_ns=int(middle_ns * 1.9),
        p95_ns=int(middle_ns * 2.4),
        p99_ns=int(middle_ns * 4.1),
        p999_ns=int(middle_ns * 9),
    )


def trial(number: int, chance: random.Random) -> TrialRecord:
    point = number % 2
    phases = []
    for index, connections in enumerate(CONNECTIONS):
        rate = 40_000 * (1 + 0.1 * point) * chance.gauss(1.0, 0.03)
        queries, start = int(rate * (PHASE_S - 10)), index * PHASE_S
        timed = latency(queries, connections / rate * 1e9)
        phases.append(
            PhaseRecord(
                index=index,
                connections_asked=connections,
                connections_reached=connections,
                started_s=start,
                measured_from_s=start + 10,
                measured_to_s=start + PHASE_S,
                ended_s=start + PHASE_S,
                queries=queries,
                transactions=queries // 4,
                queries_per_second=rate,
                transactions_per_second=rate / 4,
                latency=timed,
                connect=latency(connections, 200_000),
                statements=tuple(
                    StatementRecord(kind=kind, count=queries // 4, errors=0, rows=queries // 4, latency=timed)
                    for kind in STATEMENTS
                ),
                errors={},
                client_cpu_user_s=90.0,
                client_cpu_system_s=60.0,
                latency_kind="service",
                transaction_latency=timed,
            )
        )
    settings = {f"variable_{place:03}": str(place * 1024) for place in range(SETTINGS)}
    return TrialRecord(
        trial_id=f"t{number + 1:03}",
        index=number,
        block=number // 2,
        point_id=f"p{point + 1}",
        levels={FACTOR: LEVELS[point]},
        seed=number,
        status="valid",
        invalidities=(),
        started_at="2026-01-31T12:00:00Z",
        seconds=len(CONNECTIONS) * PHASE_S + 20,
        server_version="10.11.19-MariaDB",
        durability="durable",
        settings_asked={"thread_cache_size": LEVELS[point]},
        settings_in_force=settings | {"thread_cache_size": LEVELS[point]},
        counters={f"Variable_{place:03}": chance.randrange(1 << 40) for place in range(COUNTERS)}
        | {"Threads_created": 450, "Max_used_connections": 200},
        phases=tuple(phases),
    )


def samples(count: int, seed: int) -> pl.DataFrame:
    """590 columns as a server on a machine with eight disks gives them: half of them never move."""
    chance = np.random.default_rng(seed)
    seconds = len(CONNECTIONS) * PHASE_S
    times = np.linspace(0.0, seconds, count, endpoint=False)
    columns = {"t_s": pl.Series(times), "phase": pl.Series((times // PHASE_S).astype(np.int32))}
    names = [f"status.Variable_{place:03}" for place in range(COUNTERS - 2)]
    names += ["status.Threads_created", "status.Max_used_connections"]
    names += [
        f"disk.vd{letter}.{what}"
        for letter in "abcdefgh"
        for what in ("reads", "writes", "write_bytes", "busy_s")
    ]
    names += [
        f"host.cpu.{mode}_s"
        for mode in ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    ]
    names += [
        f"{who}.{what}"
        for who in ("server", "client")
        for what in ("cpu_user_s", "cpu_system_s", "rss_bytes", "threads")
    ]
    for place, name in enumerate(names):
        if place % 2 and "Threads" not in name:
            columns[name] = pl.Series(np.full(count, place, dtype=np.int64))
        else:
            columns[name] = pl.Series(np.cumsum(chance.integers(0, 1 << 16, count)))
    return pl.DataFrame(columns)


def intervals(seed: int) -> pl.DataFrame:
    chance = np.random.default_rng(seed)
    count = int(len(CONNECTIONS) * PHASE_S)
    begin = np.arange(count, dtype=np.float64)
    queries = chance.normal(40_000, 2_000, count).astype(np.int64)
    phases = (begin // PHASE_S).astype(np.int32)
    return pl.DataFrame(
        {
            "phase": phases,
            "from_s": begin,
            "to_s": begin + 1,
            "warmup": begin % PHASE_S < 10,
            "connections": np.array(CONNECTIONS)[phases],
            "queries": queries,
            "transactions": queries // 4,
            "errors": np.zeros(count, dtype=np.int64),
            "queries_per_second": queries.astype(np.float64),
            "transactions_per_second": queries / 4,
            "p50_ns": queries * 10,
            "p95_ns": queries * 24,
            "p99_ns": queries * 41,
            "max_ns": queries * 200,
        }
    )


def make(path: Path, arguments: argparse.Namespace) -> None:
    """The lab, a run after the other."""
    with Lab.open(path, write=True) as lab:
        written = [save(lab, number, arguments) for number in range(min(2, arguments.runs))]
        for number in range(2, arguments.runs):
            say(f"run {number + 1} of {arguments.runs}, in bulk")
            add(lab, written[number % 2], number, arguments)


def save(lab: Lab, number: int, arguments: argparse.Namespace) -> RunWriter:
    """A run as a campaign saves it."""
    chance = random.Random(number)
    run = lab.run(experiment(number, arguments.trials), json.dumps({"plan": ["a point"] * 100}))
    run.record_environment({"cpu.model": "a processor", "cpu.usable": 2, "memory.bytes": 1 << 34})
    for place in range(arguments.trials):
        if place % 10 == 0:
            say(f"run {number + 1} of {arguments.runs}, trial {place + 1} of {arguments.trials}")
        record, seed = trial(place, chance), number * arguments.trials + place
        folder = run.new_trial_folder(record.trial_id)
        (folder / "my.cnf").write_text("[mysqld]\nthread_cache_size=8\n")
        (folder / "error.log").write_text("[Note] ready for connections\n" * 30)
        kinds = ("queries", "transactions", "connects", *(f"statement:{kind}" for kind in STATEMENTS))
        run.save_trial(
            record,
            samples=samples(arguments.samples, seed),
            intervals=intervals(seed),
            histograms={str(each.index): dict.fromkeys(kinds, HISTOGRAM) for each in record.phases},
        )
    return run


def add(lab: Lab, like: RunWriter, number: int, arguments: argparse.Namespace) -> None:
    """A run whose rows are its own and whose files are those of another."""
    chance, record = random.Random(number), experiment(number, arguments.trials)
    folder = lab.path / "runs" / f"{record.name}-{record.size}-{record.plan_fingerprint[:8]}"
    for source in (path for path in like.folder.rglob("*") if path.is_file()):
        target = folder / source.relative_to(like.folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.hardlink_to(source)
    connection = lab._connection
    with transaction(connection):
        run_id = insert_run(connection, record, folder.name)
        for place in range(arguments.trials):
            one = trial(place, chance)
            size = files.tree_bytes(folder / "trials" / one.trial_id)
            rows.insert_trial(connection, run_id, one, one.trial_id, size)


def drop(path: Path) -> None:
    """Put the lab's files out of the page cache."""
    for file in (each for each in path.rglob("*") if each.is_file()):
        descriptor = os.open(file, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def measure(path: Path, arguments: argparse.Namespace) -> dict[tuple[str, str], list[Taken]]:
    """(what, cold or warm) -> what each round took."""
    times: dict[tuple[str, str], list[Taken]] = {}
    with Lab.open(path, write=False) as lab:
        names = [run.folder for run in lab.list_runs()][-2:]
    last = len(names) - 1
    with tempfile.TemporaryDirectory(prefix="mydyno-bench-") as out:
        for number in range(arguments.rounds):
            for cache in ("cold", "warm"):
                say(f"round {number + 1} of {arguments.rounds}, {cache}")
                for what, taken in one_round(path, names[0], names[last], Path(out), cold=cache == "cold"):
                    times.setdefault((what, cache), []).append(taken)
    return times


def one_round(path: Path, name: str, other: str, out: Path, *, cold: bool) -> Iterator[tuple[str, Taken]]:
    def run(*command: str) -> tuple[str, Taken]:
        if cold:
            drop(path)
        began = time.perf_counter()
        output, usage = run_measured(command)
        return output, (time.perf_counter() - began, usage.user_s + usage.system_s)

    def told(what: str, *more: str) -> Taken:
        output, (_, cpu) = run(sys.executable, "-c", READING, str(path), *more)
        return json.loads(output)[what], cpu

    yield "open", told("open")
    yield "read", told("read", name)
    for what, arguments in {
        "runs": ["runs"],
        "report": ["report", name, "--out", str(out)],
        "compare": ["compare", name, other],
    }.items():
        yield what, run(*MYDYNO, *arguments, "--lab", str(path))[1]


def sizes(path: Path, arguments: argparse.Namespace) -> None:
    trials = arguments.runs * arguments.trials
    with Lab.open(path, write=False) as lab:
        whole = lab.list_runs()[-1]
        run = lab.find_run(whole.folder)
        folders = [run.trial_folder(one.trial_id) for one in run.trials()]
        counted = {
            "trials": lab._connection.execute("SELECT count(*) FROM trials").fetchone()[0],
            "samples": sum(run.samples(one.trial_id, columns=["t_s"]).height for one in run.trials()[:1])
            * trials,
            "rows of settings": lab._connection.execute("SELECT count(*) FROM settings").fetchone()[0],
            "rows of latencies": lab._connection.execute("SELECT count(*) FROM latencies").fetchone()[0],
        }
    print("\nThe lab\n")
    print_table(["what", "how many"], [[what, f"{count:,}"] for what, count in counted.items()])
    per_trial = {
        name: sum((folder / name).stat().st_size for folder in folders) / len(folders)
        for name in ("samples.parquet", "intervals.parquet", "histograms.json", "record.json")
    }
    per_trial[f"{DATABASE}, its share"] = (path / DATABASE).stat().st_size / trials
    per_trial["altogether"] = whole.file_bytes / len(folders) + per_trial[f"{DATABASE}, its share"]
    print("\nOn disk, for each trial\n")
    print_table(["what", "size"], [[name, format_bytes(int(size))] for name, size in per_trial.items()])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--trials", type=int, default=100, help="Of each run.")
    parser.add_argument("--samples", type=int, default=1000, help="Of each trial.")
    parser.add_argument("--lab", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mydyno-bench-") as name:
        path = arguments.lab or Path(name) / "lab"
        say(machine())
        if not (path / DATABASE).exists():
            make(path, arguments)
        os.sync()
        sizes(path, arguments)
        times = measure(path, arguments)
    print("\nSeconds, each of a fresh process; its CPU time with everything that it loads\n")
    print_table(
        ["what", "lab", "n", "seconds, median [least most]", "CPU of the process"],
        [
            [what, cache, str(len(taken)), *(spread([one[part] for one in taken], 3) for part in (0, 1))]
            for (what, cache), taken in sorted(times.items())
        ],
    )
    for what, most in (("report", MOST_REPORT_SECONDS), ("compare", MOST_COMPARE_SECONDS)):
        values = [seconds for (which, _), taken in times.items() if which == what for seconds, _ in taken]
        print(f"{sum(each < most for each in values)} of {len(values)} of `{what}` took less than {most:g} s")


if __name__ == "__main__":
    main()
