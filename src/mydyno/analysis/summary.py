"""One metric of one point at one place (a number of connections, a test program), over its valid trials."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mydyno.analysis.bootstrap import Interval, mean_estimate
from mydyno.analysis.metrics import Metric
from mydyno.analysis.observations import (
    finite,
    observations_at,
    overall_observations,
    overall_places,
    valid_trials,
)
from mydyno.analysis.places import Place, places
from mydyno.results.records import TrialRecord


@dataclass(frozen=True)
class Summary:
    """The middle and the spread of `values`, one a trial, in the metric's unit.

    With n = 0 all is None; the spread needs n >= 2, the interval n >= 3 and values that are not identical.
    """

    point_id: str
    place: Place
    values: tuple[float, ...]
    mean: float | None
    median: float | None
    geometric_mean: float | None
    """None when a value is 0 or less."""
    standard_deviation: float | None
    variation: float | None
    """Coefficient of variation: standard deviation over mean; None when the mean is 0."""

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def interval(self) -> Interval | None:
        """Of the mean; never below 0 when no value is, since such a quantity cannot be."""
        found = _interval_of_mean(self.values) if self.values else None
        if found is not None and min(self.values) >= 0:
            return Interval(max(found.low, 0.0), found.high, found.level)
        return found

    @property
    def geometric_interval(self) -> Interval | None:
        """Of the geometric mean: as far up as down in ratio, and never down to 0."""
        if self.geometric_mean is None:
            return None
        found = _interval_of_mean(tuple(math.log(value) for value in self.values))
        return found and Interval(math.exp(found.low), math.exp(found.high), found.level)


def summarise(point_id: str, place: Place, values: Sequence[float]) -> Summary:
    """The summary of plain numbers."""
    if not values:
        return Summary(point_id, place, (), None, None, None, None, None)
    mean = math.fsum(values) / len(values)
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return Summary(
        point_id=point_id,
        place=place,
        values=tuple(values),
        mean=mean,
        median=statistics.median(values),
        geometric_mean=statistics.geometric_mean(values) if min(values) > 0 else None,
        standard_deviation=deviation,
        variation=deviation / mean if deviation is not None and mean != 0 else None,
    )


@functools.lru_cache(maxsize=1 << 15)
def _interval_of_mean(values: tuple[float, ...]) -> Interval | None:
    """Reckoned when it is asked for, and remembered: tables and pictures ask for the same numbers."""
    return mean_estimate(values).interval


def summary(
    trials: Iterable[TrialRecord], point_ids: Iterable[str], metric: Metric
) -> dict[tuple[str, Place], Summary]:
    """(point, place) -> summary, for every place that any trial came to."""
    trials = list(trials)
    return {
        (point_id, place): summarise(
            point_id, place, [seen.value for seen in observations_at(trials, point_id, place, metric)]
        )
        for point_id in point_ids
        for place in places(trials)
    }


TOTAL = "total"
"""The place of a summary over all places."""


def total_summary(
    trials: Iterable[TrialRecord], point_ids: Iterable[str], metric: Metric
) -> dict[str, Summary]:
    """Point -> summary of the whole trials: of the sum or the mean over all places."""
    trials = finite(trials, metric)
    over = overall_places([trial for trial in trials if trial.status == "valid"], metric)
    return {
        point_id: summarise(
            point_id,
            TOTAL,
            [seen.value for seen in overall_observations(valid_trials(trials, point_id), over, metric)]
            if over
            else [],
        )
        for point_id in point_ids
    }
