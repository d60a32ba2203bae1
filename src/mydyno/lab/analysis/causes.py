"""Why a trial may lie far from the others: how its record differs from theirs.

Nothing here proves a cause. It says where to look first, with the numbers that point there.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from mydyno.core.factors import last_part
from mydyno.lab.analysis.observations import places, value_at
from mydyno.lab.analysis.outliers import Outlier
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
        *(f"{remark.check}: {remark.message}" for remark in outlier.trial.remarks),
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
