"""Trials that lie far from the others: reported with a probable cause, never dropped.

How far is measured on logarithms and by medians, which a few wild values cannot move:

* where points were repeated, a trial's residual is its distance from the median of its point, on a fleet
  after what its host adds to all of its trials was taken away (the same fit, over points and hosts);
* where they were not (fewer than three trials of most points), it is what an additive fit by medians over the
  levels of all factors leaves of it (median polish: Tukey, Exploratory Data Analysis, 1977, chapter 11). That
  holds the interactions of the factors too, so that only a deviation by half or more is called one.

The scale is the median of all absolute residuals, or that of the trial's own point where it is larger: a
noisy point is not an outlier. A trial is flagged when its residual is as many scales large as none of an
experiment of this shape would be in 95 of 100 cases, were the noise normal (the Hampel identifier with the
outer cut-off of Davies and Gather, The Identification of Multiple Outliers, JASA 88, 1993; the cut-off, and
with it the small-sample correction of the median of few absolute residuals, is found by simulation).
Deviations within the margin of verdicts are never flagged: they change nothing.

A cause is how the record of a trial differs from those of the others. Nothing here proves it. It says where
to look first, with the numbers that point there.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import attrgetter
from typing import TypeVar

import numpy as np

from mydyno.core.factors import last_part
from mydyno.lab.analysis.bootstrap import SMALLEST_SAMPLE
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import common_observations, finite, places, value_at
from mydyno.lab.analysis.standard import MARGIN
from mydyno.lab.analysis.words import Words
from mydyno.lab.results.records import TrialRecord

_MOST_OF_IT = 0.5
"""Share of the excess that one place must carry to be named alone."""
_MANY_TIMES = 3.0
_OFF_THEORY = 0.8

_COUNTERS = {
    "Innodb_row_lock_time": "ms spent waiting for row locks",
    "Innodb_row_lock_waits": "waits for row locks",
    "Innodb_log_waits": "waits for the redo log's buffer",
    "Innodb_buffer_pool_wait_free": "waits for a free page of the buffer pool",
    "Innodb_buffer_pool_reads": "pages read from disk",
    "Innodb_pages_written": "pages written",
    "Innodb_data_fsyncs": "fsyncs of InnoDB",
    "Innodb_deadlocks": "deadlocks",
    "Created_tmp_disk_tables": "temporary tables on disk",
}
"""Counters that explain a slow trial when they are many times those of the others."""
_TROUBLES: Mapping[str, Callable[[TrialRecord], int]] = {
    "errors": lambda trial: sum(sum(phase.errors.values()) for phase in trial.phases),
    "retries": lambda trial: sum(phase.retries or 0 for phase in trial.phases),
    "reconnects": lambda trial: sum(phase.reconnects or 0 for phase in trial.phases),
}
_AT_LEAST = 10
"""Growth of a counter below which a multiple says nothing."""


def probable_causes(
    outlier: Outlier, flagged: Sequence[Outlier], trials: Sequence[TrialRecord], words: Words
) -> tuple[str, ...]:
    """What is unusual in the record of `outlier`, compared with all `flagged` and all valid `trials`; the
    most informative first. Empty where nothing is."""
    marked = {(one.trial.trial_id, one.trial.attempt) for one in flagged}
    clean = [
        trial for trial in trials if trial.status == "valid" and (trial.trial_id, trial.attempt) not in marked
    ]
    own = [trial for trial in clean if trial.point_id == outlier.trial.point_id]
    others = own or clean
    if not others:
        return ()
    return (
        *_place(outlier, others, words),
        *_levels([one.trial for one in flagged if (one.ratio > 1) == (outlier.ratio > 1)], clean),
        *_counters(outlier.trial, others),
        *_disks(outlier.trial),
        *_client(outlier.trial, others),
        *_troubles(outlier.trial, others),
        *_durability(outlier.trial, own),
        *_position(outlier.trial, trials),
        *(
            f"{remark.check}{words.of_phase(outlier.trial, remark.phase)}: {remark.message}"
            for remark in outlier.trial.remarks
        ),
    )


def _place(outlier: Outlier, others: Sequence[TrialRecord], words: Words) -> Iterator[str]:
    """The phase or test program that carries it."""
    trial, metric = outlier.trial, outlier.metric
    seen = {place: value_at(trial, place, metric) for place in places([trial])}
    usual = {place: _median(value_at(each, place, metric) for each in others) for place in seen}
    known = {
        place: (value, middle)
        for place, value in seen.items()
        if value is not None and (middle := usual[place]) is not None and value > 0 and middle > 0
    }
    if len(known) < 2:
        return
    excess = {
        place: value - middle if metric.summed else math.log(value / middle)
        for place, (value, middle) in known.items()
    }
    whole = math.fsum(excess.values())
    place = max(excess, key=lambda each: excess[each] / whole if whole else 0.0)
    # Of two places one carries half by mere chance.
    if not whole or excess[place] / whole < max(_MOST_OF_IT, 1.5 / len(excess)):
        return
    value, middle = known[place]
    if metric.summed:
        share = f"{_number(value)} of {_number(outlier.value)} s"
        yield f"{place} takes {share}, where {_number(middle)} s are usual"
    else:
        yield f"{metric.noun}{words.at(place)} is {value / middle:.2g} times that of the other trials"


def _levels(flagged: Sequence[TrialRecord], clean: Sequence[TrialRecord]) -> Iterator[str]:
    """A level, or two together, that all flagged trials have and no other."""
    if len(flagged) < 2:
        return
    shared = {
        name: level
        for name, level in flagged[0].levels.items()
        if all(trial.levels.get(name) == level for trial in flagged)
    }
    for size in (1, 2):
        for names in combinations(shared, size):
            if not any(all(trial.levels.get(name) == shared[name] for name in names) for trial in clean):
                common = " and ".join(f"{last_part(name)} = {shared[name]}" for name in names)
                both = "it" if size == 1 else "both"
                yield f"all {len(flagged)} such trials have {common}, and no other trial has {both}"
                return


def _counters(trial: TrialRecord, others: Sequence[TrialRecord]) -> Iterator[str]:
    for name, noun in _COUNTERS.items():
        value, usual = trial.counters.get(name), _median(each.counters.get(name) for each in others)
        if value is None or usual is None:
            continue
        if value >= _AT_LEAST and value > _MANY_TIMES * usual:
            yield f"{_number(value)} {noun} ({name}), where {_number(usual)} are usual"


def _disks(trial: TrialRecord) -> Iterator[str]:
    for check in trial.self_checks:
        if check.ratio is not None and check.ratio < _OFF_THEORY:
            share = f"{check.ratio * 100:.0f}% of the expected {check.operation}"
            yield f"before the load, {check.volume} did {share}"


def _client(trial: TrialRecord, others: Sequence[TrialRecord]) -> Iterator[str]:
    own, usual = _client_cpu(trial), _median(map(_client_cpu, others))
    if own is not None and usual is not None and own > 1.5 * usual and own - usual > 0.2:
        yield f"the load program used {own:.1f} CPUs, where {usual:.1f} are usual"


def _client_cpu(trial: TrialRecord) -> float | None:
    """CPUs in use on average while load ran."""
    cpu = seconds = 0.0
    for phase in trial.phases:
        if phase.client_cpu_user_s is None or phase.client_cpu_system_s is None:
            return None
        if phase.measured_from_s is not None and phase.measured_to_s is not None:
            cpu += phase.client_cpu_user_s + phase.client_cpu_system_s
            seconds += phase.measured_to_s - phase.measured_from_s
    return cpu / seconds if seconds > 0 else None


def _troubles(trial: TrialRecord, others: Sequence[TrialRecord]) -> Iterator[str]:
    for noun, count in _TROUBLES.items():
        own, usual = count(trial), _median(float(count(each)) for each in others)
        if usual is not None and own >= _AT_LEAST and own > _MANY_TIMES * usual:
            yield f"{_number(own)} {noun}, where {_number(usual)} are usual"


def _durability(trial: TrialRecord, own: Sequence[TrialRecord]) -> Iterator[str]:
    labels = {each.durability for each in own}
    if len(labels) == 1 and trial.durability is not None and trial.durability not in labels:
        yield f"it was {trial.durability}, the point's other trials were {labels.pop()}"


def _position(trial: TrialRecord, trials: Sequence[TrialRecord]) -> Iterator[str]:
    if len(trials) > 1 and trial.index == min(each.index for each in trials):
        yield "it was the first trial of the run"


def _median(values: Iterator[float | None] | map[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _number(value: float) -> str:
    """Three digits, and from a thousand on all of them, grouped as the report does."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


_SEED = 9_800
_EXPERIMENTS = 2_000
_CLEAN = 0.95
_SWEEPS = 10


@dataclass(frozen=True)
class Outlier:
    """A valid trial that differs from the others."""

    trial: TrialRecord
    metric: Metric
    value: float
    """Over all places of the trial, in the metric's unit."""
    usual: float
    """The value expected from the others."""
    scales: float
    """How many times the usual deviation it is away."""
    fitted: bool
    """`usual` is fitted from the levels of its factors, since its point has no other trials to speak of."""

    @property
    def ratio(self) -> float:
        return self.value / self.usual


def outliers(trials: Iterable[TrialRecord], metric: Metric, margin: float = MARGIN) -> tuple[Outlier, ...]:
    """Those of the valid `trials` that lie far from the others, in the order in which they ran.

    None where there are fewer than five trials.
    """
    valid = finite((trial for trial in trials if trial.status == "valid"), metric)
    logs = {
        seen.trial_id: math.log(seen.value)
        for own in _grouped((trial.point_id, trial) for trial in valid).values()
        for seen in common_observations(own, metric)
        if seen.value > 0
    }
    sizes = Counter(trial.point_id for trial in valid if trial.trial_id in logs)
    repeated = 2 * sum(size >= SMALLEST_SAMPLE for size in sizes.values()) >= len(sizes)
    known = {
        trial.trial_id: trial
        for trial in valid
        if trial.trial_id in logs and (not repeated or sizes[trial.point_id] >= SMALLEST_SAMPLE)
    }
    logs = {name: logs[name] for name in known}
    if len(logs) < _FEWEST:
        return ()
    left = _polished(known, logs, repeated=repeated)
    scale, own = _scales(known, left)
    points = Counter(trial.point_id for trial in known.values())
    if repeated:
        cut = _cut_off(round(statistics.fmean(points.values())), len(points))
    else:
        cut, margin = _cut_off(len(known), 1), max(margin, _LACK_OF_FIT)
    flagged = [
        Outlier(trial, metric, math.exp(logs[name]), math.exp(logs[name] - left[name]), far, not repeated)
        for name, trial in known.items()
        if abs(left[name]) > math.log1p(margin)
        and (far := _far(left[name], max(scale, own[trial.point_id] if repeated else 0.0))) > cut
    ]
    return tuple(sorted(flagged, key=lambda one: (one.trial.index, one.trial.attempt)))


Key = TypeVar("Key")
Value = TypeVar("Value")

_FEWEST = 5
_LACK_OF_FIT = 0.5


def _grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def _polished(trials: dict[str, TrialRecord], logs: dict[str, float], *, repeated: bool) -> dict[str, float]:
    """What is left after the medians of each host of a fleet, and those of each point, or of the levels of
    each factor, were taken away in turn, some ten times."""
    middle = statistics.median(logs.values())
    left = {name: log - middle for name, log in logs.items()}
    groupings = _groupings(trials, repeated=repeated)
    for _ in range(_SWEEPS):
        for group in groupings:
            by_level = _grouped((group(trial), name) for name, trial in trials.items())
            for names in by_level.values():
                # Two values would be split in the middle, and each be as far as the other.
                if len(names) >= SMALLEST_SAMPLE:
                    middle = statistics.median(left[name] for name in names)
                    left |= {name: left[name] - middle for name in names}
    return left


_Group = Callable[[TrialRecord], str | None]


def _groupings(trials: dict[str, TrialRecord], *, repeated: bool) -> list[_Group]:
    factors = dict.fromkeys(name for trial in trials.values() for name in trial.levels)
    by_setting: list[_Group] = [attrgetter("point_id")] if repeated else [_level_of(each) for each in factors]
    on_fleet = len({trial.host for trial in trials.values()}) > 1
    # The setting comes last: its median is then exact.
    return [*([attrgetter("host")] if on_fleet else []), *by_setting]


def _level_of(factor: str) -> _Group:
    return lambda trial: trial.levels.get(factor)


def _scales(trials: dict[str, TrialRecord], left: dict[str, float]) -> tuple[float, dict[str, float]]:
    """The median absolute residual of all, and that of each point."""
    own = _grouped((trial.point_id, abs(left[name])) for name, trial in trials.items())
    pooled = statistics.median(abs(each) for each in left.values())
    return pooled, {point: statistics.median(residuals) for point, residuals in own.items()}


def _far(residual: float, scale: float) -> float:
    return abs(residual) / scale if scale > 0 else math.inf


@functools.lru_cache(maxsize=64)
def _cut_off(repetitions: int, points: int) -> float:
    """So many median absolute residuals as the largest residual of `points` times `repetitions` normal values
    reaches in one of twenty experiments."""
    random = np.random.default_rng([_SEED, repetitions, points])
    experiments = max(200, _EXPERIMENTS * 50 // max(50, repetitions * points))
    values = random.standard_normal((experiments, points, repetitions))
    residuals = np.abs(values - np.median(values, axis=2, keepdims=True))
    pooled = np.median(residuals.reshape(experiments, -1), axis=1)
    own = np.median(residuals, axis=2)
    scale = np.maximum(pooled[:, None], own)
    return float(np.quantile((residuals.max(axis=2) / scale).max(axis=1), _CLEAN))
