"""How well a run knows what it compares: the state that decides whether a sequential design goes on.

Every point is compared with the first of its row of the table of comparisons, over all places, in the metric
that the row's load is about; of a single point it is the mean. "Known to ±3%" says that the interval lies
within the ratio times and divided by 1.03. The interval has the level that keeps the error rate of all looks
together (`analysis.sequential`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mydyno.lab.analysis.bootstrap import LEVEL, mean_estimate
from mydyno.lab.analysis.grid import grid
from mydyno.lab.analysis.observations import (
    common_observations,
    controls_as_points,
    overall_observations,
    overall_places,
    valid_trials,
)
from mydyno.lab.analysis.ratio import Ratio, ratio
from mydyno.lab.analysis.sequential import nominal_level
from mydyno.lab.analysis.words import primary_metric
from mydyno.lab.results.records import ExperimentRecord, PointRecord, TrialRecord


@dataclass(frozen=True)
class Precision:
    """The state after one look."""

    half_width: float | None
    """Of the comparison that is known worst, as a share: 0.03 for ±3%. None when one has no interval."""
    worst: str
    """The title of its point."""
    wanted: float

    @property
    def reached(self) -> bool:
        return self.half_width is not None and self.half_width <= self.wanted


def precision(trials: Sequence[TrialRecord], experiment: ExperimentRecord) -> Precision:
    """What `trials` say by now. The experiment's design has to be a sequential one."""
    design = experiment.design
    assert design.until is not None
    assert design.first_look is not None
    assert design.at_most is not None
    level = nominal_level(design.first_look, design.at_most)
    widths = list(_half_widths(trials, experiment, level))
    worst, half_width = max(widths, key=lambda one: math.inf if one[1] is None else one[1])
    return Precision(half_width, worst.title, design.until)


def first_comparisons(
    trials: Sequence[TrialRecord], experiment: ExperimentRecord, level: float = LEVEL
) -> Iterator[tuple[PointRecord, Ratio | None]]:
    """Each point over the first of its row, over all places; None where they have no place in common."""
    trials = controls_as_points(trials, experiment.points)
    table = grid(experiment.factors, experiment.points, design=experiment.design.points)
    for row in table.rows if table else ():
        of_row = row.of(trials)
        metric = primary_metric(of_row, experiment.work)
        for _, point, first in row.comparisons():
            lefts, rights = (valid_trials(of_row, each.point_id) for each in (point, first))
            over = overall_places([*lefts, *rights], metric) if lefts and rights else ()
            if not over:
                yield point, None
                continue
            left, right = (overall_observations(each, over, metric) for each in (lefts, rights))
            yield point, ratio(left, right, level)


def _half_widths(
    trials: Sequence[TrialRecord], experiment: ExperimentRecord, level: float
) -> Iterator[tuple[PointRecord, float | None]]:
    compared = False
    for point, found in first_comparisons(trials, experiment, level):
        compared = True
        yield point, _half_width(found) if found else None
    if not compared:
        for point in experiment.compared_points:
            own = [trial for trial in trials if trial.point_id == point.point_id]
            yield point, _of_mean(own, experiment, level)


def _of_mean(trials: Sequence[TrialRecord], experiment: ExperimentRecord, level: float) -> float | None:
    valid = [trial for trial in trials if trial.status == "valid"]
    metric = primary_metric(trials, experiment.work)
    seen = common_observations(valid, metric)
    if not seen or any(one.value <= 0 for one in seen):
        return None
    estimate = mean_estimate([math.log(one.value) for one in seen], level)
    if estimate.interval is None:
        return None
    return math.expm1(max(estimate.interval.high - estimate.value, estimate.value - estimate.interval.low))


def _half_width(compared: Ratio) -> float | None:
    value, interval = compared.value, compared.interval
    if value is None or interval is None or interval.low <= 0:
        return None
    return max(interval.high / value, value / interval.low) - 1


@dataclass(frozen=True)
class Spread:
    """`value`: standard deviation of the logarithm of one trial over one trial of the point that it is
    compared with, pooled over all comparisons of the run."""

    value: float
    paired: bool
    """Trials of the same block were compared with each other."""
    trials: int
    """Valid ones that it comes from."""


def spread_of(trials: list[TrialRecord], experiment: ExperimentRecord) -> Spread | None:
    """None when nothing was compared, or nothing twice."""
    ratios = [one for _, one in first_comparisons(trials, experiment) if one is not None]
    known = [
        (one.spread, min(one.n_left, one.n_right) - 1, one.paired) for one in ratios if one.spread is not None
    ]
    freedom = sum(each for _, each, _ in known)
    if not freedom:
        return None
    pooled = math.sqrt(math.fsum(spread**2 * each for spread, each, _ in known) / freedom)
    compared = {point.point_id for point in experiment.compared_points}
    valid = sum(trial.status == "valid" and trial.point_id in compared for trial in trials)
    return Spread(pooled, all(paired for _, _, paired in known), valid)
