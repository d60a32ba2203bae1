"""What sampling costs: queries per second with the sampler on and off, in turn, on one private server.

A second between samples is the default; its cost is below what a run of some seconds can resolve. So it is
measured twice: directly, and with many more samples a second, whose cost is divided by their number.

    python benchmarks/sampling_overhead.py [--rounds 8] [--seconds 3] [--connections 8 400]
"""

from __future__ import annotations

import argparse
import math

from bench_support import machine, print_table, private_server, ratio, run_engine, say, spread

from mydyno.lab import workload
from mydyno.lab.stack import RunningServer

WORKLOAD = {"program": workload.read("oltp-point-select").resolve({}).program}
OFTEN_S = 0.02
# Seconds between samples; None for no sampling.
INTERVALS: dict[str, float | None] = {"off": None, "every 1 s": 1.0, f"every {OFTEN_S} s": OFTEN_S}
MOST_COST = 0.01


def queries_per_second(
    server: RunningServer, connections: int, seconds: float, interval_s: float | None
) -> float:
    work = {"kind": "timed", "warmup_s": 0.2, "measure_s": seconds}
    sampling = {"interval_s": interval_s, "server_pid": server.pid} if interval_s else None
    phases = [{"connections": connections, "work": work}]
    messages, _ = run_engine(server, WORKLOAD, phases, sampling=sampling)
    [end] = [message for message in messages if message["type"] == "phase_end"]
    return float(end["queries"]["count"] / ((end["measured_to_ns"] - end["measured_from_ns"]) / 1e9))


def cost(with_sampling: list[float], without: list[float], share: float) -> tuple[float, float, float]:
    """Share of the queries that a sampling `share` times as frequent costs, with its 95% interval."""
    mean, low, high = ratio(with_sampling, without)
    return tuple((1 - bound) * share for bound in (mean, high, low))  # type: ignore[return-value]


def verdict(low: float, high: float) -> str:
    """Kept or broken only when the whole interval says so."""
    if high < MOST_COST:
        return "kept"
    return "BROKEN" if low >= MOST_COST else "unclear, needs more rounds"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--connections", type=int, nargs="+", default=[8, 400])
    arguments = parser.parse_args()
    rates: dict[tuple[int, str], list[float]] = {}
    with private_server(WORKLOAD, max_connections=max(arguments.connections) + 50) as server:
        for number in range(arguments.rounds):
            for connections in arguments.connections:
                names = list(INTERVALS) if number % 2 == 0 else list(INTERVALS)[::-1]
                for name in names:
                    say(f"round {number + 1} of {arguments.rounds}: {connections} connections, {name}")
                    rate = queries_per_second(server, connections, arguments.seconds, INTERVALS[name])
                    rates.setdefault((connections, name), []).append(rate)

    print(f"\nCost of sampling, point selects over a unix socket; median [least most]. {machine()}\n")
    rows = []
    for connections in arguments.connections:
        off = rates[connections, "off"]
        for name, interval_s in INTERVALS.items():
            values = rates[connections, name]
            row = [str(connections), name, spread(values, 0), str(len(values))]
            if interval_s is None:
                rows.append([*row, "", ""])
                continue
            mean, low, high = cost(values, off, share=interval_s)
            known = not math.isnan(low)
            interval = f"{mean:.2%} [{low:.2%} {high:.2%}]" if known else f"{mean:.2%}"
            # Only the scaled figure is fine enough to judge by.
            judged = f"< {MOST_COST:.0%}: {verdict(low, high)}"
            rows.append([*row, interval, judged if interval_s == OFTEN_S else ""])
    header = ("connections", "sampling", "queries/s", "n", "cost at 1 sample a second", "promise")
    print_table(header, rows)


if __name__ == "__main__":
    main()
