"""When the clock of each trial began, in the time of day: series count from the start of the load engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from mydyno.lab.results.records import TrialRecord
from mydyno.lab.results.run import Run

_SAME_START_S = 5.0
"""A trial's record and its first event are made one after the other; the record has whole seconds."""


def clock_starts(run: Run, trials: list[TrialRecord]) -> dict[tuple[str, int], float]:
    """(trial, attempt) -> seconds since 1970 at which `t_s` was 0.

    From the event that told the start of the first phase, to some milliseconds. Where the events were lost,
    the start of the trial stands for it, which is earlier by the time that raising the stack took.
    """
    told = list(_first_phases(run))
    starts = {}
    for trial in trials:
        began = _seconds(trial.started_at)
        fitting = [
            phase_at
            for trial_id, at, phase_at in told
            if trial_id == trial.trial_id and abs(at - began) < _SAME_START_S
        ]
        phase_s = trial.phases[0].started_s if trial.phases else 0.0
        starts[trial.trial_id, trial.attempt] = fitting[-1] - phase_s if fitting else began
    return starts


def _first_phases(run: Run) -> Iterator[tuple[str, float, float]]:
    """Trial, when it began, when its first phase began."""
    trial: tuple[str, float] | None = None
    for event in _events(run):
        match event:
            case {"type": "trial-started", "trial": str(name), "at": int() | float() as at}:
                trial = name, float(at)
            case {"type": "phase-started", "at": int() | float() as at} if trial is not None:
                yield *trial, float(at)
                trial = None


def _events(run: Run) -> Iterator[dict[str, Any]]:
    try:
        lines = run.events_file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue  # A kill may have cut off a line.
        if isinstance(event, dict):
            yield event


def _seconds(instant: str) -> float:
    try:
        found = datetime.fromisoformat(instant)
    except ValueError:
        return 0.0
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
