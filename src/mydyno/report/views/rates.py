"""How fast a whole trial was."""

from __future__ import annotations

from mydyno.results.records import TrialRecord


def overall_rate(trial: TrialRecord) -> float | None:
    """Queries/s of a trial over all of its measured windows; None when nothing was measured."""
    seconds = queries = 0.0
    for phase in trial.phases:
        if phase.measured_from_s is not None and phase.measured_to_s is not None:
            seconds += phase.measured_to_s - phase.measured_from_s
            queries += phase.queries
    return queries / seconds if seconds > 0 else None
