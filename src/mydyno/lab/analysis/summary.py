"""One metric of one point at one place (a number of connections, a test program), over its valid trials."""

import functools
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mydyno.lab.analysis.bootstrap import Interval, mean_estimate
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import (
    Place,
    finite,
    observations_at,
    overall_observations,
    overall_places,
    places,
    valid_trials,
)
from mydyno.lab.results.records import TrialRecord

_LARGEST_LOGARITHM = 709.0


@dataclass(frozen=True)
class Summary:
    """The middle and the spread of `values`, one a trial, in the metric's unit.

    With n = 0 all is None; the spread needs n >= 2, the interval n >= 3 and values that are not identical.
    """

    point_id: str
    place: Place
    values: tuple[float, ...]
    mean: float | None
    """Arithmetic. What is shown and compared is `value`."""
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
    def value(self) -> float | None:
        """The one mean of the reports: the geometric one, so that the ratio of two of them is the ratio that
        verdicts are about; the arithmetic one where a value is 0 or less."""
        return self.mean if self.geometric_mean is None else self.geometric_mean

    @property
    def interval(self) -> Interval | None:
        """Of `value`: a factor up and down, so that it never reaches 0. With a value of 0 it is symmetric and
        ends at 0, since such a quantity cannot be less."""
        if not self.values:
            return None
        if self.geometric_mean is not None:
            found = _interval_of_mean(tuple(math.log(value) for value in self.values))
            return found and Interval(_exp(found.low), _exp(found.high), found.level)
        found = _interval_of_mean(self.values)
        if found is not None and min(self.values) >= 0:
            return Interval(max(found.low, 0.0), found.high, found.level)
        return found


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


def _exp(value: float) -> float:
    """Infinity beyond the reach of a float."""
    return math.exp(value) if value < _LARGEST_LOGARITHM else math.inf


@functools.lru_cache(maxsize=1 << 15)
def _interval_of_mean(values: tuple[float, ...]) -> Interval | None:
    """Cached: tables and pictures need the same numbers."""
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
