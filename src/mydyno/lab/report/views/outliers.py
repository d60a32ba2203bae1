"""The trials that differ from the others, in sentences, and what verdicts would be without them;
and points with trials that could not be measured: how many, in which step, and why.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mydyno.core.plurals import agreeing, counted
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.outliers import Outlier, outliers, probable_causes
from mydyno.lab.report.evidence import Evidence, Setting
from mydyno.lab.results.records import FAILED, SKIPPED, Remark, TrialRecord
from mydyno.page.format import latency, number, seconds

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class FailedPoint:
    setting: Setting
    failed: int
    """Trials that were tried. Of each trial the last attempt counts."""
    skipped: int
    """Trials that were not tried any more."""
    trials: int
    reasons: tuple[str, ...]
    """`mount data: ...`, each once."""

    @property
    def count(self) -> str:
        """`2 of 5 trials failed, 3 were not tried`"""
        skipped = f", {self.skipped} {agreeing(self.skipped, 'was')} not tried" if self.skipped else ""
        return f"{self.failed} of {counted(self.trials, 'trial')} failed{skipped}"


def failed_points(evidence: Evidence) -> tuple[FailedPoint, ...]:
    """Those of them in the order of the points; empty for a run that was measured whole."""
    points = []
    for setting in (*evidence.settings, *evidence.controls):
        last = {trial.trial_id: trial for trial in evidence.trials_of(setting.point_id)}
        failed, skipped = (_with(tuple(last.values()), check) for check in (FAILED, SKIPPED))
        if failed or skipped:
            points.append(FailedPoint(setting, len(failed), len(skipped), len(last), _reasons(failed)))
    return tuple(points)


def _reasons(failed: Sequence[TrialRecord]) -> tuple[str, ...]:
    """Those of a server's log differ in their timestamps and process ids alone."""
    messages = (reason.message for trial in failed for reason in trial.invalidities if reason.check == FAILED)
    return tuple({_NUMBER.sub("", message): message for message in messages}.values())


def _with(trials: Sequence[TrialRecord], check: str) -> list[TrialRecord]:
    return [trial for trial in trials if any(reason.check == check for reason in trial.invalidities)]


CHECK = "outlier"
"""Name of the warning."""

Key = tuple[str, int]
"""Trial and attempt."""


@dataclass(frozen=True)
class Flagged:
    outlier: Outlier
    sentence: str
    """`running time is 8.5 times the median of its setting (10,119 s against 1,190 s); probable...`"""

    @property
    def key(self) -> Key:
        return self.outlier.trial.trial_id, self.outlier.trial.attempt

    @property
    def remark(self) -> Remark:
        return Remark(check=CHECK, message=self.sentence)


def flagged(evidence: Evidence) -> tuple[Flagged, ...]:
    """Each metric that verdicts are about is looked at over all trials of which it is."""
    by_metric: dict[Metric, list[TrialRecord]] = {}
    for point in evidence.experiment.points:
        own = evidence.trials_of(point.point_id)
        if own:
            by_metric.setdefault(evidence.metric_of(own), []).extend(own)
    return tuple(one for metric, trials in by_metric.items() for one in _flagged(evidence, metric, trials))


def without(evidence: Evidence, strange: Sequence[Flagged]) -> tuple[TrialRecord, ...]:
    """The trials but those that are flagged."""
    left_out = {one.key for one in strange}
    return tuple(trial for trial in evidence.trials if (trial.trial_id, trial.attempt) not in left_out)


def named(strange: Sequence[Flagged]) -> str:
    """`t007`, `t007 and t011`, `t007, t011 and 3 more`"""
    names = [one.outlier.trial.trial_id for one in strange]
    if len(names) > _NAMED:
        names = [*names[: _NAMED - 1], f"{len(names) - _NAMED + 1} more"]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


_NAMED = 6


def _flagged(evidence: Evidence, metric: Metric, trials: Sequence[TrialRecord]) -> Iterator[Flagged]:
    strange = outliers(trials, metric, evidence.margin)
    for one in strange:
        causes = probable_causes(one, strange, trials, evidence.words)
        yield Flagged(one, _sentence(one, causes))


def _sentence(one: Outlier, causes: Sequence[str]) -> str:
    metric = one.metric
    on_host = one.trial.host is not None
    against = "the median of its setting"
    if one.fitted or on_host:
        against = f"the value expected from its {'levels' if one.fitted else 'setting'}"
        against += " and its host" if on_host else ""
    size = f"{metric.noun} is {one.ratio:.2g} times {against}"
    numbers = f"{_value_text(metric, one.value)} against {_value_text(metric, one.usual)}"
    why = f"probable cause: {'; '.join(causes)}" if causes else "no cause found in its record"
    return f"{size} ({numbers}); {why}"


def _value_text(metric: Metric, value: float) -> str:
    writers = {"ns": latency, "s": seconds}
    return writers[metric.unit](value) if metric.unit in writers else f"{number(value, 4)} {metric.unit}"
