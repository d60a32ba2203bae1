"""Every trial in the order in which they ran, so that a drift or an outlier can be seen."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import median

from mydyno.lab.analysis.observations import places
from mydyno.lab.analysis.words import Words
from mydyno.lab.report.evidence import Evidence, Setting
from mydyno.lab.report.views.outliers import Flagged
from mydyno.lab.report.views.overview import COUNTERS, overall_rate, total_time
from mydyno.lab.results.records import NOT_MEASURED, CheckRecord, Invalidity, Remark, TrialRecord


@dataclass(frozen=True)
class Reason:
    """Why a trial must not count, or a warning."""

    check: str
    message: str
    where: str
    """` at 400 connections`, ` in insert`; nothing when it concerns the trial as a whole."""


@dataclass(frozen=True)
class TrialRow:
    order: int
    """1-based place in the plan."""
    label: str
    block: int
    host: str | None
    """Of the fleet."""
    setting: Setting
    queries_per_second: float | None
    """All queries of the measured windows over their seconds."""
    total_seconds: float | None
    """Of all test programs; None when one of them was not measured, and where none was run."""
    against_its_own: float | None
    """Ratio of the rate, or of the total, to the median of the valid trials of the same setting, on a fleet
    of those on the same host."""
    errors: int
    retries: int | None
    """Of transactions, after an error for which the workload configures that; None when not counted."""
    reconnects: int | None
    counters: tuple[float | None, ...]
    """In the order of `TrialTable.counter_names`."""
    seconds: float
    reasons: tuple[Reason, ...]
    checks: tuple[CheckRecord, ...]
    """Conditions of the workload, looked at after the load."""
    warnings: tuple[Reason, ...]
    """They mark the trial and do not spoil it."""

    @property
    def valid(self) -> bool:
        return not self.reasons

    @property
    def measured(self) -> bool:
        """False for a trial that failed: its point is among the failed ones."""
        return not any(reason.check in NOT_MEASURED for reason in self.reasons)

    @property
    def verdict(self) -> str:
        """`valid`, `INVALID`, or `FAILED`."""
        return "valid" if self.valid else "INVALID" if self.measured else "FAILED"

    @property
    def broken(self) -> tuple[CheckRecord, ...]:
        return tuple(check for check in self.checks if not check.holds)


@dataclass(frozen=True)
class SharedWarning:
    """One warning and the trials that have it."""

    check: str
    message: str
    where: str
    """As of a reason; ` in 6 phases` where it was seen in several."""
    rows: tuple[TrialRow, ...]

    @property
    def labels(self) -> str:
        """`t001, t003`"""
        return ", ".join(row.label for row in self.rows)


@dataclass(frozen=True)
class TrialTable:
    rows: tuple[TrialRow, ...]
    counter_names: tuple[str, ...]
    by_program: bool
    words: Words

    @property
    def on_hosts(self) -> bool:
        return any(row.host is not None for row in self.rows)

    @property
    def retried(self) -> bool:
        return any(row.retries for row in self.rows)

    @property
    def reconnected(self) -> bool:
        return any(row.reconnects for row in self.rows)

    @property
    def checked(self) -> tuple[TrialRow, ...]:
        return tuple(row for row in self.rows if row.checks)

    @property
    def broken(self) -> tuple[TrialRow, ...]:
        """Those with a check that does not hold."""
        return tuple(row for row in self.rows if row.broken)

    @property
    def with_warnings(self) -> tuple[TrialRow, ...]:
        """Valid or not, those with a warning."""
        return tuple(row for row in self.rows if row.warnings)

    @property
    def warnings(self) -> tuple[SharedWarning, ...]:
        """Each once, those of most trials first."""
        seen: dict[tuple[str, str], tuple[dict[str, TrialRow], set[str]]] = {}
        for row in self.rows:
            for one in row.warnings:
                rows, places = seen.setdefault((one.check, one.message), ({}, set()))
                rows[row.label] = row
                places.add(one.where)
        shared = [
            SharedWarning(check, message, _where(places), tuple(rows.values()))
            for (check, message), (rows, places) in seen.items()
        ]
        return tuple(sorted(shared, key=lambda one: -len(one.rows)))

    @property
    def invalid(self) -> tuple[TrialRow, ...]:
        """Those that were measured and must not count."""
        return tuple(row for row in self.rows if not row.valid and row.measured)


def trial_table(evidence: Evidence, strange: Sequence[Flagged] = ()) -> TrialTable:
    outlying = {one.key: one.remark for one in strange}
    names = tuple(name for name in COUNTERS if any(name in trial.counters for trial in evidence.trials))
    settings = {setting.point_id: setting for setting in (*evidence.settings, *evidence.controls)}
    programs = places(evidence.trials) if evidence.by_program else ()

    def speed(trial: TrialRecord) -> float | None:
        return total_time(trial, programs) if programs else overall_rate(trial)

    of_setting: dict[tuple[str, str | None], list[float | None]] = {}
    for trial in evidence.valid:
        of_setting.setdefault((trial.point_id, trial.host), []).append(speed(trial))
    usual = {own: _median(speeds) for own, speeds in of_setting.items()}
    rows = []
    for trial in evidence.trials:
        measured, own = speed(trial), usual.get((trial.point_id, trial.host))
        rows.append(
            TrialRow(
                order=trial.index + 1,
                label=trial_label(trial),
                block=trial.block,
                host=trial.host,
                setting=settings[trial.point_id],
                queries_per_second=overall_rate(trial),
                total_seconds=total_time(trial, programs),
                against_its_own=measured / own if measured is not None and own else None,
                errors=sum(sum(phase.errors.values()) for phase in trial.phases),
                retries=_sum(phase.retries for phase in trial.phases),
                reconnects=_sum(phase.reconnects for phase in trial.phases),
                counters=tuple(trial.counters.get(name) for name in names),
                seconds=trial.seconds,
                reasons=_reasons(trial, evidence.words),
                warnings=_at((*trial.remarks, *_own(outlying, trial)), trial, evidence.words),
                checks=trial.checks,
            )
        )
    return TrialTable(tuple(rows), names, evidence.by_program, evidence.words)


def _own(outlying: Mapping[tuple[str, int], Remark], trial: TrialRecord) -> tuple[Remark, ...]:
    outlier = outlying.get((trial.trial_id, trial.attempt))
    return () if outlier is None else (outlier,)


def trial_label(trial: TrialRecord) -> str:
    return trial.trial_id if trial.attempt == 1 else f"{trial.trial_id}, attempt {trial.attempt}"


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _reasons(trial: TrialRecord, words: Words) -> tuple[Reason, ...]:
    if trial.status == "valid":
        return ()
    reasons: tuple[Invalidity, ...] = trial.invalidities or (
        Invalidity(check="unknown", message="marked invalid, but no reason was recorded"),
    )
    return _at(reasons, trial, words)


def _at(found: Sequence[Invalidity | Remark], trial: TrialRecord, words: Words) -> tuple[Reason, ...]:
    return tuple(Reason(each.check, each.message, words.of_phase(trial, each.phase)) for each in found)


def _where(places: Set[str]) -> str:
    return next(iter(places)) if len(places) == 1 else f" in {len(places)} phases"
