"""The trials that differ from the others, in sentences, and what verdicts would be without them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mydyno.lab.analysis.causes import probable_causes
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.outliers import Outlier, outliers
from mydyno.lab.analysis.words import Words
from mydyno.lab.report.evidence import Evidence
from mydyno.lab.results.records import Remark, TrialRecord
from mydyno.page.format import latency, number, seconds

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
        yield Flagged(one, _sentence(one, causes, evidence.words))


def _sentence(one: Outlier, causes: Sequence[str], words: Words) -> str:
    metric = one.metric
    against = "the value expected from its levels" if one.fitted else "the median of its setting"
    size = f"{metric.noun} is {one.ratio:.2g} times {against}"
    numbers = f"{_value_text(metric, one.value)} against {_value_text(metric, one.usual)}"
    why = f"probable cause: {'; '.join(causes)}" if causes else "no cause found in its record"
    return f"{size} ({numbers}); {why}"


def _value_text(metric: Metric, value: float) -> str:
    writers = {"ns": latency, "s": seconds}
    return writers[metric.unit](value) if metric.unit in writers else f"{number(value, 4)} {metric.unit}"
