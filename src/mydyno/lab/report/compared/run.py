"""Several runs as one that the report can be made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mydyno.lab.analysis.merged import Merged, merge
from mydyno.lab.report.compared.chosen import Chosen
from mydyno.lab.results.records import LOAD_AVERAGE, Environment, ExperimentRecord, TrialRecord
from mydyno.lab.results.run import Run

if TYPE_CHECKING:
    import polars as pl

Value = str | int | float | None


class MergedRun:
    """A `report.evidence.Run`: its first factor has a level for each of what was chosen."""

    def __init__(self, chosen: Sequence[Chosen]) -> None:
        self.chosen = tuple(chosen)
        self.merged: Merged = merge([one.part for one in chosen])
        self.experiment: ExperimentRecord = self.merged.experiment
        self._runs = {one.part.name: one.run for one in chosen}
        self._facts = {name: run.environment() for name, run in self._runs.items()}

    @property
    def folder(self) -> None:
        """It is in no lab."""

    def trials(self) -> Sequence[TrialRecord]:
        return self.merged.trials

    def environment(self) -> Environment:
        """What is the same in all of them."""
        names = {name for facts in self._facts.values() for name in facts}
        changed = self.environment_changes()
        first = next(iter(self._facts.values()))
        return {name: first.get(name) for name in sorted(names) if name not in changed}

    def environment_changes(self) -> Mapping[str, tuple[Value, ...]]:
        """Facts that are not -> their value in each run, in the runs' order."""
        names = sorted({name for facts in self._facts.values() for name in facts})
        values = {name: tuple(facts.get(name) for facts in self._facts.values()) for name in names}
        return {name: seen for name, seen in values.items() if len(set(seen)) > 1 and name != LOAD_AVERAGE}

    def samples(
        self, trial_id: str, attempt: int | None = None, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        run, own = self._own(trial_id)
        return run.samples(own, attempt, columns)

    def intervals(
        self, trial_id: str, attempt: int | None = None, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        run, own = self._own(trial_id)
        return run.intervals(own, attempt, columns)

    def histograms(self, trial_id: str, attempt: int | None = None) -> Mapping[str, Mapping[str, str]]:
        run, own = self._own(trial_id)
        return run.histograms(own, attempt)

    def look_at_series(self, trial_id: str, attempt: int | None = None) -> None:
        run, own = self._own(trial_id)
        run.look_at_series(own, attempt)

    def _own(self, trial_id: str) -> tuple[Run, str]:
        name, _, own = trial_id.rpartition(":")
        return self._runs[name], own
