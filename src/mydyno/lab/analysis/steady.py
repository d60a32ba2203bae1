"""What the rates of a phase's intervals show: where it became steady, and stalls that recur with a period.
Pure.

MSER-5 says where: of all the ways to drop the first batches of five intervals it takes the one after which
the standard error of the mean of the rest is least (White, *An Effective Truncation Heuristic for Bias
Reduction in Simulation Output*, Simulation 69, 1997; White, Cobb and Spratt, *A Comparison of Five
Steady-State Truncation Heuristics for Simulation*, WSC 2000; Franklin and White, *Stationarity Tests and
MSER-5*, WSC 2008; Hoad, Robinson and Davies, *Automating Warm-Up Length Estimation*, JORS 61, 2010). As they
do, a minimum in the second half is taken as "too short a run".

MSER-5 alone drops something of four in ten series that are steady all along
(tests/lab/analysis/test_steady.py): a minimum is always somewhere. So a beginning is dropped only where it
also differs from the rest by more than chance explains, and by enough to matter; else not one interval is.

Checkpoints and flushing cause stalls that recur. A mean hides them: a server that stops for a second in ten
loses a tenth of its rate, and its users wait that second. What is looked for is regularity; single stalls are
noise, which the percentiles already show.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BATCH = 5
"""Intervals whose mean is one value: averages out what neighbours share, as MSER-5 has it."""


def finite(values: Sequence[float | None]) -> Array | None:
    """The values as an array; None when one of them is missing or not finite."""
    if any(value is None or not math.isfinite(value) for value in values):
        return None
    return np.array(values, dtype=np.float64)


def batched(values: Array, size: int) -> Array:
    """The means of `size` neighbours each, counted from the end; the start may be left over."""
    count = len(values) // size
    means: Array = values[len(values) - count * size :].reshape(count, size).mean(axis=1)
    return means


def long_run_variance(deviations: Array, lost: int) -> float:
    """n times the variance of a mean of n, for noise of first-order autocorrelation.

    The correlation of short series is estimated too low; it is corrected as by Kendall (Biometrika 41, 1954).
    """
    squares = float((deviations**2).sum())
    if squares == 0:
        return 0.0
    found = float((deviations[1:] * deviations[:-1]).sum()) / squares
    correlation = min(max(found + (1 + 4 * found) / len(deviations), 0.0), 0.9)
    return squares / (len(deviations) - lost) * (1 + correlation) / (1 - correlation)


SLOW = 0.5
"""Share of the median rate below which an interval is stalled."""
LONG = 3.0
"""So many times the median p99 and above: its queries waited, even if others made up for them."""
LEAST_QUERIES = 100
"""In an interval, below which its p99 is its slowest query, which chance makes long."""
LEAST_STALLS = 4
"""Three gaps: two equal ones are not a rhythm."""
MOST_IRREGULAR = 0.25
"""How far each gap may be from a whole number of periods, in periods."""
MOST_MISSED = 2
"""A gap of so many periods is let pass: a stall between was too short to be seen."""
MOST_STALLED = 1 / 3
"""Share of the intervals; more of them are not stalls but how it runs."""


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """One interval: when, how fast, and how long its slowest queries took (None: unknown)."""

    from_s: float
    to_s: float
    rate: float | None
    p99_ns: float | None
    queries: int


@dataclass(frozen=True)
class Stalls:
    period_s: float
    spans: tuple[tuple[float, float], ...]
    """From and to of each stall, on the clock of the intervals."""


def stalls(stretches: Sequence[Stretch]) -> Stalls | None:
    """The stalls of a phase's intervals, in order; None unless they recur with a period."""
    if any(one.rate is None or not math.isfinite(one.rate) for one in stretches):
        return None
    spans = _spans(stretches)
    if len(spans) < LEAST_STALLS:
        return None
    starts = [start for start, _ in spans]
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    usual = median(gaps)
    if any(not _regular(gap / usual) for gap in gaps):
        return None
    # The period over all of them is known better than any one gap.
    return Stalls(sum(gaps) / sum(round(gap / usual) for gap in gaps), tuple(spans))


def _regular(periods: float) -> bool:
    return 1 <= round(periods) <= MOST_MISSED and abs(periods - round(periods)) <= MOST_IRREGULAR


def _spans(stretches: Sequence[Stretch]) -> list[tuple[float, float]]:
    """The runs of stalled intervals; none where that is how the phase runs."""
    rates = [one.rate or 0.0 for one in stretches]
    tails = [one.p99_ns for one in stretches if one.p99_ns is not None]
    if not rates or median(rates) <= 0:
        return []
    slow = SLOW * median(rates)
    measurable = median(one.queries for one in stretches) >= LEAST_QUERIES and bool(tails)
    long = LONG * median(tails) if measurable else math.inf
    stalled = [rate < slow or (one.p99_ns or 0.0) > long for rate, one in zip(rates, stretches, strict=True)]
    if sum(stalled) > MOST_STALLED * len(stalled):
        return []
    spans: list[tuple[float, float]] = []
    before = False
    for one, now in zip(stretches, stalled, strict=True):
        if now and before:
            spans[-1] = (spans[-1][0], one.to_s)
        elif now:
            spans.append((one.from_s, one.to_s))
        before = now
    return spans


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
