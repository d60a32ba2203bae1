"""What a ratio means, as a record and as one sentence.

    faster, slower      the ratio differs from 1 (p <= 0.05, corrected where many were looked at, and where
                        the data were looked at again and again: `analysis.standard`)
    no-difference       it may differ, but by no more than the margin: the whole 95% interval lies within.
                        (Stricter than two one-sided tests at 5%, whose interval is the 90% one:
                        Schuirmann, A Comparison of the Two One-Sided Tests Procedure..., J. Pharmacokinet.
                        Biopharm. 15, 1987)
    not-enough-data     neither: the sentence gives the size, its uncertainty, the largest difference that is
                        not excluded, and about how many more trials would settle it, or the minimum
                        detectable effect of those that there are

"Faster" means the better value of the metric: more queries per second, less latency, less running time.

The gate says whether something is slower than allowed, the question of a CI job:

    failed   it is slower (the test says so, corrected for how many were looked at), and by as much as is too
             much, or more, by the best estimate
    unsure   not failed, but a loss of that size cannot be ruled out: the 95% interval reaches it, or there
             is none
    passed   such a loss is ruled out

So a lucky or unlucky run is distinguished from a regression, and "passed" is a statement, not silence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mydyno.lab.analysis.bootstrap import SMALLEST_SAMPLE, Interval
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import Place, valid_trials
from mydyno.lab.analysis.precision import smallest_difference, trials_needed, trials_to_exclude
from mydyno.lab.analysis.ratio import Comparison, Ratio, compare
from mydyno.lab.analysis.standard import Standard, gives_up, least_durable
from mydyno.lab.analysis.wording import Sentences
from mydyno.lab.results.records import PointRecord, TrialRecord

State = Literal["passed", "unsure", "failed"]


@dataclass(frozen=True)
class Gated:
    """One comparison and the loss that is allowed."""

    name: str
    verdict: Verdict
    allowed: float
    """The relative loss that is too much: 0.03 for 3%."""
    state: State
    loss: float | None
    """As measured; negative for a gain. None without a ratio."""
    most: float | None
    """The largest loss that the interval holds."""


def gate(verdicts: Iterable[tuple[str, Verdict]], allowed: float) -> tuple[Gated, ...]:
    """Each named verdict, compared with the loss `allowed`."""
    return tuple(_gated(name, verdict, allowed) for name, verdict in verdicts)


def state_of(gated: Iterable[Gated]) -> State:
    """The worst of all; nothing compared is unsure."""
    states = {one.state for one in gated}
    if "failed" in states:
        return "failed"
    return "passed" if states == {"passed"} else "unsure"


def _gated(name: str, verdict: Verdict, allowed: float) -> Gated:
    ratio = verdict.ratio
    higher = verdict.metric.better == "higher"
    loss = most = None
    if ratio.value is not None:
        loss = 1 - ratio.value if higher else ratio.value - 1
    if ratio.interval is not None:
        most = 1 - ratio.interval.low if higher else ratio.interval.high - 1
    if loss is not None and verdict.outcome == "slower" and loss >= allowed:
        state: State = "failed"
    elif most is None or most > allowed:
        state = "unsure"
    else:
        state = "passed"
    return Gated(name, verdict, allowed, state, loss, most)


Outcome = Literal["faster", "slower", "no-difference", "not-enough-data"]

_MOST_MORE = 100


@dataclass(frozen=True)
class Side:
    """One of the two settings or runs that are compared."""

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
    standard: Standard
    negligible: bool
    """A difference that is there, but lies wholly within the margin."""
    more_trials: int | None
    """For `not-enough-data`: about how many more of each side; None when unknown or above 100."""
    durability_note: str | None
    """What the faster side lacks in durability; None when nothing."""
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
    standard: Standard = Standard(),
    over: tuple[Place, ...] | None = None,
) -> ComparisonVerdict:
    """Compare two points and judge the result, over the places `over` as `ratio.compare`. `left` is the one
    that the sentences are about."""
    trials = list(trials)
    comparison = compare(trials, left.point_id, right.point_id, metric, standard.level, over)
    one, other = (
        Side(point.title, least_durable(valid_trials(trials, point.point_id))) for point in (left, right)
    )
    return ComparisonVerdict(
        comparison=comparison,
        overall=judge(comparison.overall, one, other, metric, standard),
        by_place={
            place: judge(found, one, other, metric, standard) for place, found in comparison.by_place.items()
        },
    )


def judge(ratio: Ratio, left: Side, right: Side, metric: Metric, standard: Standard = Standard()) -> Verdict:
    """The verdict on one ratio, whose interval is at the level of the `standard`."""
    outcome = _outcome(ratio, metric, standard)
    negligible = outcome in ("faster", "slower") and _within(ratio.interval, standard.margin)
    more = more_trials(ratio, standard) if outcome == "not-enough-data" else None
    note = _durability_note(outcome, left, right)
    sentences = Sentences(left.title, right.title, metric, standard)
    if ratio.identical:
        sentence = sentences.identical(ratio)
    elif outcome == "not-enough-data":
        sentence = sentences.not_enough_data(ratio, more, smallest_seen(ratio, standard))
    elif outcome == "no-difference":
        sentence = sentences.no_difference(ratio)
    else:
        sentence = sentences.difference(ratio)
    if negligible:
        sentence += f"; a real difference, but within the equivalence margin of {standard.margin * 100:g}%"
    if note:
        sentence += f"; {note}"
    return Verdict(
        outcome=outcome,
        left=left,
        right=right,
        metric=metric,
        ratio=ratio,
        standard=standard,
        negligible=negligible,
        more_trials=more,
        durability_note=note,
        sentence=sentence,
    )


def more_trials(ratio: Ratio, standard: Standard = Standard()) -> int | None:
    """About how many more trials of each side would settle the question in four of five cases, if ratio and
    spread stay as observed.

    Settled is whatever comes first: an interval that leaves 1 out, or one that lies within the margin. The
    level is what the family asks for (Bonferroni's, the first step of Holm's). With fewer than two trials of
    each side there is no spread to plan by: the answer is what an interval needs at least. None beyond 100:
    who has a handful of trials that disagree so much should look for the reason, not wait for the rest.
    """
    have = min(ratio.n_left, ratio.n_right)
    if ratio.identical or ratio.unlike is not None:
        return None
    if ratio.value is None or ratio.spread is None:
        return max(SMALLEST_SAMPLE - have, 0) or None
    difference, most, level = ratio.value - 1, have + _MOST_MORE, _family_level(ratio, standard)
    needs = (
        trials_needed(difference, ratio.spread, ratio.paired, level=level, most=most),
        trials_to_exclude(difference, standard.margin, ratio.spread, ratio.paired, level=level, most=most),
    )
    known = [need for need in needs if need is not None]
    return max(min(known) - have, 1) if known else None


def smallest_seen(ratio: Ratio, standard: Standard = Standard()) -> float | None:
    """The minimum detectable effect, relative: what as many trials of such a spread show in four of five
    cases. None where the spread is not known."""
    if ratio.spread is None or ratio.identical:
        return None
    have = min(ratio.n_left, ratio.n_right)
    return smallest_difference(ratio.spread, have, ratio.paired, level=_family_level(ratio, standard))


def _family_level(ratio: Ratio, standard: Standard) -> float:
    return 1 - (1 - standard.level) / ratio.family


def _outcome(ratio: Ratio, metric: Metric, standard: Standard) -> Outcome:
    if ratio.identical:
        return "no-difference" if ratio.same else "not-enough-data"
    p_value = ratio.p_value if ratio.adjusted_p is None else ratio.adjusted_p
    if ratio.value is None or p_value is None:
        return "not-enough-data"
    if p_value <= standard.alpha:
        return "faster" if (ratio.value > 1) == (metric.better == "higher") else "slower"
    return "no-difference" if _within(ratio.interval, standard.margin) else "not-enough-data"


def _within(interval: Interval | None, margin: float) -> bool:
    return interval is not None and 1 / (1 + margin) <= interval.low and interval.high <= 1 + margin


def _durability_note(outcome: Outcome, left: Side, right: Side) -> str | None:
    if outcome not in ("faster", "slower"):
        return None
    winner, loser = (left, right) if outcome == "faster" else (right, left)
    if not gives_up(winner.durability, loser.durability):
        return None
    return f"but {winner.title} is less durable ({winner.durability}) than {loser.title} ({loser.durability})"
