"""What others concluded from the same numbers, compared with what the numbers show.

A claim is an order of levels, best first. Every two of its levels are looked at: the order holds where the
one named first is shown to be better, is a tie where the two cannot be told apart, and is reversed where the
other one is shown to be better. An average without an error shows an order always; this tells which of it was
more than noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.plain_means import PlainMeans, plain_means
from mydyno.lab.analysis.ranking import LevelPair, Ranking, ranking
from mydyno.lab.results.records import ClaimRecord, PointRecord, TrialRecord

State = Literal["holds", "tie", "reversed", "not measured"]


@dataclass(frozen=True)
class Step:
    """Two levels of a claim, `better` the one that it names first."""

    better: str
    worse: str
    state: State
    pair: LevelPair | None
    """What was found; None where the two were never measured side by side."""


@dataclass(frozen=True)
class HeldClaim:
    claim: ClaimRecord
    found: tuple[Ranking, ...]
    """The order that the trials show, where the claim is about."""
    steps: tuple[Step, ...]
    """Every two levels of the claim."""

    plain: PlainMeans | None
    """The order of plain means, by which the source may have come to its own."""

    @property
    def agrees(self) -> bool:
        """Every step holds."""
        return all(step.state == "holds" for step in self.steps)


def held_claims(
    claims: Sequence[ClaimRecord],
    trials: Sequence[TrialRecord],
    points: Sequence[PointRecord],
    metric: Metric,
) -> tuple[HeldClaim, ...]:
    """Each claim with what the trials show of it."""
    return tuple(_held(claim, trials, points, metric) for claim in claims)


def _held(
    claim: ClaimRecord, trials: Sequence[TrialRecord], points: Sequence[PointRecord], metric: Metric
) -> HeldClaim:
    # Only the claim's own levels: each other one would make the correction for many tests stricter.
    own = [point for point in points if point.levels.get(claim.factor) in claim.order]
    found = ranking(trials, own, claim.factor, metric, where=claim.where)
    pairs = {frozenset((pair.left, pair.right)): pair for one in found for pair in one.pairs}
    steps = tuple(
        _step(better, worse, pairs.get(frozenset((better, worse))))
        for better, worse in combinations(claim.order, 2)
    )
    plain = plain_means(trials, own, claim.factor, metric, claim.where)
    return HeldClaim(claim, found, steps, plain)


def _step(better: str, worse: str, pair: LevelPair | None) -> Step:
    if pair is None:
        state: State = "not measured"
    elif not pair.differ:
        state = "tie"
    else:
        state = "holds" if pair.left == better else "reversed"
    return Step(better, worse, state, pair)
