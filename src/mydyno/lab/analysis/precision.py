"""How well a run knows what it compares: the state that decides whether a sequential design goes on.

Every point is compared with the first of its row of the table of comparisons, over all places, in the metric
that the row's load is about; of a single point it is the mean. "Known to ±3%" says that the interval lies
within the ratio times and divided by 1.03. The interval has the level that keeps the error rate of all looks
together (`analysis.sequential`).

Besides, the minimum detectable effect of n trials, and how many trials it takes to detect a given difference.
Student's t test on logarithms, its power from the noncentral t distribution (Cohen, Statistical Power
Analysis for the Behavioral Sciences, 2nd ed., 1988, chapter 2).

`spread` is everywhere that of `analysis.ratio.Ratio`: the standard deviation of the logarithm of one left
trial over one right trial; 0.04 is 4%. Two independent points of spread s each have sqrt(2) s.
"""

import bisect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mydyno.lab.analysis import observations
from mydyno.lab.analysis.bootstrap import LEVEL, SMALLEST_SAMPLE, mean_estimate
from mydyno.lab.analysis.grid import grid
from mydyno.lab.analysis.ratio import Ratio, ratio
from mydyno.lab.analysis.sequential import nominal_level
from mydyno.lab.analysis.student_t import exceeds, quantile, shift_for
from mydyno.lab.analysis.words import primary_metric
from mydyno.lab.results.records import ExperimentRecord, PointRecord, TrialRecord

POWER = 0.8
"""The chance to detect a difference that is there."""

MOST_TRIALS = 1000

_BEYOND = math.log(1000)
"""A larger difference is not reported."""


def smallest_difference(
    spread: float, n: int, paired: bool, power: float = POWER, level: float = LEVEL
) -> float | None:
    """The relative difference (0.04: 4%) that `n` trials of each side show with the chance `power`.

    None with fewer than 3 trials, which have no interval, and where it is beyond a factor of 1000.
    """
    if n < SMALLEST_SAMPLE:
        return None
    error, freedom = spread / math.sqrt(n), _freedom(n, paired)
    distance = shift_for(power, _far(freedom, level), freedom)
    return math.expm1(distance * error) if distance * error < _BEYOND else None


def trials_needed(
    difference: float,
    spread: float,
    paired: bool,
    power: float = POWER,
    level: float = LEVEL,
    most: int = MOST_TRIALS,
) -> int | None:
    """The inverse: how many trials of each side show the relative difference with that chance, 3 at least.

    None when they are more than `most`.
    """
    distance = abs(math.log1p(difference))

    def chance(n: int) -> float:
        freedom = _freedom(n, paired)
        return exceeds(_far(freedom, level), freedom, distance / (spread / math.sqrt(n)))

    return _first(chance, power, most) if spread else SMALLEST_SAMPLE


def trials_to_exclude(
    difference: float,
    margin: float,
    spread: float,
    paired: bool,
    power: float = POWER,
    level: float = LEVEL,
    most: int = MOST_TRIALS,
) -> int | None:
    """How many trials of each side put the whole interval within the `margin` with that chance, when the true
    relative difference is `difference`. None when they are more than `most`, or no number would do."""
    distance, room = abs(math.log1p(difference)), math.log1p(margin)
    if distance >= room:
        return None

    def chance(n: int) -> float:
        freedom, error = _freedom(n, paired), spread / math.sqrt(n)
        far = _far(freedom, level)
        # Both ends within: at least what is left after either of them may miss.
        near, other = (exceeds(far, freedom, side / error) for side in (room - distance, room + distance))
        return near + other - 1

    return _first(chance, power, most) if spread else SMALLEST_SAMPLE


def _far(freedom: int, level: float) -> float:
    """How far t must be from 0 at this level. (Passing on the other side does not count, and has almost no
    chance.)"""
    return quantile((1 + level) / 2, freedom)


def _freedom(n: int, paired: bool) -> int:
    return n - 1 if paired else 2 * n - 2


def _first(chance: Callable[[int], float], power: float, most: int) -> int | None:
    """The chance rises with the number of trials."""
    sizes = range(SMALLEST_SAMPLE, most + 1)
    at = bisect.bisect_left(sizes, power, key=chance)
    return sizes[at] if at < len(sizes) else None


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
    trials = observations.controls_as_points(trials, experiment.points)
    table = grid(experiment.factors, experiment.points, design=experiment.design.points)
    for row in table.rows if table else ():
        of_row = row.of(trials)
        metric = primary_metric(of_row, experiment.work)
        for _, point, first in row.comparisons():
            lefts, rights = (observations.valid_trials(of_row, each.point_id) for each in (point, first))
            over = observations.overall_places([*lefts, *rights], metric) if lefts and rights else ()
            if not over:
                yield point, None
                continue
            left, right = (observations.overall_observations(each, over, metric) for each in (lefts, rights))
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
    seen = observations.common_observations(valid, metric)
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
