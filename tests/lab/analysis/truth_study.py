"""Experiments of which the truth is known, planned in the real order and judged by the real judge.

    cd tests && python -m analysis.truth_study        (ten minutes; a table of docs/reference/statistics.md)

An experiment has a factor that is hard to change (two levels: whole plots) and an easy one (four levels), one
trial of each of the eight points in each block, one after the other in time. Nothing differs but noise: each
difference that is shown is a false alarm, and each interval should hold 1.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from mydyno.lab.analysis.holm import holm
from mydyno.lab.analysis.metrics import QUERIES_PER_SECOND
from mydyno.lab.analysis.observations import Observation
from mydyno.lab.analysis.ratio import Ratio, ratio
from mydyno.lab.analysis.standard import Standard, standard_of
from mydyno.lab.analysis.verdict import Side, judge
from mydyno.lab.plan.order import blocked
from mydyno.lab.results.records import DesignRecord

Numbers = NDArray[np.float64]
Point = tuple[str, str]
"""Levels of the hard and of the easy factor."""

HARD, EASY = ("raid1", "raid10"), ("8", "64", "256", "450")
POINTS: tuple[Point, ...] = tuple((hard, easy) for hard in HARD for easy in EASY)
SPREAD = 0.02
"""Standard deviation of the noise of one trial, on logarithms."""
SEQUENTIAL = DesignRecord(until=0.03, first_look=3, at_most=20)


@dataclass(frozen=True)
class Noise:
    """What shifts the logarithm of a trial. Amounts are in SPREADs."""

    shape: Callable[[np.random.Generator, int], Numbers]
    linear: float = 0.0
    """From the first trial of the run to the last."""
    wave: float = 0.0
    """Half the height of a wave, of which 2.7 fit into the run."""
    memory: float = 0.0
    """Correlation of a trial's noise with that of the one before: AR(1)."""
    plots: float = 0.0
    """What the trials of one whole plot share: its standard deviation."""


def _normal(random: np.random.Generator, n: int) -> Numbers:
    return random.standard_normal(n)


def _heavy(freedom: int) -> Callable[[np.random.Generator, int], Numbers]:
    scale = math.sqrt(freedom / (freedom - 2))
    return lambda random, n: random.standard_t(freedom, n) / scale


NOISES: dict[str, Noise] = {
    "normal": Noise(_normal),
    "heavy tails (t, 5 df)": Noise(_heavy(5)),
    "heavier tails (t, 3 df)": Noise(_heavy(3)),
    "linear drift of 10%": Noise(_normal, linear=5),
    "waves of ±5%": Noise(_normal, wave=2.5),
    "autocorrelation 0.3": Noise(_normal, memory=0.3),
    "autocorrelation 0.6": Noise(_normal, memory=0.6),
    "autocorrelation 0.9": Noise(_normal, memory=0.9),
    "whole plots, 1.5 times the noise": Noise(_normal, plots=1.5),
    "all of it (t, 5 df; 10%; 0.3; 1.5)": Noise(_heavy(5), linear=5, memory=0.3, plots=1.5),
}


@dataclass(frozen=True)
class Rates:
    """Shares of the experiments."""

    experiments: int
    easy: float
    """False alarms: two levels of the easy factor, inside a whole plot."""
    hard: float
    """Two levels of the hard factor."""
    family: float
    """Any of three levels of the easy factor against the first, corrected by Holm."""
    easy_covered: float
    hard_covered: float
    blocks: float
    """How many blocks were run on average."""


def run(noise: Noise, blocks: int, random: np.random.Generator, seed: int) -> dict[Point, list[Observation]]:
    """One experiment: each point's trials."""
    order = [
        (block, point)
        for block in range(blocks)
        for point in blocked([(point, (("array", point[0]),)) for point in POINTS], seed, block)
    ]
    n = len(order)
    logs = _remembering(noise.shape(random, n), noise.memory, random)
    at = np.arange(n) / (n - 1)
    logs += noise.linear * at + noise.wave * np.sin(2 * np.pi * (2.7 * at + random.random()))
    plot_of = np.cumsum(
        [
            number == 0
            or order[number][1][0] != order[number - 1][1][0]
            or (order[number][0] != order[number - 1][0])
            for number in range(n)
        ]
    )
    logs += noise.plots * random.standard_normal(plot_of.max() + 1)[plot_of]
    found: dict[Point, list[Observation]] = {point: [] for point in POINTS}
    for (block, point), value in zip(order, np.exp(SPREAD * logs), strict=True):
        found[point].append(Observation(f"{point}-{block}", (block, ""), 1000 * float(value)))
    return found


def _remembering(fresh: Numbers, memory: float, random: np.random.Generator) -> Numbers:
    if memory:
        innovation = math.sqrt(1 - memory**2)
        fresh[0] = random.standard_normal()
        for number in range(1, fresh.size):
            fresh[number] = memory * fresh[number - 1] + innovation * fresh[number]
    return fresh


def rates(noise: Noise, blocks: int, experiments: int, seed: int = 1) -> Rates:
    """Of experiments with a fixed number of blocks."""
    random = np.random.default_rng([seed, blocks])
    found = []
    for number in range(experiments):
        trials = run(noise, blocks, random, seed * 100_000 + number)
        found.append((*_judged(trials, blocks, Standard()), blocks))
    return Rates(experiments, *(float(column) for column in np.mean(found, axis=0)))


def sequential_rates(noise: Noise, experiments: int, corrected: bool = True, seed: int = 2) -> Rates:
    """Of experiments that stop when all of their three comparisons are known to ±3%, or after 20 blocks."""
    random = np.random.default_rng([seed, 7])
    first, last = SEQUENTIAL.first_look or 3, SEQUENTIAL.at_most or 20
    standard = standard_of(SEQUENTIAL) if corrected else Standard()
    found = []
    for number in range(experiments):
        trials = run(noise, last, random, seed * 100_000 + number)
        for blocks in range(first, last + 1):
            width = max(_half_width(one) for one in _easy(trials, blocks, standard.level))
            if width <= (SEQUENTIAL.until or 0) or blocks == last:
                break
        found.append((*_judged(trials, blocks, standard), blocks))
    return Rates(experiments, *(float(column) for column in np.mean(found, axis=0)))


def _judged(trials: dict[Point, list[Observation]], blocks: int, standard: Standard) -> tuple[float, ...]:
    easy = _easy(trials, blocks, standard.level)
    hard = _ratio(trials, (HARD[1], EASY[0]), (HARD[0], EASY[0]), blocks, standard.level)
    corrected = holm([one.p_value for one in easy])
    family = any(p is not None and p <= standard.alpha for p in corrected)
    return (
        _alarm(easy[0], standard),
        _alarm(hard, standard),
        float(family),
        float(easy[0].interval is not None and easy[0].interval.contains(1)),
        float(hard.interval is not None and hard.interval.contains(1)),
    )


def _easy(trials: dict[Point, list[Observation]], blocks: int, level: float) -> list[Ratio]:
    return [_ratio(trials, (HARD[0], other), (HARD[0], EASY[0]), blocks, level) for other in EASY[1:]]


def _ratio(
    trials: dict[Point, list[Observation]], left: Point, right: Point, blocks: int, level: float
) -> Ratio:
    return ratio(trials[left][:blocks], trials[right][:blocks], level)


def _half_width(of: Ratio) -> float:
    if of.value is None or of.interval is None:
        return math.inf
    return max(of.interval.high / of.value, of.value / of.interval.low) - 1


def _alarm(of: Ratio, standard: Standard) -> float:
    verdict = judge(of, Side("left"), Side("right"), QUERIES_PER_SECOND, standard)
    return float(verdict.outcome in ("faster", "slower"))


def too_many(share: float, experiments: int, nominal: float = 0.05, doubt: float = 1e-4) -> bool:
    """Whether so many false alarms can be no chance if the true rate is nominal: the exact binomial test."""
    alarms = round(share * experiments)
    return bool(stats.binom.sf(alarms - 1, experiments, nominal) < doubt)


def main(experiments: int) -> None:
    print("| noise | blocks | easy | hard | family of 3 | coverage, easy | hard |")
    print("|---" * 7 + "|")
    for name, noise in NOISES.items():
        for blocks in (3, 5, 8):
            _show(name, f"{blocks}", rates(noise, blocks, experiments))
    for name in ("normal", "heavier tails (t, 3 df)", "autocorrelation 0.6"):
        found = sequential_rates(NOISES[name], experiments)
        _show(f"until ±3%, {name}", f"{found.blocks:.1f} of 3 to 20", found)
    found = sequential_rates(NOISES["normal"], experiments, corrected=False)
    _show("until ±3%, normal, not corrected", f"{found.blocks:.1f} of 3 to 20", found)


def _show(name: str, blocks: str, found: Rates) -> None:
    shares = (found.easy, found.hard, found.family, found.easy_covered, found.hard_covered)
    print(f"| {name} | {blocks} | " + " | ".join(f"{100 * share:.1f}" for share in shares) + " |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
