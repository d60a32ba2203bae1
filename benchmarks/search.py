"""How good is what a search finds, and how soon? Samplers against each other and against settings by hand.

For each release and load, and for each of several seeds: `mydyno tune` with each sampler, the same number of
trials, full durability, the same memory and dataset. Printed are medians over the seeds of the best ratio to
the server as shipped after 5, 10, 15 and 20 trials, and what the default sampler's winner was worth against
every reference when it was confirmed on other data. It takes hours.

    python benchmarks/search.py [--releases system mysql-9.7] [--seeds 5] [--trials 36] [--size quick]

Ends with 1 when a bar is missed: within the trials 2.5 times as shipped and 15% over the tuning sheet on the
I/O-bound read-write load, confirmed; and 95% of the best known setting in half of random's trials.
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench_support import machine, print_table, say

from mydyno.core.document.yaml_text import block
from mydyno.lab.spec.paths import CONFIG_PATH
from mydyno.lab.spec.search import SAMPLERS, Search
from mydyno.server.program.chunks import POOL
from mydyno.tune.history import Candidate, Heat, HeatEnd, Round
from mydyno.tune.journal import FILE, FOLDER, Journal
from mydyno.tune.scores import scores

OBJECTIVE = "throughput"
TIMES_SHIPPED, OVER_SHEET, OF_BEST = 2.5, 1.15, 0.95
NUMBERS = (5, 10, 15, 20)
DEFAULT = Search.model_fields["sampler"].default


@dataclass(frozen=True)
class Size:
    fits: int
    """Rows of each of four tables that fit the largest pool."""
    large: int
    """Rows of which it holds four fifths."""
    pool: str
    """The largest."""
    memory: str
    warmup: str
    measure: str


SIZES = {
    "tiny": Size(2_000, 60_000, "48M", "1G", "200ms", "1s"),
    "quick": Size(50_000, 1_000_000, "800M", "2G", "3s", "15s"),
    "full": Size(200_000, 2_000_000, "1600M", "4G", "10s", "60s"),
}
LOADS = {
    "I/O-bound read write": ("oltp-read-write", True),
    "in-memory read write": ("oltp-read-write", False),
    "I/O-bound write only": ("oltp-write-only", True),
    "in-memory write only": ("oltp-write-only", False),
}


def experiment(release: str, load: str, sampler: str, seed: int, size: Size) -> str:
    workload, large = LOADS[load]
    rows = size.large if large else size.fits
    options = {"tables": 4, "table_size": rows, "distribution": "uniform"}
    each = {"warmup": size.warmup, "measure": size.measure}
    document = {
        "experiment": f"search-{sampler}-{seed}",
        "setup": {"cache": "scan", "server": {"release": release}},
        "workload": {workload: options, "connections": 16, "each": each},
        "design": {"seed": seed},
        "search": {
            "preset": "innodb-write",
            "space": {f"{CONFIG_PATH}{POOL}": {"range": ["16M", size.pool], "log": True}},
            "sampler": sampler,
            "constraints": {"durability": "durable", "memory": size.memory},
        },
    }
    return "\n".join(block(document, 0)) + "\n"


@dataclass(frozen=True)
class Outcome:
    """`curve`: the best ratio to the server as shipped so far, after each trial."""

    curve: tuple[float, ...]
    sheet: float | None
    """Of the tuning sheet to the server as shipped."""
    confirmed: str


def search(folder: Path, lab: Path, text: str, trials: int) -> Outcome:
    file = folder / "search.yaml"
    file.write_text(text)
    before = {each.name for each in (lab / FOLDER).glob("*")}
    command = ["mydyno", "tune", str(file), "--trials", str(trials), "--lab", str(lab)]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-2000:]}")
    [made] = {each.name for each in (lab / FOLDER).glob("*") if (each / FILE).exists()} - before
    return outcome(Journal(lab, made), done.stdout)


def outcome(journal: Journal, output: str) -> Outcome:
    heats = [each for each in journal.events if isinstance(each, Heat)]
    rounds = [each for each in journal.events if isinstance(each, Round)]
    stopped = [number for each in journal.events if isinstance(each, HeatEnd) for number in each.stopped]
    start = Candidate(number=0, origin="start", settings={}, point={})
    candidates = {0: start} | {each.number: each for heat in heats for each in heat.candidates}
    known = scores(candidates, rounds, (OBJECTIVE,), frozenset(stopped))
    best, curve = 0.0, []
    for number, score in known.items():
        if score.feasible:
            best = max(best, score.ratios[OBJECTIVE])
        if number:
            curve.append(math.exp(best))
    sheet = next((each for each in known.values() if each.candidate.origin == "tuning sheet"), None)
    lines = [line.strip() for line in output.splitlines() if " over " in line or "hold" in line]
    return Outcome(tuple(curve), sheet.ratio(OBJECTIVE) if sheet else None, "\n".join(lines))


def measure(arguments: argparse.Namespace, release: str, load: str) -> bool:
    """One release under one load; whether its bars hold."""
    size, found = SIZES[arguments.size], {}
    with tempfile.TemporaryDirectory(prefix="mydyno-search-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        lab = arguments.lab or folder / "lab"
        for sampler in arguments.samplers:
            for seed in range(1, arguments.seeds + 1):
                say(f"{release}, {load}: {sampler}, seed {seed}")
                text = experiment(release, load, sampler, seed, size)
                found[sampler, seed] = search(folder, lab, text, arguments.trials)
    print(f"\n{release}, {load}: best ratio to the server as shipped. {machine()}\n")
    shown = [number for number in NUMBERS if number <= arguments.trials]
    rows = []
    for sampler in arguments.samplers:
        curves = [each.curve for (name, _), each in found.items() if name == sampler]
        rows.append([sampler, *(f"{_median(curves, number):.2f}" for number in shown)])
    print_table(["sampler, median of seeds", *(f"{number} trials" for number in shown)], rows)
    for (sampler, seed), each in found.items():
        print(f"\n{sampler}, seed {seed}, confirmed:\n{each.confirmed or 'nothing'}")
    return holds(arguments, found, load)


def _median(curves: list[tuple[float, ...]], number: int) -> float:
    return statistics.median(curve[min(number, len(curve)) - 1] for curve in curves)


def holds(arguments: argparse.Namespace, found: dict[tuple[str, int], Outcome], load: str) -> bool:
    own = [each for (sampler, _), each in found.items() if sampler == DEFAULT]
    random = [each for (sampler, _), each in found.items() if sampler == "random"]
    good = True
    if load == "I/O-bound read write" and own:
        shipped = statistics.median(each.curve[-1] for each in own)
        sheet = statistics.median(each.curve[-1] / each.sheet for each in own if each.sheet)
        print(f"\n{shipped:.2f} times as shipped, {sheet:.2f} times the tuning sheet")
        good = shipped >= TIMES_SHIPPED and sheet >= OVER_SHEET
    if own and random:
        best = max(each.curve[-1] for each in found.values())
        ours, theirs = (_trials_to(each, OF_BEST * best) for each in (own, random))
        print(f"trials to {OF_BEST:.0%} of the best known: {ours:g}, of random {theirs:g}")
        good = good and ours <= theirs / 2
    return good


def _trials_to(outcomes: list[Outcome], wanted: float) -> float:
    """Median over the seeds; one that never comes there counts as twice its trials."""
    reached = []
    for each in outcomes:
        first = next((at for at, value in enumerate(each.curve, 1) if value >= wanted), None)
        reached.append(2 * len(each.curve) if first is None else first)
    return statistics.median(reached)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--releases", nargs="+", default=["system", "mysql-9.7"])
    parser.add_argument("--loads", nargs="+", choices=list(LOADS), default=list(LOADS))
    parser.add_argument("--samplers", nargs="+", default=list(SAMPLERS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=36)
    parser.add_argument("--size", choices=list(SIZES), default="quick")
    parser.add_argument("--lab", type=Path, help="keep the results here")
    arguments = parser.parse_args()
    pairs = [(release, load) for release in arguments.releases for load in arguments.loads]
    held = [measure(arguments, *pair) for pair in pairs]
    if not all(held):
        sys.exit(1)


if __name__ == "__main__":
    main()
