"""A comparison of runs: its verdicts, what else differs between the runs, and the gate; and
several runs as one that the report can be made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mydyno.core.factors import last_part
from mydyno.core.percent import percent
from mydyno.lab.analysis.grid import Grid, GridRow
from mydyno.lab.analysis.merged import Merged, merge
from mydyno.lab.analysis.verdict import Gated, State, Verdict, gate, state_of
from mydyno.lab.report.compared.chosen import Chosen
from mydyno.lab.report.evidence import Evidence, gather
from mydyno.lab.report.report_options import ReportOptions
from mydyno.lab.report.views.comparison import ComparisonTable, comparison
from mydyno.lab.report.views.costs import Costs, costs
from mydyno.lab.report.views.differences import incomparable
from mydyno.lab.report.views.settings import settings_view
from mydyno.lab.report.views.verdicts import Verdicts, compared_rows, verdicts
from mydyno.lab.results.records import LOAD_AVERAGE, OF_HOST, Environment, ExperimentRecord, TrialRecord
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
        self._facts = {name: as_one_machine(run.environment()) for name, run in self._runs.items()}

    @property
    def folder(self) -> None:
        """It is in no lab."""

    def trials(self) -> Sequence[TrialRecord]:
        return self.merged.trials

    def control_trials(self) -> Sequence[TrialRecord]:
        """Those of each run are in its report."""
        return ()

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
        return {
            name: seen
            for name, seen in values.items()
            if len(set(seen)) > 1 and not name.endswith(LOAD_AVERAGE)
        }

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


def as_one_machine(facts: Environment) -> Environment:
    """Facts of several hosts under the names of one machine's, each value once: hosts of two runs need not
    have the same names."""
    merged = {name: value for name, value in facts.items() if not name.startswith(OF_HOST)}
    of_hosts: dict[str, dict[Value, None]] = {}
    for name, value in facts.items():
        if name.startswith(OF_HOST):
            _, *fact = name.removeprefix(OF_HOST).rsplit(".", 2)
            of_hosts.setdefault(".".join(fact), {})[value] = None
    for name, seen in of_hosts.items():
        values = list(dict.fromkeys([*([merged[name]] if name in merged else []), *seen]))
        merged[name] = values[0] if len(values) == 1 else " or ".join(str(value) for value in values)
    return merged


OPTIONS = ReportOptions(one_family=True)
"""Headline, table and gate have the same verdicts, corrected for all comparisons together."""


@dataclass(frozen=True)
class Difference:
    """A fact or a setting that is not the same in all of the runs."""

    name: str
    values: tuple[str | None, ...]
    """One for each run; None where it is not known."""


@dataclass(frozen=True)
class Compared:
    evidence: Evidence
    names: tuple[str, ...]
    """Of the runs; the first is the baseline of the others."""
    verdicts: Verdicts
    table: ComparisonTable
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    incomparable: tuple[str, ...]
    """What makes the servers incomparable, one sentence each."""
    costs: Costs
    gated: tuple[Gated, ...]
    """Each comparison over all of its places; corrected for all of them together (Holm)."""
    allowed: float
    """The loss that is too much."""

    @property
    def state(self) -> State:
        return state_of(self.gated)


def compared(run: MergedRun, allowed: float) -> Compared:
    """Compare the runs; a relative loss of `allowed` is too much."""
    evidence = gather(run, OPTIONS)
    all_verdicts = verdicts(evidence)
    table = comparison(evidence, all_verdicts)
    gated = gate(_named(evidence), allowed)
    return Compared(
        evidence=evidence,
        names=tuple(one.part.name for one in run.chosen),
        verdicts=all_verdicts,
        table=table,
        incomparable=incomparable(evidence, next(iter(run.experiment.factors))),
        costs=costs(evidence, all_verdicts, table),
        differences=_differences(run, evidence),
        notes=(*run.merged.notes, *_unlike(gated)),
        gated=gated,
        allowed=allowed,
    )


def _unlike(gated: Sequence[Gated]) -> Iterable[str]:
    """A sentence for each reason why there is no ratio."""
    reasons = {one.verdict.ratio.unlike: one.verdict.sentence for one in reversed(gated)}
    return (sentence for reason, sentence in reasons.items() if reason is not None)


def _named(evidence: Evidence) -> list[tuple[str, Verdict]]:
    """Every comparison over all of its places, with a name that no other has."""
    grid = evidence.grid
    if grid is None:
        return []
    return [
        (_name(grid, row, column), one.overall)
        for row, found in zip(grid.rows, compared_rows(evidence), strict=True)
        for column, one in found.items()
    ]


def _name(grid: Grid, row: GridRow, column: int) -> str:
    """`thread_cache_size = 8`, with the run where there are more than two: `thread_cache_size = 8 · run-3`"""
    named = ", ".join(
        f"{last_part(factor)} = {level}" for factor, level in zip(grid.others, row.levels, strict=True)
    )
    level = grid.columns[column] if len(grid.columns) > 2 or not row.levels else ""
    return " · ".join(part for part in (named, level) if part)


def _differences(run: MergedRun, evidence: Evidence) -> tuple[Difference, ...]:
    """First what the machine and its software are, then the settings that were in force."""
    facts = [
        Difference(name, tuple(None if value is None else str(value) for value in values))
        for name, values in run.environment_changes().items()
    ]
    versions = tuple(
        ", ".join(sorted({trial.server_version for trial in one.part.trials if trial.server_version})) or None
        for one in run.chosen
    )
    if len(set(versions)) > 1:
        facts.insert(0, Difference("server.version", versions))
    return (*facts, *_settings(run, evidence))


def _settings(run: MergedRun, evidence: Evidence) -> list[Difference]:
    """Those in force that are not the same in all parts, and are not what is compared."""
    part_of = {point.point_id: next(iter(point.levels.values())) for point in run.experiment.points}
    chosen = {last_part(factor) for one in run.chosen for factor in one.part.only}
    names = [one.part.name for one in run.chosen]
    differing = []
    for row in settings_view(evidence).rows:
        seen: dict[str, dict[str, None]] = {}
        for setting, value in zip(evidence.settings, row.values, strict=True):
            if value.in_force is not None:
                seen.setdefault(part_of[setting.point_id], {})[value.in_force] = None
        values = tuple(", ".join(seen[name]) if name in seen else None for name in names)
        if len(set(values)) > 1 and row.name not in chosen:
            differing.append(Difference(row.name, values))
    return differing


def gate_text(one: Gated) -> str:
    """What the gate says of one comparison: its state, what was measured, and the verdict behind it."""
    name = f"{one.name}: " if one.name else ""
    allowed = f"{one.allowed * 100:g}%"
    state = {
        "failed": f"slower by {allowed} or more",
        "passed": f"a loss of {allowed} is ruled out",
        "unsure": f"a loss of {allowed} cannot be ruled out",
    }[one.state]
    return f"{name}{state}{_measured(one)}: {one.verdict.sentence}"


def _measured(one: Gated) -> str:
    """`, measured 28.0% slower`; a gate that lets a loss pass must say so."""
    if one.loss is None:
        return ", nothing was measured"
    return f", measured {percent(abs(one.loss))}% {'slower' if one.loss > 0 else 'faster'}"
