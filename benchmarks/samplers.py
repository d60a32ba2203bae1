"""Samplers compared on the recorded surface and on functions drawn at random: how far from the best point
they are after so many trials.

A replay takes the points that a sampler proposes and gives it one of the recorded trials of each, noise and
all. Regret is that of the best point that was tried, by what points are worth on average: 0.1 says that the
best of the surface is 10% better. (Which of the points tried is the best, the heats find out by repeats.)
Medians over the seeds, with the whole curve; the random sampler is what the others are compared with.

The functions have the noise of heats in slices, 3%: quadratic in four numbers with eight values and two
switches, with weak or strong interactions, a standard deviation of 0.35 in the logarithm.

    python benchmarks/samplers.py [--surface tests/tune/surface.csv] [--seeds 20] [--trials 40]
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from bench_support import print_table

from mydyno.tune.samplers import SAMPLERS, Observation
from mydyno.tune.space import Dimension, Point, Space, key_of

SETTINGS = (
    *("innodb_flush_method", "thread_handling", "innodb_buffer_pool_size"),
    *("innodb_log_file_size", "innodb_io_capacity", "innodb_adaptive_hash_index"),
)
MEASURED = "transactions_per_second"
SURFACE = Path(__file__).parents[1] / "tests" / "tune" / "surface.csv"
START = {
    "innodb_flush_method": "O_DIRECT",
    "thread_handling": "one-thread-per-connection",
    "innodb_buffer_pool_size": "16M",
    "innodb_log_file_size": "16M",
    "innodb_io_capacity": "100",
    "innodb_adaptive_hash_index": "OFF",
}
"""The first point of every replay."""
NOISE = 0.03


@dataclass(frozen=True)
class Surface:
    """The recorded trials of one load: logarithms of transactions per second, by the point's key."""

    space: Space
    logs: Mapping[str, tuple[float, ...]]

    def worth(self, point: Point) -> float:
        """What the point is worth on average."""
        return statistics.fmean(self.logs[key_of(point)])

    @property
    def best(self) -> float:
        return max(map(statistics.fmean, self.logs.values()))

    def measured(self, point: Point, chosen: Random) -> float:
        return chosen.choice(self.logs[key_of(point)])


class Function:
    """A function of six settings, drawn by `seed`; `interactions`: their size, main effects are about 1."""

    space = Space(
        tuple(
            [Dimension(f"switch {number}", ("OFF", "ON"), False) for number in range(2)]
            + [Dimension(f"number {number}", tuple(range(1, 9)), True) for number in range(4)]
        )
    )

    def __init__(self, seed: int, interactions: float) -> None:
        chosen, size = np.random.default_rng(seed), len(self.space)
        self._linear, self._peaks = chosen.normal(size=size), chosen.random(size)
        self._pairs = np.triu(chosen.normal(size=(size, size)), 1) * interactions
        self._scale = 1.0
        ranges = (each.values for each in self.space.dimensions)
        paths = [each.path for each in self.space.dimensions]
        values = [self.worth(dict(zip(paths, each, strict=True))) for each in itertools.product(*ranges)]
        self._scale = 0.35 / statistics.pstdev(values)
        self.best = max(values) * self._scale

    def worth(self, point: Point) -> float:
        x = np.array(
            [each.index(point[each.path]) / (len(each.values) - 1) for each in self.space.dimensions]
        )
        return self._scale * float(
            self._linear @ x - 2 * ((x - self._peaks) ** 2).sum() + x @ self._pairs @ x
        )

    def measured(self, point: Point, chosen: Random) -> float:
        return self.worth(point) + chosen.gauss(0.0, NOISE)


def read(file: Path, load: str) -> Surface:
    logs: dict[str, list[float]] = {}
    values: dict[str, set[str]] = {name: set() for name in SETTINGS}
    with file.open(newline="") as rows:
        for row in csv.DictReader(rows):
            if row["load"] == load:
                point = {name: row[name] for name in SETTINGS}
                for name in SETTINGS:
                    values[name].add(row[name])
                logs.setdefault(key_of(point), []).append(math.log(float(row[MEASURED])))
    return Surface(
        Space(tuple(map(_dimension, values, values.values()))), {k: tuple(v) for k, v in logs.items()}
    )


def _dimension(name: str, values: set[str]) -> Dimension:
    ordered = all(value.rstrip("KMG").isdigit() for value in values)
    order = sorted(values, key=lambda value: int(value.rstrip("KMG")) if ordered else 0)
    return Dimension(name, tuple(order if ordered else sorted(values)), ordered)


Landscape = Surface | Function


def regrets(surface: Landscape, sampler: str, seed: int, trials: int, at_once: int = 3) -> list[float]:
    """After each trial: the worth of the surface's best point over that of the best one tried, less 1."""
    chosen = Random(seed)
    start = surface.space.nearest(START)
    seen = [Observation(start, (surface.measured(start, chosen),))]
    curve = [_regret(surface, seen)]
    while len(seen) < trials:
        taken = {key_of(each.point) for each in seen}
        points = SAMPLERS[sampler](surface.space, seen, taken, seed, min(at_once, trials - len(seen)))
        if not points:
            points = SAMPLERS["random"](surface.space, seen, taken, seed, 1)
        for point in points:
            seen.append(Observation(point, (surface.measured(point, chosen),)))
            curve.append(_regret(surface, seen))
    return curve


def _regret(surface: Landscape, seen: Sequence[Observation]) -> float:
    return math.exp(surface.best - max(surface.worth(each.point) for each in seen)) - 1


def medians(surfaces: Sequence[Landscape], sampler: str, trials: int) -> list[float]:
    """Each surface with its number as the seed; the same surface may come several times."""
    curves = [regrets(each, sampler, seed, trials) for seed, each in enumerate(surfaces, start=1)]
    return [statistics.median(each) for each in zip(*curves, strict=True)]


def trials_to(curve: Sequence[float], regret: float) -> int | None:
    """The first trial from which on the regret stays at or below this."""
    first = None
    for number, value in enumerate(curve, start=1):
        if value > regret:
            first = None
        elif first is None:
            first = number
    return first


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--surface", type=Path, default=SURFACE)
    parser.add_argument("--load", default="oltp-read-write")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--trials", type=int, default=40)
    arguments = parser.parse_args()
    surface = read(arguments.surface, arguments.load)
    print(f"Median regret over {arguments.seeds} seeds, {len(surface.logs)} points, {arguments.load}.\n")
    _show([surface] * arguments.seeds, arguments.trials)
    for word, size in (("weak", 0.3), ("strong", 1.0)):
        print(f"\nMedian regret over {arguments.seeds} functions with {word} interactions.\n")
        _show([Function(seed, size) for seed in range(arguments.seeds)], arguments.trials)


def _show(surfaces: Sequence[Landscape], trials: int) -> None:
    shown = [number for number in (5, 10, 15, 20, 30, 40) if number <= trials]
    rows = []
    for name in SAMPLERS:
        curve = medians(surfaces, name, trials)
        within = trials_to(curve, 0.05)
        rows.append([name, *(f"{curve[number - 1]:.3f}" for number in shown), str(within or "—")])
    print_table(["sampler", *(f"{number} trials" for number in shown), "trials to 5%"], rows)


if __name__ == "__main__":
    main()
