"""At which place (number of connections, queue depth) a point does best."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mydyno.analysis.metrics import QUERIES_PER_SECOND, Metric
from mydyno.analysis.places import Place
from mydyno.analysis.summary import Summary, summary
from mydyno.results.records import TrialRecord


@dataclass(frozen=True)
class Optimum:
    """The best of a point's summaries, and those that it cannot be told from."""

    best: Summary
    ties: tuple[Place, ...] | None
    """Other places whose interval overlaps the best one's, ascending. Overlap is a cautious
    rule: it may call a tie what a direct test would separate. None when the best has no interval (fewer
    than 3 trials)."""


def optimum(
    trials: Iterable[TrialRecord], point_id: str, metric: Metric = QUERIES_PER_SECOND
) -> Optimum | None:
    """The place with the best mean; None when the point has no valid measurement."""
    measured = [found for found in summary(trials, [point_id], metric).values() if found.mean is not None]
    if not measured:
        return None
    sign = 1 if metric.better == "higher" else -1
    best = max(measured, key=lambda found: sign * (found.mean or 0))
    if best.interval is None:
        return Optimum(best, None)
    return Optimum(best, tuple(found.place for found in measured if _tied(found, best)))


def _tied(one: Summary, best: Summary) -> bool:
    """Without an interval nothing can be ruled out."""
    if one is best or best.interval is None:
        return False
    return one.interval is None or one.interval.overlaps(best.interval)
