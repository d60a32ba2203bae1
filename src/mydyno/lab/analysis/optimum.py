"""At which place (number of connections, queue depth) a point does best: as measured, and by a fitted law."""

from collections.abc import Iterable
from dataclasses import dataclass

from mydyno.lab.analysis.metrics import QUERIES_PER_SECOND, Metric
from mydyno.lab.analysis.observations import Place, overall_places, valid_trials, value_at
from mydyno.lab.analysis.scalability import Scalability, scalability
from mydyno.lab.analysis.summary import Summary, summary
from mydyno.lab.results.records import TrialRecord


@dataclass(frozen=True)
class Optimum:
    """The best of a point's summaries, and those that do not differ from it significantly."""

    best: Summary
    ties: tuple[Place, ...] | None
    """Other places whose interval overlaps the best one's, ascending. Overlap is a cautious
    rule: it may call a tie what a direct test would separate. None when the best has no interval (fewer
    than 3 trials)."""
    loads: tuple[int, ...]
    """At which every valid trial measured something above 0: what a law can be fitted to."""
    law: Scalability | None
    """Of throughput; None for another metric and with too few loads."""


def optimum(
    trials: Iterable[TrialRecord], point_id: str, metric: Metric = QUERIES_PER_SECOND
) -> Optimum | None:
    """The place with the best mean, and the law; None when the point has no valid measurement."""
    valid = valid_trials(trials, point_id)
    measured = [found for found in summary(valid, [point_id], metric).values() if found.value is not None]
    if not measured:
        return None
    sign = 1 if metric.better == "higher" else -1
    best = max(measured, key=lambda found: sign * (found.value or 0))
    ties = None if best.interval is None else tuple(found.place for found in measured if _tied(found, best))
    loads = tuple(place for place in overall_places(valid, metric) if isinstance(place, int) and place > 0)
    return Optimum(best, ties, loads, _law(valid, loads, metric) if metric.better == "higher" else None)


def _law(trials: list[TrialRecord], loads: tuple[int, ...], metric: Metric) -> Scalability | None:
    """A load that comes at a given rate has that rate as its throughput: nothing can be learnt from it."""
    if any(phase.latency_kind == "response" for trial in trials for phase in trial.phases):
        return None
    return scalability(loads, [[value_at(trial, load, metric) or 0.0 for load in loads] for trial in trials])


def _tied(one: Summary, best: Summary) -> bool:
    """Without an interval nothing can be ruled out."""
    if one is best or best.interval is None:
        return False
    return one.interval is None or one.interval.overlaps(best.interval)
