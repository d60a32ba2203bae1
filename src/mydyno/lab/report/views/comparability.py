"""What makes the settings of a run incomparable, from the variables in force: a reader must see it first."""

from __future__ import annotations

import re

from mydyno.lab.analysis.comparability import Effective, unequal
from mydyno.lab.report.evidence import Evidence
from mydyno.lab.results.records import TrialRecord
from mydyno.page.format import printable

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
    lead = "Not set by any factor and not the same" if across is None else "Not the same in what is compared"
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
        asked=trial.settings_asked.keys(),
    )


def _written(trial: TrialRecord) -> dict[str, str]:
    """The settings as the experiment has them, before they were translated for the release."""
    made = {name for each in trial.translations for name in each.became}
    return {name: value for name, value in trial.settings_asked.items() if name not in made} | {
        each.name: each.value for each in trial.translations
    }
