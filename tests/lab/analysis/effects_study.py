"""How well tests and intervals of effects keep their promises, measured on simulated split-plot experiments.

    python -m analysis.effects_study [experiments]      (prints the table of docs/reference/statistics.md)

Run from tests/. `study` is also what the tests call, with fewer experiments.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mydyno.lab.analysis.effects.layout import Factor, Layout, grouped
from mydyno.lab.analysis.effects.variance import PLACE, Arrangement, Shares

Numbers = NDArray[np.float64]
HARD, EASY = "hard", "easy"


@dataclass(frozen=True)
class Truth:
    """Standard deviations: of true effects over the levels, and of the noise of each stratum. Noise of
    differences between places is `by_place` times that of means, and of the last stratum `residual`."""

    hard: float = 0.0
    easy: float = 0.0
    both: float = 0.0
    place: float = 0.0
    hard_by_place: float = 0.0
    block_noise: float = 0.02
    plot_noise: float = 0.05
    trial_noise: float = 0.02
    by_place: float = 0.5
    residual: float = 0.02

    def shares(self, places: int) -> dict[tuple[str, ...], float]:
        """True share of the variance of each effect."""
        sizes = {
            (HARD,): self.hard**2,
            (EASY,): self.easy**2,
            (HARD, EASY): self.both**2,
            (PLACE,): self.place**2 * (places > 1),
            (HARD, PLACE): self.hard_by_place**2 * (places > 1),
        }
        noise = self.block_noise**2 + self.plot_noise**2 + self.trial_noise**2
        if places > 1:
            noise += noise * self.by_place**2 * (places - 1) / places + self.residual**2
        whole = sum(sizes.values()) + noise
        return {name: size / whole for name, size in sizes.items()}


def layout(blocks: int, hard: int, easy: int, keep: Numbers | None = None, *, plots: bool = True) -> Layout:
    """A split plot: in every block each level of the hard factor with all of the easy one. `keep`: the trials
    that are valid."""
    block, own, other = (
        each.ravel()
        for each in np.meshgrid(np.arange(blocks), np.arange(hard), np.arange(easy), indexing="ij")
    )
    chosen = np.arange(block.size) if keep is None else np.flatnonzero(keep)
    block, own, other = block[chosen], own[chosen], other[chosen]
    factors = (
        Factor((HARD,), tuple(map(str, range(hard))), own),
        Factor((EASY,), tuple(map(str, range(easy))), other),
    )
    return Layout(factors, block, (grouped(block, own),) if plots else ())


def _pattern(levels: int) -> Numbers:
    """Of mean 0 and mean square 1."""
    values = np.arange(levels) - (levels - 1) / 2
    return np.asarray(values / np.sqrt(np.mean(values**2)) if levels > 1 else values)


def simulated(of: Layout, truth: Truth, places: int, random: np.random.Generator) -> Numbers:
    """Log values of one experiment: a row for each trial, a column for each place."""
    hard, easy = (_pattern(len(factor.levels))[factor.codes] for factor in of.factors)
    means = truth.hard * hard + truth.easy * easy + truth.both * hard * easy
    values = np.repeat(means[:, None], places, axis=1)
    plots = grouped(of.blocks, of.factors[0].codes)
    for groups, spread in (
        (of.blocks, truth.block_noise),
        (plots, truth.plot_noise),
        (np.arange(of.trials), truth.trial_noise),
    ):
        own = random.normal(0, spread, (groups.max() + 1, 1))
        if places > 1:
            apart = random.normal(0, spread * truth.by_place, (groups.max() + 1, places))
            own = own + apart - apart.mean(axis=1, keepdims=True)
        values = values + own[groups]
    if places > 1:
        values = values + truth.place * _pattern(places) + random.normal(0, truth.residual, values.shape)
        values = values + truth.hard_by_place * hard[:, None] * _pattern(places)
    return values


@dataclass(frozen=True)
class Found:
    rejected: Mapping[tuple[str, ...], float]
    """Share of the experiments in which the effect was tested to be there, at 5%, uncorrected."""
    covered: Mapping[tuple[str, ...], float]
    """Share of the experiments whose interval holds the true share of the variance."""
    mean_share: Mapping[tuple[str, ...], float]


def study(
    of: Layout, truth: Truth, places: int, experiments: int, seed: int = 1, *, intervals: bool = True
) -> Found:
    random = np.random.default_rng([seed, of.trials, places])
    arrangement = Arrangement(of, "all", places)
    true = truth.shares(places)
    rejected: dict[tuple[str, ...], int] = {}
    covered: dict[tuple[str, ...], int] = {}
    total: dict[tuple[str, ...], float] = {}
    for _ in range(experiments):
        variance = arrangement.analyse(simulated(of, truth, places, random))
        shares = Shares(variance)
        for component in variance.components:
            name, p = component.factors, component.tests[0].p_value
            rejected[name] = rejected.get(name, 0) + (p is not None and p <= 0.05)
            if not intervals:
                continue
            share, interval = shares.of(component)
            held = interval is not None and interval.contains(true.get(name, 0.0))
            covered[name] = covered.get(name, 0) + held
            total[name] = total.get(name, 0.0) + share
    each = 1 / experiments
    return Found(
        {name: count * each for name, count in rejected.items()},
        {name: count * each for name, count in covered.items()},
        {name: sum_ * each for name, sum_ in total.items()},
    )


LAYOUTS = {
    "3 blocks x 2 x 3": (layout(3, 2, 3), 1),
    "5 blocks x 2 x 3": (layout(5, 2, 3), 1),
    "4 blocks x 3 x 4": (layout(4, 3, 4), 1),
    "4 blocks x 2 x 3, each at 4 loads": (layout(4, 2, 3), 4),
}


def main(experiments: int) -> None:
    effects = {"hard factor": (HARD,), "easy factor": (EASY,), "both": (HARD, EASY), "load": (PLACE,)}
    print("| experiment | " + " | ".join(effects) + " | hard, trials counted |")
    print("|---" * (len(effects) + 2) + "|")
    truth = Truth(hard=0.1, easy=0.2, both=0.05, place=0.3)
    for title, (of, places) in LAYOUTS.items():
        null = study(of, Truth(), places, experiments, intervals=False)
        naive = study(Layout(of.factors, of.blocks), Truth(), places, experiments, intervals=False)
        held = study(of, truth, places, experiments)
        cells = [
            f"{100 * null.rejected[name]:.1f}; {100 * held.covered[name]:.1f}" if name in held.covered else ""
            for name in effects.values()
        ]
        print(f"| {title} | {' | '.join(cells)} | {100 * naive.rejected[HARD,]:.1f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
