"""Where in a trial a number was measured: what tells its phases apart."""

from __future__ import annotations

from collections.abc import Iterable

from mydyno.lab.results.records import PhaseRecord, TrialRecord

Place = int | str
"""A number of connections (as asked) or a queue depth, or the name of a test program or a job."""


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
