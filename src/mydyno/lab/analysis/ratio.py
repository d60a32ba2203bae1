"""The ratio of two points, with its error, from repetitions.

Everything is done on logarithms: a ratio of 2 and a ratio of 1/2 are then equally far from "no difference",
noise that is proportional to the value becomes even, and the unit of the metric drops out. The mean of log
ratios is the logarithm of the geometric mean, which is what is reported.

When both points ran once in each of the same blocks, the trials of a block are compared with each other and
n ratios remain, free of what the block's trials shared (a warm file system, a noisy neighbour, the time of
day). A point that was measured twice in each block (an A/A control) counts with the mean of both, which
leaves three quarters of the variance. In any other case the two groups are compared as independent (Welch).

On a fleet, whose hosts differ, nothing is compared across hosts: pairs are of one block on one host, as many
as there are; of two runs, which share no block, a pair is the means of a host.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mydyno.lab.analysis import bootstrap
from mydyno.lab.analysis.holm import holm
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import (
    Observation,
    Place,
    finite,
    observations_at,
    overall_observations,
    overall_places,
    places,
    valid_trials,
)
from mydyno.lab.results.records import TrialRecord


@dataclass(frozen=True)
class Ratio:
    """Left over right: 1.12 says that left's value is 12% above right's.

    `value` is None when a side has no observation or one that is not above 0; the rest then is None too.
    `interval` and `p_value` (of "the true ratio is 1") need three trials of each side, which are not
    `identical`.
    """

    n_left: int
    n_right: int
    paired: bool
    value: float | None
    interval: bootstrap.Interval | None
    p_value: float | None
    spread: float | None
    """Standard deviation of the logarithm of one left trial over one right trial; None below two of each."""
    adjusted_p: float | None = None
    """After Holm's correction over the `family`; None when there is only this ratio."""
    family: int = 1
    """How many ratios were looked at together."""
    unlike: str | None = None
    """Why the two sides do not measure the same; then there is no value."""

    @property
    def identical(self) -> bool:
        """All trials, three at least, say the same to the last digit: nothing is known of their spread."""
        few = min(self.n_left, self.n_right) < bootstrap.SMALLEST_SAMPLE
        return not few and self.spread is not None and self.spread < _NO_SPREAD

    @property
    def same(self) -> bool:
        """The ratio is 1 to the last digit."""
        return self.value is not None and abs(self.value - 1) < _NO_SPREAD


_NO_SPREAD = 1e-9
"""On logarithms, whose own rounding lies far below."""


@dataclass(frozen=True)
class Comparison:
    """Two points compared in one metric."""

    left: str
    right: str
    metric: Metric
    overall: Ratio
    """Of the geometric means (or the sums) over `over` in each trial: the primary answer, one test."""
    over: tuple[Place, ...]
    """The places that enter `overall`."""
    by_place: dict[Place, Ratio]
    """At every place that some trial came to; a family of tests, corrected by Holm."""


def compare(
    trials: Iterable[TrialRecord],
    left: str,
    right: str,
    metric: Metric,
    level: float = bootstrap.LEVEL,
    over: tuple[Place, ...] | None = None,
) -> Comparison:
    """Point `left` against point `right` over their valid trials, at the `level` of each interval; `overall`
    is over the places `over`, by default those that both have.

    A trial of which the metric is not finite (NaN, infinity) somewhere is left out of `overall`.
    """
    trials = list(trials)
    lefts, rights = valid_trials(trials, left), valid_trials(trials, right)
    found = places(trial for trial in trials if trial.point_id in (left, right))
    ratios = [
        ratio(
            observations_at(lefts, left, place, metric), observations_at(rights, right, place, metric), level
        )
        for place in found
    ]
    adjusted = holm([one.p_value for one in ratios])
    lefts, rights = finite(lefts, metric), finite(rights, metric)
    if not lefts or not rights:
        over = ()
    elif over is None:
        over = overall_places([*lefts, *rights], metric)
    if over:
        overall = ratio(
            overall_observations(lefts, over, metric), overall_observations(rights, over, metric), level
        )
    else:
        overall = Ratio(len(lefts), len(rights), False, None, None, None, None)
    if (unlike := _unlike(lefts, rights, metric)) is not None:
        overall, *ratios = (
            Ratio(one.n_left, one.n_right, False, None, None, None, None, unlike=unlike)
            for one in (overall, *ratios)
        )
        adjusted = [None] * len(ratios)
    return Comparison(
        left=left,
        right=right,
        metric=metric,
        overall=overall,
        over=over,
        by_place={
            place: replace(one, adjusted_p=p, family=len(ratios))
            for place, one, p in zip(found, ratios, adjusted, strict=True)
        },
    )


def _unlike(lefts: Iterable[TrialRecord], rights: Iterable[TrialRecord], metric: Metric) -> str | None:
    """Service times of one side cannot be compared with response times of the other."""
    if not metric.waits:
        return None
    kinds = [{phase.latency_kind for trial in side for phase in trial.phases} for side in (lefts, rights)]
    if not all(kinds) or kinds[0] == kinds[1]:
        return None
    times = [" and ".join(f"{kind} time" for kind in sorted(kind)) for kind in kinds]
    return f"its latency is {times[0]}, the other's {times[1]}"


def ratio(left: Sequence[Observation], right: Sequence[Observation], level: float = bootstrap.LEVEL) -> Ratio:
    """The ratio of the geometric means of two groups of observations."""
    nothing = Ratio(len(left), len(right), False, None, None, None, None)
    if not left or not right or any(seen.value <= 0 for seen in (*left, *right)):
        return nothing
    on_fleet = any(host for _, host in (seen.block for seen in (*left, *right)))
    if pairs := _pairs_within_hosts(left, right) if on_fleet else _pairs(left, right):
        return ratio_of_logs([one - other for one, other in pairs], level)
    if on_fleet:
        return replace(nothing, unlike=_apart(left, right))
    left_logs = [math.log(seen.value) for seen in left]
    right_logs = [math.log(seen.value) for seen in right]
    spread = None
    if min(len(left), len(right)) > 1:
        spread = math.hypot(statistics.stdev(left_logs), statistics.stdev(right_logs))
    return _with_error(nothing, bootstrap.difference_estimate(left_logs, right_logs, level), spread)


def ratio_of_logs(logs: Sequence[float], level: float = bootstrap.LEVEL) -> Ratio:
    """The ratio of pairs, each given by its logarithm (at least one, all finite)."""
    spread = statistics.stdev(logs) if len(logs) > 1 else None
    nothing = Ratio(len(logs), len(logs), True, None, None, None, None)
    return _with_error(nothing, bootstrap.mean_estimate(logs, level), spread)


def _with_error(of: Ratio, estimate: bootstrap.Estimate, spread: float | None) -> Ratio:
    found = replace(of, value=math.exp(estimate.value), spread=spread)
    if estimate.interval is None or found.identical:
        return found
    return replace(found, interval=_exponential(estimate.interval), p_value=estimate.p_value)


def _pairs(left: Sequence[Observation], right: Sequence[Observation]) -> list[tuple[float, float]]:
    """The logarithms of left and right of each block; empty unless each block has both, and one of them once.
    The other may have been measured twice, which an A/A control is: the mean of both counts."""
    lefts, rights = _by_block(left), _by_block(right)
    if lefts.keys() != rights.keys():
        return []
    if sorted(max(map(len, side.values())) for side in (lefts, rights)) > [1, 2]:
        return []
    return [(statistics.fmean(lefts[block]), statistics.fmean(rights[block])) for block in sorted(lefts)]


def _pairs_within_hosts(
    left: Sequence[Observation], right: Sequence[Observation]
) -> list[tuple[float, float]]:
    """The mean logarithms of left and right of each block on a host that has both; else of each host.
    Empty where no host has both."""
    lefts, rights = _by_block(left), _by_block(right)
    if not lefts.keys() & rights.keys():
        lefts, rights = _by_host(lefts), _by_host(rights)
    both = sorted(lefts.keys() & rights.keys())
    return [(statistics.fmean(lefts[block]), statistics.fmean(rights[block])) for block in both]


def _apart(left: Sequence[Observation], right: Sequence[Observation]) -> str:
    """What two sides that share no host say of themselves."""
    one, other = (
        " and ".join(
            sorted({host or "a machine without a fleet" for _, host in (seen.block for seen in side)})
        )
        for side in (left, right)
    )
    return (
        f"it ran on {one}, the other on {other}, and what hosts differ by would be in the difference; "
        "measure both on a host that they share"
    )


def _by_block(observations: Sequence[Observation]) -> dict[tuple[int, str], list[float]]:
    blocks: dict[tuple[int, str], list[float]] = {}
    for seen in observations:
        blocks.setdefault(seen.block, []).append(math.log(seen.value))
    return blocks


def _by_host(blocks: Mapping[tuple[int, str], Sequence[float]]) -> dict[tuple[int, str], list[float]]:
    hosts: dict[tuple[int, str], list[float]] = {}
    for (_, host), logs in blocks.items():
        if host:
            hosts.setdefault((0, host), []).extend(logs)
    return hosts


def _exponential(interval: bootstrap.Interval) -> bootstrap.Interval:
    # A bound beyond the reach of a float says "anything": infinity keeps saying so.
    high = math.exp(interval.high) if interval.high < 700 else math.inf
    return bootstrap.Interval(math.exp(max(interval.low, -700)), high, interval.level)
