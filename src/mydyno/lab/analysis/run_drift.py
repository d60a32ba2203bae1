"""Whether a run drifted: its trials against the order in which they ran. Pure.

Blocks spread a drift evenly over the points, so that it widens intervals and favours nobody; but it says that
something other than the factors has moved the numbers: a disk that wears or fills, a CPU that grows hot, a
neighbour.
"""

from __future__ import annotations

from collections.abc import Sequence

from mydyno.lab.analysis.drift import Drift, drift_over_points
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import overall_observations, overall_places, valid_trials
from mydyno.lab.results.records import TrialRecord


def run_drift(trials: Sequence[TrialRecord], metric: Metric) -> Drift | None:
    """Of the metric over all places of each valid trial; None where there are too few trials to tell."""
    points: list[list[tuple[float, float]]] = []
    for point_id in dict.fromkeys(trial.point_id for trial in trials):
        own = valid_trials(trials, point_id)
        order = {trial.trial_id: trial.index for trial in own}
        over = overall_places(own, metric)
        found = overall_observations(own, over, metric) if over else []
        points.append([(float(order[one.trial_id]), one.value) for one in found if one.value > 0])
    return drift_over_points(points)
