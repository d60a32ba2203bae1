"""Where a phase became steady, from the rates of its intervals. Pure.

MSER-5 says where: of all the ways to drop the first batches of five intervals it takes the one after which
the standard error of the mean of the rest is least (White, *An Effective Truncation Heuristic for Bias
Reduction in Simulation Output*, Simulation 69, 1997; White, Cobb and Spratt, *A Comparison of Five
Steady-State Truncation Heuristics for Simulation*, WSC 2000; Franklin and White, *Stationarity Tests and
MSER-5*, WSC 2008; Hoad, Robinson and Davies, *Automating Warm-Up Length Estimation*, JORS 61, 2010). As they
do, a minimum in the second half is taken as "too short a run".

MSER-5 alone drops something of four in ten series that are steady all along
(tests/lab/analysis/test_steady.py): a minimum is always somewhere. So a beginning is dropped only where it
also differs from the rest by more than chance explains, and by enough to matter; else not one interval is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mydyno.lab.analysis.series import BATCH, Array, batched, finite, long_run_variance

LEAST_INTERVALS = 50
"""Ten batches: with fewer, five of them would be too few to call the rest steady."""
LEAST_DIFFERENCE = 0.02
"""Share by which the beginning must differ from the rest to be worth dropping."""
STANDARD_ERRORS = 5.0
"""By how many standard errors it must, too. More than the usual 2, since MSER has looked for the place where
they differ most: on steady series, autocorrelated up to 0.6, at most two in a hundred are cut
(tests/lab/analysis/test_steady.py)."""
_LAST = 4
"""No cut is made in the last 1/4 of the batches: the standard error of a few batches is small by chance, and
hides the place before it."""

Outcome = Literal["steady", "warm-up", "never", "not judged"]


@dataclass(frozen=True)
class Steadiness:
    """`first`: index of the first interval of the steady part; 0 but for `warm-up`.

    `never`: more than half would have to be dropped. `not judged`: too few intervals, or rates missing.
    """

    outcome: Outcome
    first: int = 0


NOT_JUDGED = Steadiness("not judged")
STEADY = Steadiness("steady")


def steadiness(rates: Sequence[float | None]) -> Steadiness:
    """Judges the rates of a phase's measured intervals, in order."""
    values = finite(rates)
    if values is None or len(values) < LEAST_INTERVALS:
        return NOT_JUDGED
    largest = float(np.abs(values).max())
    # Only shares matter; with the largest as 1 no square is too large or too small for a float.
    batches = batched(values / largest if largest else values, BATCH)
    half = len(batches) // 2
    errors = squared_errors(batches)
    late = int(np.argmin(errors[: len(batches) - len(batches) // _LAST]))
    if late > half and _differs(batches[:late], batches[late:], both=True):
        return Steadiness("never")
    cut = int(np.argmin(errors[: half + 1]))
    if cut == 0 or not _differs(batches[:cut], batches[cut:], both=False):
        return STEADY
    if cut == half:
        return Steadiness("never")
    # Batches are counted from the end; what is left over is at the start and goes with the warm-up.
    return Steadiness("warm-up", len(values) - BATCH * (len(batches) - cut))


def squared_errors(batches: Array) -> Array:
    """MSER for each number of batches that are dropped: the squared standard error of the mean of the
    rest."""
    backwards = batches[::-1] - batches.mean()
    count = np.arange(1, len(batches) + 1)
    squares = np.cumsum(backwards**2) - np.cumsum(backwards) ** 2 / count
    errors: Array = (np.maximum(squares, 0.0) / count**2)[::-1]
    return errors


def _differs(before: Array, after: Array, *, both: bool) -> bool:
    """Whether two neighbouring stretches have different means. The noise is that of `after`, or of `both`."""
    level = float(after.mean())
    difference = abs(float(before.mean()) - level)
    if level <= 0 or difference < LEAST_DIFFERENCE * level:
        return False
    deviations = after - level
    if both:
        deviations = np.concatenate([before - before.mean(), deviations])
    variance = long_run_variance(deviations, lost=2 if both else 1)
    error: float = (variance * (1 / len(before) + 1 / len(after))) ** 0.5
    return bool(difference > STANDARD_ERRORS * error)
