"""How often does an interval hold the truth? A simulation of every method that was considered.

    cd tests && python -m analysis.coverage_study      (ten minutes; tables of docs/reference/statistics.md)

`coverage` is also what the tests call, with fewer repetitions.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from mydyno.lab.analysis.bootstrap import difference_estimate, mean_estimate

Numbers = NDArray[np.float64]
Noise = Callable[[np.random.Generator, int], Numbers]
Method = Callable[[Numbers, np.random.Generator], tuple[float, float]]

NOISES: dict[str, Noise] = {
    "normal": lambda random, n: random.standard_normal(n),
    "heavy tails (t, 5 df)": lambda random, n: random.standard_t(5, n),
    "heavier tails (t, 3 df)": lambda random, n: random.standard_t(3, n),
    # One trial in ten is slow by five standard deviations; the mean is 0 again.
    "slow outliers": lambda random, n: random.standard_normal(n) - 5 * (random.random(n) < 0.1) + 0.5,
}
_RESAMPLES = 1999


def ours(values: Numbers, _: np.random.Generator) -> tuple[float, float]:
    interval = mean_estimate(values.tolist()).interval
    assert interval is not None
    return interval.low, interval.high


def student(values: Numbers, _: np.random.Generator) -> tuple[float, float]:
    half = stats.t.ppf(0.975, values.size - 1) * values.std(ddof=1) / math.sqrt(values.size)
    return values.mean() - half, values.mean() + half


def percentile(values: Numbers, random: np.random.Generator) -> tuple[float, float]:
    low, high = np.quantile(_resamples(values, random).mean(axis=1), [0.025, 0.975])
    return low, high


def bca(values: Numbers, random: np.random.Generator) -> tuple[float, float]:
    """Efron and Tibshirani 1993, chapter 14."""
    means = _resamples(values, random).mean(axis=1)
    below = np.mean(means < values.mean()) + np.mean(means == values.mean()) / 2
    bias = stats.norm.ppf(np.clip(below, 1e-4, 1 - 1e-4))
    jackknife = (values.sum() - values) / (values.size - 1)
    skew = jackknife.mean() - jackknife
    acceleration = (skew**3).sum() / (6 * (skew**2).sum() ** 1.5)
    z = bias + stats.norm.ppf([0.025, 0.975])
    low, high = np.quantile(means, stats.norm.cdf(bias + z / (1 - acceleration * z)))
    return low, high


def bootstrap_t(values: Numbers, random: np.random.Generator) -> tuple[float, float]:
    """Efron and Tibshirani 1993, chapter 12: unsmoothed, a quantile for each tail."""
    resamples = _resamples(values, random)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (resamples.mean(axis=1) - values.mean()) / (
            resamples.std(axis=1, ddof=1) / math.sqrt(values.size)
        )
    t = np.sort(np.where(np.isnan(t), np.inf * random.choice([-1.0, 1.0], t.size), t))
    error = values.std(ddof=1) / math.sqrt(values.size)
    ends = t[int(0.975 * (_RESAMPLES + 1)) - 1], t[int(0.025 * (_RESAMPLES + 1)) - 1]
    return values.mean() - ends[0] * error, values.mean() - ends[1] * error


METHODS: dict[str, Method] = {
    "percentile bootstrap": percentile,
    "BCa bootstrap": bca,
    "bootstrap-t, not smoothed": bootstrap_t,
    "Student's t": student,
    "**smoothed symmetric bootstrap-t**": ours,
}


def coverage(method: Method, noise: Noise, n: int, repetitions: int, seed: int = 1) -> float:
    """The share of `repetitions` samples of size n whose interval holds the true mean, 0."""
    random = np.random.default_rng([seed, n])
    held = 0
    for _ in range(repetitions):
        low, high = method(noise(random, n), random)
        held += low <= 0 <= high
    return held / repetitions


def difference_coverage(
    noise: Noise, sizes: tuple[int, int], spreads: tuple[float, float], repetitions: int, seed: int = 1
) -> float:
    """The same for the difference of two independent groups whose true means are equal."""
    random = np.random.default_rng([seed, *sizes])
    held = 0
    for _ in range(repetitions):
        left, right = (spread * noise(random, n) for spread, n in zip(spreads, sizes, strict=True))
        interval = difference_estimate(left.tolist(), right.tolist()).interval
        held += interval is not None and interval.contains(0)
    return held / repetitions


def _resamples(values: Numbers, random: np.random.Generator) -> Numbers:
    return values[random.integers(0, values.size, (_RESAMPLES, values.size))]


def main(repetitions: int) -> None:
    sizes = (3, 4, 5, 8, 20)
    for noise_name, noise in NOISES.items():
        print(f"\n| {noise_name} | " + " | ".join(f"n={n}" for n in sizes) + " |")
        print("|---" * (len(sizes) + 1) + "|")
        for name, method in METHODS.items():
            shares = [coverage(method, noise, n, repetitions) for n in sizes]
            print(f"| {name} | " + " | ".join(f"{100 * share:.1f}" for share in shares) + " |", flush=True)
    print("\n| two groups, ours | " + " | ".join(NOISES) + " |")
    print("|---" * (len(NOISES) + 1) + "|")
    for groups in ((3, 3), (4, 4), (5, 5), (8, 8), (3, 5), (5, 3)):
        for spreads in ((1.0, 1.0), (1.0, 3.0)):
            shares = [difference_coverage(noise, groups, spreads, repetitions) for noise in NOISES.values()]
            title = f"n={groups[0]} vs {groups[1]}, spreads 1 : {spreads[1]:g}"
            print(f"| {title} | " + " | ".join(f"{100 * share:.1f}" for share in shares) + " |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
