"""From trials to the numbers that statistics may use: one per valid trial, never one per query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mydyno.analysis.metrics import Metric
from mydyno.results.records import TrialRecord


@dataclass(frozen=True)
class Observation:
    """A metric in one trial. `block` tells which trials ran side by side."""

    trial_id: str
    block: int
    value: float


def valid_trials(trials: Iterable[TrialRecord], point_id: str) -> list[TrialRecord]:
    """The trials of a point that may count."""
    return [trial for trial in trials if trial.point_id == point_id and trial.status == "valid"]


def value_at(trial: TrialRecord, connections: int, metric: Metric) -> float | None:
    """The metric at one number of connections (as asked); None when it was not measured.

    Where a trial has several phases with that number, their mean: they are no repetitions.
    """
    values = [
        value
        for phase in trial.phases
        if phase.connections_asked == connections and (value := metric.value(phase)) is not None
    ]
    return math.fsum(values) / len(values) if values else None


def observations_at(
    trials: Iterable[TrialRecord], point_id: str, connections: int, metric: Metric
) -> list[Observation]:
    """The metric in every valid trial of a point that measured it."""
    return [
        Observation(trial.trial_id, trial.block, value)
        for trial in valid_trials(trials, point_id)
        if (value := value_at(trial, connections, metric)) is not None
    ]


def connection_counts(trials: Iterable[TrialRecord]) -> tuple[int, ...]:
    """Every number of connections that some trial asked for, ascending."""
    return tuple(sorted({phase.connections_asked for trial in trials for phase in trial.phases}))


def shared_counts(trials: Sequence[TrialRecord], metric: Metric) -> tuple[int, ...]:
    """The numbers of connections at which every one of `trials` has a positive value of the metric."""
    return tuple(
        connections
        for connections in connection_counts(trials)
        if all((value_at(trial, connections, metric) or 0) > 0 for trial in trials)
    )


def overall_observations(
    trials: Iterable[TrialRecord], connections: Sequence[int], metric: Metric
) -> list[Observation]:
    """The geometric mean over `connections` in each of `trials`, which all have a positive value there."""
    found = []
    for trial in trials:
        values = [value_at(trial, count, metric) or 0 for count in connections]
        mean = math.exp(math.fsum(map(math.log, values)) / len(values))
        found.append(Observation(trial.trial_id, trial.block, mean))
    return found
