"""What changed during a run, or differs from what was configured: a reader must see it first."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from mydyno.core.secrets import masked
from mydyno.core.units import format_bytes
from mydyno.lab.analysis.comparability import Effective, unequal
from mydyno.lab.report.evidence import Evidence
from mydyno.lab.report.views.environment import fact_text
from mydyno.lab.report.views.settings import incidental
from mydyno.lab.report.views.trials import trial_label
from mydyno.lab.results.records import TrialRecord
from mydyno.page.format import printable

Kind = Literal["between starts", "within a setting", "between settings", "not as configured"]

_NOT_AS_ASKED = ("settings-in-force", "files-on-volumes")
"""The checks of a trial that compare what is there with what was configured."""
DATASET = "dataset"
"""It differs between settings wherever tables or releases do, which says nothing."""
_NAMED = 6
"""Trials that are named one by one."""


@dataclass(frozen=True)
class Difference:
    """`between starts`: a fact of the machine changed while the run went on. `within a setting`: trials of
    the same point had different ones, so they do not repeat each other. `between settings`: it differs with
    the settings, and may be what is compared. `not as configured`: a trial did not get
    what it should have."""

    name: str
    kind: Kind
    values: tuple[tuple[str, str], ...]
    """(whose or when, value)"""

    @property
    def alarming(self) -> bool:
        return self.kind != "between settings"


def differences(evidence: Evidence) -> tuple[Difference, ...]:
    """The alarming ones first."""
    rows = [
        *_not_as_configured(evidence),
        *_between_starts(evidence.environment_changes),
        *_between_trials(evidence),
    ]
    return tuple(sorted(rows, key=lambda each: not each.alarming))


def _not_as_configured(evidence: Evidence) -> Iterator[Difference]:
    trials: dict[str, list[str]] = {}
    for trial in evidence.trials:
        for reason in trial.invalidities:
            if reason.check in _NOT_AS_ASKED:
                trials.setdefault(masked(reason.message), []).append(trial_label(trial))
    for message, labels in trials.items():
        yield Difference(message, "not as configured", ((_listed(labels), "invalid"),))


def _between_starts(changes: Mapping[str, tuple[str | int | float | None, ...]]) -> Iterator[Difference]:
    for name, values in changes.items():
        by_start = tuple(
            (f"start {number}", fact_text(name, value)) for number, value in enumerate(values, 1)
        )
        yield Difference(name, "between starts", by_start)


def _between_trials(evidence: Evidence) -> Iterator[Difference]:
    for name, value_of in _OF_A_TRIAL.items():
        of_settings: dict[str, list[str]] = {}
        for setting in evidence.settings:
            by_trial = [(trial, value_of(trial)) for trial in evidence.trials_of(setting.point_id)]
            yield from _within(name, by_trial)
            for value in {value for _, value in by_trial if value is not None}:
                of_settings.setdefault(value, []).append(setting.short)
        if name != DATASET and len(of_settings) > 1:
            values = tuple((_settings(titles), value) for value, titles in of_settings.items())
            yield Difference(name, "between settings", values)
    for setting in evidence.settings:
        yield from _settings_within(evidence.trials_of(setting.point_id))


def _settings(titles: Sequence[str]) -> str:
    """Those of few, else their number."""
    return "; ".join(titles) if len(titles) <= 2 else f"{len(titles)} settings"


def _within(name: str, by_trial: Sequence[tuple[TrialRecord, str | None]]) -> Iterator[Difference]:
    """What trials of one point do not share; trials without a value are ignored."""
    labels: dict[str, list[str]] = {}
    for trial, value in by_trial:
        if value is not None:
            labels.setdefault(value, []).append(trial_label(trial))
    if len(labels) > 1:
        yield Difference(
            name, "within a setting", tuple((_listed(whose), value) for value, whose in labels.items())
        )


def _settings_within(trials: Sequence[TrialRecord]) -> Iterator[Difference]:
    """Variables in force that are not the same in all trials of a point; not what is new at each start."""
    read = [trial for trial in trials if trial.settings_in_force]
    if len(read) < 2:
        return
    first = read[0].settings_in_force
    same = first.items()
    names = {name for trial in read[1:] for name, _ in same ^ trial.settings_in_force.items()}
    for name in sorted(names):
        values = [trial.settings_in_force.get(name) for trial in read]
        if not incidental(name, values):
            yield from _within(name, list(zip(read, map(_shown, values), strict=True)))


def _shown(value: str | None) -> str | None:
    return None if value is None else masked(value) or "(empty)"


def _memory(trial: TrialRecord) -> str | None:
    size = trial.ground.memory_bytes if trial.ground else None
    return None if size is None else format_bytes(size)


_OF_A_TRIAL: Mapping[str, Callable[[TrialRecord], str | None]] = {
    "server version": lambda trial: trial.server_version,
    "durability": lambda trial: trial.durability,
    "environment": lambda trial: trial.ground.kind if trial.ground else None,
    "environment's kernel": lambda trial: trial.ground.kernel if trial.ground else None,
    "environment's CPUs": lambda trial: str(trial.ground.cpus) if trial.ground else None,
    "environment's memory": _memory,
    DATASET: lambda trial: trial.data.dataset if trial.data else None,
}


def _listed(labels: Sequence[str]) -> str:
    """`t001, t004`, or `t001, t002 and 9 more`."""
    if len(labels) <= _NAMED:
        return ", ".join(labels)
    return f"{', '.join(labels[:2])} and {len(labels) - 2} more"


_NUMBERS = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


def incomparable(evidence: Evidence, across: str | None = None) -> tuple[str, ...]:
    """A sentence for each property that differs between settings and that no factor sets; `across` as in
    `comparability.unequal`."""
    levels = {point.point_id: point.levels for point in evidence.experiment.points}
    servers = [
        (levels[setting.point_id], server)
        for setting in evidence.settings
        if (server := _effective(evidence, setting.point_id)) is not None
    ]
    lead = "Different, but not set by a factor" if across is None else "Different between the compared sides"
    return tuple(f"{lead}: {printable(str(each))}." for each in unequal(servers, across=across))


def _effective(evidence: Evidence, point_id: str) -> Effective | None:
    """Of the first trial whose server was read, a valid one if there is any."""
    trials = sorted(evidence.trials_of(point_id), key=lambda trial: trial.status != "valid")
    trial = next((trial for trial in trials if trial.settings_in_force), None)
    if trial is None:
        return None
    version = trial.settings_in_force.get("version") or trial.server_version or ""
    numbers = _NUMBERS.search(version)
    return Effective(
        variables=trial.settings_in_force,
        mariadb="mariadb" in version.casefold(),
        numbers=tuple(int(part or 0) for part in numbers.groups()) if numbers else (),
        written=_written(trial),
        configured=trial.settings_asked.keys(),
    )


def _written(trial: TrialRecord) -> dict[str, str]:
    """The settings as the experiment has them, before they were translated for the release."""
    made = {name for each in trial.translations for name in each.became}
    return {name: value for name, value in trial.settings_asked.items() if name not in made} | {
        each.name: each.value for each in trial.translations
    }
