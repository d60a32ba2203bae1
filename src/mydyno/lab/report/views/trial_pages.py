"""One page for each trial: what it was, whether it counts, its phases, and where the time went:
what its parts are called, and how each is calculated, in words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mydyno.lab.analysis.littles_law import Utilisation, utilisation
from mydyno.lab.analysis.observations import Place, place_of
from mydyno.lab.analysis.time_spent import READ, Key, TimeSpent, time_spent
from mydyno.lab.report.evidence import Evidence
from mydyno.lab.report.views.settings import SettingsView, Value, data_rows
from mydyno.lab.report.views.trial_series import SAMPLED, TrialSeries, points_for, trial_series
from mydyno.lab.report.views.trials import TrialRow, TrialTable
from mydyno.lab.results.records import PhaseRecord, TrialRecord
from mydyno.lab.sampling.series import stretches

LABEL: Mapping[Key, str] = {
    "all": "connections",
    "statements": "statements",
    "row-locks": "row locks",
    "commit": "COMMIT (log flush)",
    "cpu-user": "server CPU, user",
    "cpu-system": "server CPU, system",
    "between": "between client and server",
    "unknown": "not accounted for",
    "connecting": "connecting",
    "client": "client",
    "read": "reads",
    "write": "writes",
    "fsync": "fsyncs",
}
KEYS: tuple[Key, ...] = tuple(LABEL)
"""Their order is their number in the page's data."""

FORMULA: Mapping[Key, str] = {
    "all": "Connections times the seconds that were measured.",
    "statements": "Statements times their mean latency, timed by the client.",
    "row-locks": "Growth of Innodb_row_lock_time between two samples.",
    "commit": "An estimate: COMMIT statements times their mean latency, less the CPU time that a statement "
    "needs on average. Most of it is waiting for the log flush, which no server variable measures "
    "separately.",
    "cpu-user": "Growth of the server process's CPU time between two samples, background threads included.",
    "cpu-system": "Growth of the server process's CPU time between two samples, background threads included.",
    "between": "Client time minus server time (Query_time) of the statements: network, and waiting for a "
    "CPU on either side.",
    "unknown": "The rest: waiting for a CPU, for reads, and for what is not measured.",
    "connecting": "Connections that were opened times their mean time, timed by the client.",
    "client": "The rest, in which no statement was running: the client's own work and its pauses; includes "
    "failed statements.",
    "read": "Reads times their mean latency, timed by fio.",
    "write": "Writes times their mean latency, timed by fio.",
    "fsync": "fsyncs times their mean latency, timed by fio.",
}


_CLIENT = ("client.cpu_user_s", "client.cpu_system_s")
_STATUS = ("status.Uptime", "status.Connections", "status.Queries")
_COLUMNS = tuple(dict.fromkeys((*SAMPLED, *READ, *_CLIENT, *_STATUS)))


@dataclass(frozen=True)
class TrialPhase:
    record: PhaseRecord
    place: Place
    spent: TimeSpent | None
    """None when the phase measured nothing."""
    machine: Utilisation | None
    """None with fewer than two samples in the measured window."""


@dataclass(frozen=True)
class TrialPage:
    anchor: str
    """The id of its section."""
    row: TrialRow
    trial: TrialRecord
    planned: int
    imported: bool
    """It was measured elsewhere: when and by what seed is not known."""
    settings: tuple[tuple[str, Value], ...]
    """The variables that are not the same in all settings, as they were in this trial."""
    data: tuple[tuple[str, str], ...]
    """How its data was cloned and how warm it was."""
    phases: tuple[TrialPhase, ...]
    series: TrialSeries


def trial_anchor(trial_id: str, attempt: int) -> str:
    """`trial-t001`, `trial-t001.2` for its second attempt."""
    return f"trial-{trial_id}" if attempt == 1 else f"trial-{trial_id}.{attempt}"


def trial_pages(evidence: Evidence, table: TrialTable, settings: SettingsView) -> tuple[TrialPage, ...]:
    """One for each row of `table`. Reads the series of all trials."""
    differing = [row.name for row in settings.rows if row.differs]
    most = points_for(len(evidence.trials))
    return tuple(
        _page(evidence, trial, row, differing, most)
        for trial, row in zip(evidence.trials, table.rows, strict=True)
    )


def _page(
    evidence: Evidence, trial: TrialRecord, row: TrialRow, differing: Sequence[str], most: int
) -> TrialPage:
    samples = evidence.series_of(trial).samples(*_COLUMNS)
    windows = [
        (phase.measured_from_s or 0.0, phase.measured_to_s if phase.measured_to_s is not None else -1.0)
        for phase in trial.phases
    ]
    read = stretches(samples, windows)
    return TrialPage(
        anchor=trial_anchor(trial.trial_id, trial.attempt),
        row=row,
        trial=trial,
        planned=evidence.experiment.planned_trials,
        imported=evidence.experiment.imported,
        settings=tuple(
            (name, Value(trial.settings_in_force.get(name), trial.settings_asked.get(name)))
            for name in differing
            if name in trial.settings_in_force or name in trial.settings_asked
        ),
        data=tuple((name, values[0]) for name, values in data_rows([[trial]]) if values[0] is not None),
        phases=tuple(
            TrialPhase(
                phase,
                place_of(phase),
                time_spent(
                    phase,
                    within.growth if within else None,
                    within.seconds if within else None,
                    evidence.experiment.work,
                ),
                utilisation(within.growth, within.seconds) if within else None,
            )
            for phase, within in zip(trial.phases, read, strict=True)
        ),
        series=trial_series(evidence, trial, samples, most),
    )
