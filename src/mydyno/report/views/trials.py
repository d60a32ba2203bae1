"""Every trial in the order in which they ran, so that a drift or an outlier can be seen."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from mydyno.report.evidence import Evidence, Setting
from mydyno.report.views.overview import COUNTERS
from mydyno.report.views.rates import overall_rate
from mydyno.results.records import Invalidity, TrialRecord


@dataclass(frozen=True)
class Reason:
    check: str
    message: str
    connections: int | None
    """The phase's connections; None when the reason concerns the trial as a whole."""


@dataclass(frozen=True)
class TrialRow:
    order: int
    """1-based place in the plan."""
    label: str
    block: int
    setting: Setting
    queries_per_second: float | None
    """All queries of the measured windows over their seconds."""
    against_its_own: float | None
    """Ratio to the median of the valid trials of the same setting."""
    errors: int
    counters: tuple[float | None, ...]
    """In the order of `TrialTable.counter_names`."""
    seconds: float
    reasons: tuple[Reason, ...]

    @property
    def valid(self) -> bool:
        return not self.reasons


@dataclass(frozen=True)
class TrialTable:
    rows: tuple[TrialRow, ...]
    counter_names: tuple[str, ...]

    @property
    def invalid(self) -> tuple[TrialRow, ...]:
        return tuple(row for row in self.rows if not row.valid)


def trial_table(evidence: Evidence) -> TrialTable:
    names = tuple(name for name in COUNTERS if any(name in trial.counters for trial in evidence.trials))
    settings = {setting.point_id: setting for setting in evidence.settings}
    usual = {point_id: _usual_rate(evidence, point_id) for point_id in settings}
    rows = []
    for trial in evidence.trials:
        rate, own = overall_rate(trial), usual[trial.point_id]
        rows.append(
            TrialRow(
                order=trial.index + 1,
                label=trial_label(trial),
                block=trial.block,
                setting=settings[trial.point_id],
                queries_per_second=rate,
                against_its_own=rate / own if rate is not None and own else None,
                errors=sum(sum(phase.errors.values()) for phase in trial.phases),
                counters=tuple(trial.counters.get(name) for name in names),
                seconds=trial.seconds,
                reasons=_reasons(trial),
            )
        )
    return TrialTable(tuple(rows), names)


def trial_label(trial: TrialRecord) -> str:
    return trial.trial_id if trial.attempt == 1 else f"{trial.trial_id}, attempt {trial.attempt}"


def _usual_rate(evidence: Evidence, point_id: str) -> float | None:
    rates = [overall_rate(trial) for trial in evidence.valid if trial.point_id == point_id]
    known = [rate for rate in rates if rate is not None]
    return median(known) if known else None


def _reasons(trial: TrialRecord) -> tuple[Reason, ...]:
    if trial.status == "valid":
        return ()
    connections = {phase.index: phase.connections_asked for phase in trial.phases}
    found: tuple[Invalidity, ...] = trial.invalidities or (
        Invalidity(check="unknown", message="marked invalid, but no reason was recorded"),
    )
    return tuple(
        Reason(each.check, each.message, None if each.phase is None else connections.get(each.phase))
        for each in found
    )
