"""How much the trials of a run differ, for planning the next one."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mydyno.lab.analysis.precision import first_comparisons
from mydyno.lab.results.records import ExperimentRecord, TrialRecord


@dataclass(frozen=True)
class Spread:
    """`value`: standard deviation of the logarithm of one trial over one trial of the point that it is held
    against, pooled over all comparisons of the run."""

    value: float
    paired: bool
    """Trials of the same block were compared with each other."""
    trials: int
    """Valid ones that it comes from."""


def spread_of(trials: list[TrialRecord], experiment: ExperimentRecord) -> Spread | None:
    """None when nothing was compared, or nothing twice."""
    found = [one for _, one in first_comparisons(trials, experiment) if one is not None]
    known = [
        (one.spread, min(one.n_left, one.n_right) - 1, one.paired) for one in found if one.spread is not None
    ]
    freedom = sum(each for _, each, _ in known)
    if not freedom:
        return None
    pooled = math.sqrt(math.fsum(spread**2 * each for spread, each, _ in known) / freedom)
    compared = {point.point_id for point in experiment.compared_points}
    valid = sum(trial.status == "valid" and trial.point_id in compared for trial in trials)
    return Spread(pooled, all(paired for _, _, paired in known), valid)
