"""The minimum detectable effect of n trials, and how many trials it takes to detect a given difference.

Student's t test on logarithms, its power from the noncentral t distribution (Cohen, Statistical Power
Analysis for the Behavioral Sciences, 2nd ed., 1988, chapter 2).

`spread` is everywhere that of `analysis.ratio.Ratio`: the standard deviation of the logarithm of one left
trial over one right trial; 0.04 is 4%. Two independent points of spread s each have sqrt(2) s.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mydyno.lab.analysis.bootstrap import LEVEL, SMALLEST_SAMPLE

POWER = 0.8
"""The chance to detect a difference that is there."""

MOST_TRIALS = 1000

_BEYOND = math.log(1000)
"""A larger difference is not reported."""

Sizes = NDArray[np.int64]
Numbers = NDArray[np.float64]


def smallest_difference(
    spread: float, n: int, paired: bool, power: float = POWER, level: float = LEVEL
) -> float | None:
    """The relative difference (0.04: 4%) that `n` trials of each side show with the chance `power`.

    None with fewer than 3 trials, which have no interval, and where it is beyond a factor of 1000.
    """
    if n < SMALLEST_SAMPLE:
        return None
    error, freedom = spread / math.sqrt(n), _freedom(np.array(n), paired)
    # Here and below: it takes longer to load than a comparison without a power takes.
    from scipy import special

    distance = float(special.nctdtrinc(freedom, 1 - power, float(_far(freedom, level))))
    return math.expm1(distance * error) if distance * error < _BEYOND else None


def trials_needed(
    difference: float,
    spread: float,
    paired: bool,
    power: float = POWER,
    level: float = LEVEL,
    most: int = MOST_TRIALS,
) -> int | None:
    """The inverse: how many trials of each side show the relative difference with that chance, 3 at least.

    None when they are more than `most`.
    """
    distance = abs(math.log1p(difference))

    def chance(n: Sizes) -> Numbers:
        freedom = _freedom(n, paired)
        far = _far(freedom, level)
        return _passed(far, freedom, distance / (spread / np.sqrt(n)))

    return _first(chance, power, most) if spread else SMALLEST_SAMPLE


def trials_to_exclude(
    difference: float,
    margin: float,
    spread: float,
    paired: bool,
    power: float = POWER,
    level: float = LEVEL,
    most: int = MOST_TRIALS,
) -> int | None:
    """How many trials of each side put the whole interval within the `margin` with that chance, when the true
    relative difference is `difference`. None when they are more than `most`, or no number would do."""
    distance, room = abs(math.log1p(difference)), math.log1p(margin)
    if distance >= room:
        return None

    def chance(n: Sizes) -> Numbers:
        freedom, error = _freedom(n, paired), spread / np.sqrt(n)
        far = _far(freedom, level)
        # Both ends within: at least what is left after either of them may miss.
        near, other = (_passed(far, freedom, side / error) for side in (room - distance, room + distance))
        return near + other - 1

    return _first(chance, power, most) if spread else SMALLEST_SAMPLE


def _passed(far: Numbers, freedom: Sizes, distance: Numbers) -> Numbers:
    """The chance that t passes `far` when the truth lies `distance` standard errors from 0. (Passing
    on the other side does not count, and has almost no chance.)"""
    from scipy import special

    return np.asarray(1 - special.nctdtr(freedom, distance, far))


def _far(freedom: Numbers | Sizes, level: float) -> Numbers:
    """How far t must be from 0 at this level."""
    from scipy import special

    return np.asarray(special.stdtrit(freedom, (1 + level) / 2), dtype=np.float64)


def _freedom(n: Sizes, paired: bool) -> Sizes:
    return n - 1 if paired else 2 * n - 2


def _first(chance: Callable[[Sizes], Numbers], power: float, most: int) -> int | None:
    n = np.arange(SMALLEST_SAMPLE, most + 1)
    enough = n[chance(n) >= power]
    return int(enough[0]) if enough.size else None
