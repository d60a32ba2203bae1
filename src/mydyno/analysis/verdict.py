"""What a ratio means, as a record and as one sentence.

    faster, slower      the ratio differs from 1 (p <= 0.05, corrected where many were looked at)
    no-difference       it may differ, but by no more than the margin: the whole 95 % interval lies within.
                        (Stricter than two one-sided tests at 5 %, whose interval is the 90 % one:
                        Schuirmann, A Comparison of the Two One-Sided Tests Procedure..., J. Pharmacokinet.
                        Biopharm. 15, 1987)
    not-enough-data     neither: the sentence tells about how many more trials would settle it

"Faster" means the better value of the metric: more queries per second, less latency, less running time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from mydyno.analysis import wording
from mydyno.analysis.bootstrap import LEVEL, SMALLEST_SAMPLE, Interval
from mydyno.analysis.durability import gives_up, least_durable
from mydyno.analysis.metrics import Metric
from mydyno.analysis.observations import valid_trials
from mydyno.analysis.places import Place
from mydyno.analysis.ratio import Comparison, Ratio, compare
from mydyno.results.records import PointRecord, TrialRecord

Outcome = Literal["faster", "slower", "no-difference", "not-enough-data"]

MARGIN = 0.03
"""Differences below 3 % count as none unless the caller asks for another margin: our choice, not a law. It
decides only between "no difference" and "not enough data", and which differences are called negligible."""

_MOST_TRIALS = 1000


@dataclass(frozen=True)
class Side:
    """One of the two things compared, as people call it."""

    title: str
    durability: str | None = None


@dataclass(frozen=True)
class Verdict:
    """Left against right. The record holds the numbers, `sentence` is what is shown."""

    outcome: Outcome
    left: Side
    right: Side
    metric: Metric
    ratio: Ratio
    margin: float
    negligible: bool
    """A difference that is there, but lies wholly within the margin."""
    more_trials: int | None
    """For `not-enough-data`: about how many more of each side; None when it cannot be told or passes 1000."""
    durability_note: str | None
    """What the faster side gives up in durability; None when nothing."""
    sentence: str


@dataclass(frozen=True)
class ComparisonVerdict:
    """A comparison and what it means, over all and at each place."""

    comparison: Comparison
    overall: Verdict
    by_place: dict[Place, Verdict]


def judge_points(
    trials: Iterable[TrialRecord],
    left: PointRecord,
    right: PointRecord,
    metric: Metric,
    margin: float = MARGIN,
) -> ComparisonVerdict:
    """Compare two points and judge the result. `left` is the one that the sentences are about."""
    trials = list(trials)
    comparison = compare(trials, left.point_id, right.point_id, metric)
    one, other = (
        Side(point.title, least_durable(valid_trials(trials, point.point_id))) for point in (left, right)
    )
    return ComparisonVerdict(
        comparison=comparison,
        overall=judge(comparison.overall, one, other, metric, margin),
        by_place={
            place: judge(found, one, other, metric, margin) for place, found in comparison.by_place.items()
        },
    )


def judge(ratio: Ratio, left: Side, right: Side, metric: Metric, margin: float = MARGIN) -> Verdict:
    """The verdict on one ratio. `margin`: the relative difference that still counts as none."""
    outcome = _outcome(ratio, metric, margin)
    negligible = outcome in ("faster", "slower") and _within(ratio.interval, margin)
    more = more_trials(ratio, margin) if outcome == "not-enough-data" else None
    note = _durability_note(outcome, left, right)
    if outcome == "not-enough-data":
        sentence = wording.not_enough_data(ratio, left.title, right.title, metric, more)
    elif outcome == "no-difference":
        sentence = wording.no_difference(ratio, left.title, right.title, metric)
    else:
        sentence = wording.difference(ratio, left.title, right.title, metric)
    if negligible:
        sentence += f"; a real difference, but below {margin * 100:g} %"
    if note:
        sentence += f"; {note}"
    return Verdict(
        outcome=outcome,
        left=left,
        right=right,
        metric=metric,
        ratio=ratio,
        margin=margin,
        negligible=negligible,
        more_trials=more,
        durability_note=note,
        sentence=sentence,
    )


def more_trials(ratio: Ratio, margin: float = MARGIN) -> int | None:
    """About how many more trials of each side would settle the question, if ratio and spread stay as
    observed.

    Settled is whatever comes first: an interval narrow enough to leave 1 out, or to lie within the margin.
    The half-width at n trials is Student's t times the spread over sqrt(n), at the level that the family
    asks for (Bonferroni's, the first step of Holm's). With fewer than two trials of each side there is no
    spread to plan by: the answer is what an interval needs at least. None beyond 1000.
    """
    have = min(ratio.n_left, ratio.n_right)
    if ratio.value is None or ratio.spread is None:
        return max(SMALLEST_SAMPLE - have, 0) or None
    distance = abs(math.log(ratio.value))
    target = max(distance, math.log1p(margin) - distance)
    tail = (1 - LEVEL) / ratio.family / 2
    n = np.arange(max(SMALLEST_SAMPLE, have + 1), have + _MOST_TRIALS + 1)
    freedom = n - 1 if ratio.paired else 2 * n - 2
    settled = n[special.stdtrit(freedom, 1 - tail) * ratio.spread / np.sqrt(n) <= target]
    return int(settled[0]) - have if settled.size else None


def _outcome(ratio: Ratio, metric: Metric, margin: float) -> Outcome:
    p_value = ratio.p_value if ratio.adjusted_p is None else ratio.adjusted_p
    if ratio.value is None or p_value is None:
        return "not-enough-data"
    if p_value <= 1 - LEVEL:
        return "faster" if (ratio.value > 1) == (metric.better == "higher") else "slower"
    return "no-difference" if _within(ratio.interval, margin) else "not-enough-data"


def _within(interval: Interval | None, margin: float) -> bool:
    return interval is not None and 1 / (1 + margin) <= interval.low and interval.high <= 1 + margin


def _durability_note(outcome: Outcome, left: Side, right: Side) -> str | None:
    if outcome not in ("faster", "slower"):
        return None
    winner, loser = (left, right) if outcome == "faster" else (right, left)
    if not gives_up(winner.durability, loser.durability):
        return None
    return f"but {winner.title} is less durable ({winner.durability}) than {loser.title} ({loser.durability})"
