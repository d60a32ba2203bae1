"""Slow logs to traces: megabytes of log a second of one CPU, memory, and the trace's share of its log.

    python benchmarks/capture.py [--bytes N] [--rounds N]

The bar of the size is a tenth of the log, that of the speed 100 MB a second of CPU.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from bench_support import machine, print_table, say, spread
from digest_vs_peers import Run, generate, run
from slow_log import DIALECTS

from mydyno.machine.programs import find_program


def measure(folder: Path, dialect: str, size: int, rounds: int) -> tuple[str, ...]:
    log, trace = generate(folder / "slow.log", size, dialect), folder / "a.trace"
    runs: list[Run] = []
    for number in range(rounds):
        say(f"{dialect}: round {number + 1} of {rounds}")
        command = [str(find_program("mydyno-engine")), "trace", "capture", f"--out={trace}", log]
        runs.append(run(command))
    return (
        dialect,
        spread([size / 1e6 / each.cpu_s for each in runs], 0),
        f"{max(each.peak_bytes for each in runs) / 1e6:,.0f}",
        f"{trace.stat().st_size / Path(log).stat().st_size:.1%}",
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bytes", type=int, default=1_000_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rows = []
    for dialect in DIALECTS:
        with tempfile.TemporaryDirectory(prefix="mydyno-bench-") as name:
            rows.append(measure(Path(name), dialect, options.bytes, options.rounds))
    print(f"\nSlow logs of {options.bytes / 1e6:,.0f} MB to traces; {machine()}\n")
    print_table(("log", "MB / s of CPU", "peak MB", "trace / log"), rows)


if __name__ == "__main__":
    main()
