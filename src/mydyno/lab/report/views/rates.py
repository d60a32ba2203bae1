"""How fast a whole trial was."""

from __future__ import annotations

from collections.abc import Sequence

from mydyno.lab.analysis.metrics import RUNNING_TIME
from mydyno.lab.analysis.observations import overall_observations
from mydyno.lab.analysis.places import Place
from mydyno.lab.results.records import TrialRecord


def overall_rate(trial: TrialRecord) -> float | None:
    """Queries/s of a trial over all that counts of its measured windows; None when nothing was measured."""
    seconds = queries = 0.0
    for phase in trial.phases:
        if phase.measured_from_s is not None and phase.measured_to_s is not None:
            if phase.queries_per_second is None:
                return None
            counted_from_s = phase.measured_from_s if phase.steady_from_s is None else phase.steady_from_s
            seconds += phase.measured_to_s - counted_from_s
            queries += phase.queries_per_second * (phase.measured_to_s - counted_from_s)
    return queries / seconds if seconds > 0 else None


def total_time(trial: TrialRecord, programs: Sequence[Place]) -> float | None:
    """Seconds of a trial in all of `programs`; None unless each of them was measured."""
    found = overall_observations([trial], programs, RUNNING_TIME) if programs else []
    return found[0].value if found else None
