"""One metric of one point at one number of connections, over its valid trials."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mydyno.analysis.bootstrap import Interval, mean_estimate
from mydyno.analysis.metrics import Metric
from mydyno.analysis.observations import connection_counts, observations_at
from mydyno.results.records import TrialRecord


@dataclass(frozen=True)
class Summary:
    """The middle and the spread of `values`, one a trial, in the metric's unit.

    With n = 0 all is None; the spread needs n >= 2, the interval n >= 3.
    """

    point_id: str
    connections: int
    values: tuple[float, ...]
    mean: float | None
    median: float | None
    geometric_mean: float | None
    """None when a value is 0 or less."""
    standard_deviation: float | None
    variation: float | None
    """Coefficient of variation: standard deviation over mean; None when the mean is 0."""
    interval: Interval | None
    """Of the mean; never below 0 when no value is, since such a quantity cannot be."""

    @property
    def n(self) -> int:
        return len(self.values)


def summarise(point_id: str, connections: int, values: Sequence[float]) -> Summary:
    """The summary of plain numbers."""
    if not values:
        return Summary(point_id, connections, (), None, None, None, None, None, None)
    mean = math.fsum(values) / len(values)
    deviation = statistics.stdev(values) if len(values) > 1 else None
    interval = mean_estimate(values).interval
    if interval is not None and min(values) >= 0:
        interval = Interval(max(interval.low, 0.0), interval.high, interval.level)
    return Summary(
        point_id=point_id,
        connections=connections,
        values=tuple(values),
        mean=mean,
        median=statistics.median(values),
        geometric_mean=statistics.geometric_mean(values) if min(values) > 0 else None,
        standard_deviation=deviation,
        variation=deviation / mean if deviation is not None and mean != 0 else None,
        interval=interval,
    )


def summary(
    trials: Iterable[TrialRecord], point_ids: Iterable[str], metric: Metric
) -> dict[tuple[str, int], Summary]:
    """(point, connections) -> summary, for every number of connections that any trial asked for."""
    trials = list(trials)
    return {
        (point_id, connections): summarise(
            point_id,
            connections,
            [seen.value for seen in observations_at(trials, point_id, connections, metric)],
        )
        for point_id in point_ids
        for connections in connection_counts(trials)
    }
