"""From trials to the numbers that statistics may use: one per valid trial, never one per query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean

from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.results.records import PhaseRecord, PointRecord, TrialRecord


@dataclass(frozen=True)
class Observation:
    """A metric in one trial. Trials with the same `block` ran side by side: on one host, where there are
    several."""

    trial_id: str
    block: tuple[int, str]
    value: float


def valid_trials(trials: Iterable[TrialRecord], point_id: str) -> list[TrialRecord]:
    """The trials of a point that may count."""
    return [trial for trial in trials if trial.point_id == point_id and trial.status == "valid"]


def controls_as_points(trials: Iterable[TrialRecord], points: Iterable[PointRecord]) -> list[TrialRecord]:
    """The same, those of an A/A control as more trials of the point that it measures again."""
    of = {point.point_id: point.control_of for point in points if point.control_of is not None}
    return [
        replace(trial, point_id=of[trial.point_id]) if trial.point_id in of else trial for trial in trials
    ]


def value_at(trial: TrialRecord, place: Place, metric: Metric) -> float | None:
    """The metric at one place; None when it was not measured, or is not a finite number.

    Where a trial has several phases there, their mean: they are not repetitions.
    """
    values = [
        value
        for phase in trial.phases
        if place_of(phase) == place and (value := metric.value(phase)) is not None
    ]
    return math.fsum(values) / len(values) if values and all(map(math.isfinite, values)) else None


def not_finite(trial: TrialRecord, metric: Metric) -> tuple[Place, ...]:
    """The places at which the metric is not a number: not a missing one, but NaN or infinity."""
    values = ((place_of(phase), metric.value(phase)) for phase in trial.phases)
    found = (place for place, value in values if value is not None and not math.isfinite(value))
    return tuple(dict.fromkeys(found))


def finite(trials: Iterable[TrialRecord], metric: Metric) -> list[TrialRecord]:
    """Those of `trials` in which the metric is a number wherever it was measured."""
    return [trial for trial in trials if not not_finite(trial, metric)]


def observations_at(
    trials: Iterable[TrialRecord], point_id: str, place: Place, metric: Metric
) -> list[Observation]:
    """The metric in every valid trial of a point that measured it."""
    return [
        Observation(trial.trial_id, trial.block_and_host, value)
        for trial in valid_trials(trials, point_id)
        if (value := value_at(trial, place, metric)) is not None
    ]


def overall_places(trials: Sequence[TrialRecord], metric: Metric) -> tuple[Place, ...]:
    """The places over which `trials` can be compared as wholes.

    For an average those at which every one of them has a positive value. For a sum all of them: a sum
    without some of its parts would be too small.
    """
    found = places(trials)
    if metric.summed:
        return found
    return tuple(
        place for place in found if all((value_at(trial, place, metric) or 0) > 0 for trial in trials)
    )


def common_observations(trials: Sequence[TrialRecord], metric: Metric) -> list[Observation]:
    """The same over all places that `trials` have in common; none where there is no such place."""
    over = overall_places(trials, metric) if trials else ()
    return overall_observations(trials, over, metric) if over else []


def overall_observations(
    trials: Iterable[TrialRecord], over: Sequence[Place], metric: Metric
) -> list[Observation]:
    """The sum or the geometric mean over `over` in each of `trials` that has it all; without a place, none.

    Where the source of an imported trial states a total, that is taken: it may contain more than its
    parts do.
    """
    observations = []
    for trial in trials:
        if (total := trial.totals.get(metric.name)) is not None:
            if not math.isfinite(total):
                continue
            observations.append(Observation(trial.trial_id, trial.block_and_host, total))
            continue
        values = [value for place in over if (value := value_at(trial, place, metric)) is not None]
        if not over or len(values) < len(over):
            continue
        whole = math.fsum(values) if metric.summed else geometric_mean(values)
        observations.append(Observation(trial.trial_id, trial.block_and_host, whole))
    return observations


Place = int | str
"""A number of connections (as configured) or a queue depth, or the name of a test program or a job."""


def place_of(phase: PhaseRecord) -> Place:
    return phase.connections_asked if phase.label is None else phase.label


def places(trials: Iterable[TrialRecord]) -> tuple[Place, ...]:
    """Every place that some trial has a phase at: connections ascending, then programs as they ran."""
    found = dict.fromkeys(place_of(phase) for trial in trials for phase in trial.phases)
    connections = sorted(place for place in found if isinstance(place, int))
    return (*connections, *(place for place in found if isinstance(place, str)))


def by_program(trials: Iterable[TrialRecord]) -> bool:
    """Whether test programs, and nothing but them, were measured."""
    found = places(trials)
    return bool(found) and all(isinstance(place, str) for place in found)
