"""How the numbers came about: what a reader must know to judge them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from mydyno.core.plurals import agreeing, counted
from mydyno.core.secrets import masked
from mydyno.core.synthetic import SAYS
from mydyno.lab.analysis.drift import run_drift
from mydyno.lab.analysis.observations import not_finite, place_of
from mydyno.lab.analysis.steady import LEAST_INTERVALS
from mydyno.lab.analysis.words import Words, primary_metric
from mydyno.lab.report.evidence import Evidence
from mydyno.lab.report.views.ground import verified
from mydyno.lab.results.files import lost_series
from mydyno.lab.results.records import (
    EXTERNAL_SERVER,
    LOAD_AVERAGE,
    OF_HOST,
    SYNTHETIC_TRACE,
    UNSEEN_SERVER,
    LatencyKind,
)

BUSY = 0.5
"""Load average for each usable CPU above which something else was surely at work."""

_NAMED = 4
"""Settings that have a sentence each."""

GIVEN_WORK = "Test programs run one after the other: each does fixed work, and its time is measured."


@dataclass(frozen=True)
class Method:
    valid: int
    invalid: int
    done: int
    """Planned trials of which at least one attempt was finished."""
    planned: int
    load: tuple[str, ...]
    """How it came, and what latency is under it, for each kind of load; empty when no phase was run."""
    steady: tuple[str, ...]
    """Of how many phases the steady part is known, one sentence each."""
    verified: tuple[str, ...]
    """What was looked at before the load, and how much of it was as it should be, one sentence each."""
    remarks: tuple[str, ...]
    """What the run lacks for a full answer and what may have disturbed it, one sentence each."""

    @property
    def trials(self) -> str:
        """`7 valid trials of 8`; of an unfinished run `12 of 16 trials done, 11 valid`."""
        if self.done < self.planned:
            return f"{self.done} of {counted(self.planned, 'trial')} done, {self.valid} valid"
        return f"{counted(self.valid, 'valid trial')} of {self.valid + self.invalid}"


def method(evidence: Evidence) -> Method:
    loads = [phase for trial in evidence.trials for phase in trial.phases]
    kinds = {phase.latency_kind for phase in loads if place_of(phase) not in evidence.programs}
    done = len({trial.trial_id for trial in evidence.trials})
    return Method(
        valid=len(evidence.valid),
        invalid=len(evidence.trials) - len(evidence.valid),
        done=done,
        planned=evidence.experiment.planned_trials,
        load=(
            *(_loop(evidence.words, kind) for kind in sorted(kinds, reverse=True)),
            *((GIVEN_WORK,) if evidence.programs else ()),
        ),
        steady=tuple(steady_parts(evidence)),
        verified=tuple(verified(evidence)),
        remarks=(
            *_synthetic(evidence),
            *_missing(evidence, done),
            *_external(evidence),
            *_disturbed(evidence),
            *drift_of_run(evidence),
        ),
    )


def _loop(words: Words, kind: LatencyKind) -> str:
    return words.open_loop if kind == "response" else words.closed_loop


def _synthetic(evidence: Evidence) -> Iterator[str]:
    if any(remark.check == SYNTHETIC_TRACE for trial in evidence.trials for remark in trial.remarks):
        yield SAYS


def _missing(evidence: Evidence, done: int) -> tuple[str, ...]:
    sentences = []
    planned = evidence.experiment.planned_trials
    if done < planned:
        sentences.append(
            f"The run is not complete: {done} of {counted(planned, 'trial')} are done. "
            "Running it again resumes it."
        )
    sentences += _too_few(evidence)
    if len(evidence.experiment.compared_points) == 1 and evidence.trials:
        sentences.append(
            "The experiment has one point: there is nothing to compare. Add a factor to get a verdict."
        )
    sentences += _no_numbers(evidence)
    return (*sentences, *(each[0].upper() + each[1:] for each in lost_series(evidence.lost)))


def _no_numbers(evidence: Evidence) -> Iterator[str]:
    """Valid trials of which what the verdict is about is NaN or infinite somewhere."""
    metric = evidence.metric_of(evidence.trials)
    for trial in evidence.valid:
        where = not_finite(trial, metric)
        if where or not math.isfinite(trial.totals.get(metric.name, 0.0)):
            at = ", ".join(evidence.words.at(place).strip() for place in where) or "in total"
            yield f"{trial.trial_id} is left out of the verdict: its {metric.noun} is not a number {at}."


def _too_few(evidence: Evidence) -> Iterator[str]:
    """Settings without trials enough; those of one number of trials together where they are many."""
    titles_by_count: dict[int, list[str]] = {}
    for setting in evidence.settings:
        of_point = evidence.trials_of(setting.point_id)
        valid = sum(trial.status == "valid" for trial in of_point)
        if of_point and valid < 3:
            titles_by_count.setdefault(valid, []).append(setting.title)
    for valid, titles in sorted(titles_by_count.items()):
        if len(titles) > _NAMED:
            titles = [f"{len(titles)} of {len(evidence.settings)} settings"]
        for title in titles:
            if valid == 0:
                yield f"{title}: no valid trial."
            else:
                yield (
                    f"{title}: {counted(valid, 'valid trial')}; "
                    "intervals and verdicts need at least 3 (design.repeats)."
                )


def _external(evidence: Evidence) -> Iterator[str]:
    address, unseen = (evidence.environment.get(name) for name in (EXTERNAL_SERVER, UNSEEN_SERVER))
    if address is not None:
        yield (
            f"This was measured on an external server ({masked(str(address))}) that mydyno did not start: "
            "its caches were not reset, and the load of other clients is in the numbers."
        )
    if unseen is not None:
        yield f"Counters of the machine of {unseen} are left out: they cannot be read from here."


def _disturbed(evidence: Evidence) -> Iterator[str]:
    for name, load in evidence.environment.items():
        of_host = name.removesuffix(LOAD_AVERAGE)
        cpus = evidence.environment.get(f"{of_host}cpu.usable") if of_host != name else None
        if isinstance(load, int | float) and isinstance(cpus, int) and load > BUSY * cpus:
            machine = f"host {of_host.removeprefix(OF_HOST)[:-1]}" if of_host else "machine"
            yield (
                f"The {machine} was busy when the run was started: "
                f"its load average was {load:.1f} on {counted(cpus, 'CPU')}."
            )


def steady_parts(evidence: Evidence) -> Iterator[str]:
    """Of how many phases the steady part was looked for, and of how many a warm-up was left out."""
    phases = [
        phase
        for trial in evidence.trials
        for phase in trial.phases
        if place_of(phase) not in evidence.programs and phase.measured_from_s is not None
    ]
    if not phases or evidence.experiment.imported:
        return
    judged = [phase for phase in phases if phase.steady_from_s is not None]
    if not judged:
        yield (
            "Steadiness was not judged: that needs phases with a duration and at least "
            f"{LEAST_INTERVALS} intervals."
        )
        return
    cut = sum(phase.steady_from_s != phase.measured_from_s for phase in judged)
    left_out = f"; the beginning of {cut} of them was left out as warm-up" if cut else ""
    steady = f"{len(judged)} of {counted(len(phases), 'phase')} {agreeing(len(judged), 'is')} steady"
    yield f"{steady} (MSER-5){left_out}."


def drift_of_run(evidence: Evidence) -> Iterator[str]:
    """A drift from the first trial to the last, with its size."""
    if evidence.experiment.imported:
        return
    metric = primary_metric(evidence.trials, evidence.experiment.work)
    drift = run_drift(evidence.trials, metric)
    if drift is None or not drift.found:
        return
    way = "fell" if drift.change < 0 else "rose"
    yield (
        f"The {metric.noun} {way} by {abs(drift.change) * 100:.0f}% from the first trial to the last "
        f"(seasonal Kendall test within points, p {_p(drift.p_value)}): something other than the "
        "factors changed. Shuffled blocks spread it over all points."
    )


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"
