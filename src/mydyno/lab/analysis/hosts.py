"""How much the hosts of a fleet differ, with the error: from an A/A over them, and from all trials of a run.

Everything is done on logarithms, as in `ratio`. The difference between two hosts is tested against how much
trials (or blocks) of one host differ, which is taken to be alike on all: a one-way analysis of variance.
Every two hosts are compared, so the intervals are Tukey's, for hosts of unequal numbers as C. Y. Kramer,
Extension of Multiple Range Tests to Group Means with Unequal Numbers of Replications, Biometrics 12, 1956.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from mydyno.core.percent import percent
from mydyno.lab.analysis.bootstrap import LEVEL, Interval
from mydyno.lab.analysis.effects.layout import basis
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import common_observations
from mydyno.lab.analysis.standard import MARGIN
from mydyno.lab.results.records import TrialRecord


@dataclass(frozen=True)
class HostPair:
    """One host over another: 1.12 says that its value is 12% above the other's."""

    left: str
    right: str
    value: float
    interval: Interval | None
    """Holds for all pairs together. None where no host has two values."""


@dataclass(frozen=True)
class HostsCompared:
    """The hosts of a fleet in one metric."""

    metric: Metric
    effects: Mapping[str, float]
    """Host -> its value over the geometric mean of all hosts."""
    counts: Mapping[str, int]
    """Host -> how many values it has: trials of an A/A, blocks of a run."""
    pairs: tuple[HostPair, ...]
    """The largest difference first."""

    @property
    def differ(self) -> bool:
        """Two of them are shown to differ."""
        return any(
            pair.interval is not None and not pair.interval.low <= 1 <= pair.interval.high
            for pair in self.pairs
        )

    def equal_within(self, margin: float = MARGIN) -> bool:
        """Every two of them are shown to differ by less."""
        return all(
            pair.interval is not None
            and 1 / (1 + margin) <= pair.interval.low <= pair.interval.high <= 1 + margin
            for pair in self.pairs
        )


def hosts_of_control(trials: Sequence[TrialRecord], metric: Metric) -> HostsCompared | None:
    """From the A/A over hosts: one value a trial. None below two hosts."""
    valid = [trial for trial in trials if trial.status == "valid"]
    host_of = {trial.trial_id: trial.host or "" for trial in valid}
    groups: dict[str, list[float]] = {}
    for seen in common_observations(valid, metric):
        if seen.value > 0:
            groups.setdefault(host_of[seen.trial_id], []).append(math.log(seen.value))
    return compared(groups, metric)


def hosts_of_run(trials: Sequence[TrialRecord], metric: Metric) -> HostsCompared | None:
    """From all trials: one value a block on a host, free of which points it holds. None below two hosts.

    Points and blocks are fitted together, so that a block that lacks a point is not taken for a quick one.
    """
    valid = [trial for trial in trials if trial.status == "valid" and trial.host is not None]
    by_point: dict[str, list[TrialRecord]] = {}
    for trial in valid:
        by_point.setdefault(trial.point_id, []).append(trial)
    values = {
        seen.trial_id: math.log(seen.value)
        for of_point in by_point.values()
        for seen in common_observations(of_point, metric)
        if seen.value > 0
    }
    rows = [trial for trial in valid if trial.trial_id in values]
    sides = sorted({trial.block_and_host for trial in rows})
    points = sorted({trial.point_id for trial in rows})
    if len({host for _, host in sides}) < 2:
        return None
    columns = np.array(
        [
            [
                *(trial.block_and_host == side for side in sides),
                *(trial.point_id == point for point in points),
            ]
            for trial in rows
        ],
        dtype=np.float64,
    )
    if basis(columns).shape[1] < len(sides) + len(points) - 1:
        # Some blocks share no point with the others: nothing says which of them is quicker.
        return None
    logs = np.array([values[trial.trial_id] for trial in rows])
    fitted, *_ = np.linalg.lstsq(columns, logs, rcond=None)
    groups: dict[str, list[float]] = {}
    for (_, host), value in zip(sides, fitted, strict=False):
        groups.setdefault(host, []).append(float(value))
    return compared(groups, metric)


def compared(
    groups: Mapping[str, Sequence[float]], metric: Metric, level: float = LEVEL
) -> HostsCompared | None:
    """Host -> logarithms of its values. None below two hosts."""
    if len(groups) < 2:
        return None
    means = {host: statistics.fmean(logs) for host, logs in groups.items()}
    middle = statistics.fmean(means.values())
    freedom = sum(len(logs) - 1 for logs in groups.values())
    squares = math.fsum((value - means[host]) ** 2 for host, logs in groups.items() for value in logs)
    wide = _studentized_range(level, len(groups), freedom) / math.sqrt(2) if freedom else None
    pairs = []
    for one, other in combinations(sorted(groups, key=lambda host: -means[host]), 2):
        far = means[one] - means[other]
        interval = None
        if wide is not None:
            error = math.sqrt(squares / freedom * (1 / len(groups[one]) + 1 / len(groups[other])))
            interval = Interval(math.exp(far - wide * error), math.exp(far + wide * error), level)
        pairs.append(HostPair(one, other, math.exp(far), interval))
    pairs.sort(key=lambda pair: -pair.value)
    return HostsCompared(
        metric,
        {host: math.exp(means[host] - middle) for host in groups},
        {host: len(logs) for host, logs in groups.items()},
        tuple(pairs),
    )


@cache
def _studentized_range(level: float, groups: int, freedom: int) -> float:
    # It takes longer to load than the rest of the comparison takes.
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(level, groups, freedom))


def control_sentence(found: HostsCompared) -> str:
    """Of an A/A over hosts."""
    fewest = min(found.counts.values())
    often = f"{'at least ' if max(found.counts.values()) > fewest else ''}{_times(fewest)}"
    what = f"A/A over {len(found.effects)} hosts, the same point {often} on each"
    return f"{what}: {_difference(found)}"


def run_sentence(found: HostsCompared) -> str:
    """Of all trials of a run."""
    return f"Over all trials, of {len(found.effects)} hosts: {_difference(found)}"


def _difference(found: HostsCompared) -> str:
    """Of the two that differ most."""
    pair = found.pairs[0]
    size = f"{pair.left} and {pair.right} differ by {percent(pair.value - 1)}% in {found.metric.noun}"
    if pair.interval is None:
        return (
            f"{size}, with no interval: that needs a host with two values. Points are compared within hosts."
        )
    low, high = (f"{percent(end - 1)}" for end in (pair.interval.low, pair.interval.high))
    interval = f"{pair.interval.level * 100:g}% CI {low} to {high}, over all pairs of hosts"
    if found.equal_within():
        return f"{size} ({interval}): equal within {MARGIN * 100:g}%."
    if found.differ:
        return f"{size} ({interval}): they are not equal. Points are compared within hosts, which removes it."
    return f"{size} ({interval}): no difference is shown. Points are compared within hosts."


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")
