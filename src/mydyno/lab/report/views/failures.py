"""Points with trials that could not be measured: how many, in which step, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mydyno.core.plurals import agreeing, counted
from mydyno.lab.report.evidence import Evidence, Setting
from mydyno.lab.results.records import FAILED, SKIPPED, TrialRecord

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
