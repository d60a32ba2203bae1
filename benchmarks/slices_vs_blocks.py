"""Slices against blocks, in the same total time, while a neighbour takes CPU at random moments.

    (no option)          two identical servers, in slices and blocked: how wide the 95% intervals are
    --runs 40            40 runs of identical servers in slices: how many show a difference (nominal: 5%)
    --planted --runs 10  10 runs in which one side reads more rows a query: how many find it, by queries/s
                         and by server CPU per query

The neighbour is one process of ours, busy and asleep in turn for 0.2 to 5 s each.

    python benchmarks/slices_vs_blocks.py [--seconds 12] [--starts 5] [--rounds 3] [--runs 0] [--planted]
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench_support import machine, print_table, say

from mydyno.lab.analysis.metrics import QUERIES_PER_SECOND, SERVER_CPU
from mydyno.lab.analysis.verdict import Verdict, judge_points
from mydyno.lab.results.store import Lab

MYDYNO = Path(sys.executable).parent / "mydyno"

EXPERIMENT = """
experiment: slices-vs-blocks
setup:
  server: {{config: {{innodb_buffer_pool_size: 128M, max_connections: 50}}}}
factors:
  {factor}
workload:
  oltp-read-only: {{table_size: 10000, point_selects: 0, sum_ranges: 0, order_ranges: 0, distinct_ranges: 0, \
range_size: 100, skip_trx: true}}
  connections: 8
  each: {{warmup: 1s, measure: {seconds:g}s}}
design: {{order: {order}, repeats: {starts}, control: false, seed: {seed}}}
"""
# With 8 connections a cache of 21 threads does what one of 20 does.
IDENTICAL = "server.config.thread_cache_size: [20, 21]"
PLANTED = "workload.oltp-read-only.range_size: [100, 110]"
NEIGHBOUR = """
import random, time
while True:
    until = time.monotonic() + random.uniform(0.2, 5)
    while time.monotonic() < until:
        pass
    time.sleep(random.uniform(0.2, 5))
"""


@contextmanager
def neighbour() -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", NEIGHBOUR])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def run(order: str, factor: str, seconds: float, starts: int) -> tuple[Verdict, Verdict]:
    """One experiment, the second level against the first: by queries/s and by server CPU per query."""
    with tempfile.TemporaryDirectory(prefix="mydyno-bench-") as name:
        folder = Path(name)
        # The server runs as another user when root starts it.
        folder.chmod(0o755)
        file = folder / "experiment.yaml"
        file.write_text(
            EXPERIMENT.format(
                factor=factor, seconds=seconds, order=order, starts=starts, seed=random.randrange(1 << 30)
            )
        )
        command = [str(MYDYNO), "run", str(file), "--lab", str(folder / "lab"), "--no-report"]
        done = subprocess.run(
            command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        with Lab.open(folder / "lab", write=False) as lab:
            found = lab.find_run()
            trials, points = found.trials(), found.experiment.compared_points
        rate, cpu = (
            judge_points(trials, points[1], points[0], metric).overall
            for metric in (QUERIES_PER_SECOND, SERVER_CPU)
        )
        if rate.ratio.interval is None:
            raise SystemExit(f"too few valid trials:\n{done.stdout}")
        return rate, cpu


def half_width(verdict: Verdict) -> float:
    """Of the interval, on logarithms."""
    interval = verdict.ratio.interval
    return math.inf if interval is None else math.log(interval.high / interval.low) / 2


def intervals(rounds: int, seconds: float, starts: int) -> None:
    widths: dict[str, list[float]] = {"slices": [], "blocked": []}
    with neighbour():
        for number in range(rounds):
            for order, found in widths.items():
                verdict, _ = run(order, IDENTICAL, seconds, starts)
                found.append(half_width(verdict))
                say(f"{number + 1} of {rounds}, {order}: {verdict.sentence}")
    rows = [
        (order, ", ".join(f"{width:.1%}" for width in found), f"{statistics.median(found):.1%}")
        for order, found in widths.items()
    ]
    print_table(("order", "half of the 95% interval", "median"), rows)
    share = statistics.median(widths["slices"]) / statistics.median(widths["blocked"])
    print(f"\nslices / blocked: {share:.2f} (wanted: at most 0.33)")


def repeated(runs: int, factor: str, seconds: float, starts: int) -> None:
    """How many of several experiments in slices show a difference."""
    verdicts = []
    took = []
    with neighbour():
        for number in range(runs):
            began = time.monotonic()
            verdicts.append(run("slices", factor, seconds, starts))
            took.append(time.monotonic() - began)
            for verdict in verdicts[-1]:
                say(f"{number + 1} of {runs}, {took[-1]:.0f} s: {verdict.sentence}")
    rows = []
    for name, of in zip(("queries/s", "server CPU per query"), zip(*verdicts, strict=True), strict=True):
        shown = sum(one.outcome in ("faster", "slower") for one in of)
        sizes = [one.ratio.value - 1 for one in of if one.ratio.value is not None]
        widths = [half_width(one) for one in of]
        rows.append(
            (
                name,
                f"{shown} of {runs}",
                f"{statistics.median(sizes):+.1%}",
                f"{statistics.median(widths):.1%}",
            )
        )
    print_table(("by", "show a difference", "median difference", "median half of the 95% interval"), rows)
    print(f"\n{statistics.median(took):.0f} s an experiment (median)")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=12, help="of load for each server and start")
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3, help="experiments of each order")
    parser.add_argument(
        "--runs", type=int, default=0, help="count verdicts of so many runs in slices instead"
    )
    parser.add_argument("--planted", action="store_true", help="of servers that differ")
    options = parser.parse_args()
    print(f"{machine()}\n")
    if options.runs:
        factor = PLANTED if options.planted else IDENTICAL
        repeated(options.runs, factor, options.seconds, options.starts)
    else:
        intervals(options.rounds, options.seconds, options.starts)


if __name__ == "__main__":
    main()
