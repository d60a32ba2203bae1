"""All views of a run together: what every form of the report is written from."""

from __future__ import annotations

from dataclasses import dataclass

from mydyno.analysis.metrics import (
    CONNECT_MEAN,
    CONNECT_P95,
)
from mydyno.analysis.words import Words
from mydyno.report.evidence import Evidence
from mydyno.report.views.claims import ClaimView, claims_view
from mydyno.report.views.comparison import ComparisonTable, comparison
from mydyno.report.views.curves import Curves, curves
from mydyno.report.views.effects import EffectsView, effects_view
from mydyno.report.views.environment import FactGroup, environment_view
from mydyno.report.views.ground import GroundView, ground_view
from mydyno.report.views.key_numbers import KeyNumber, key_numbers
from mydyno.report.views.levels import Levels, levels
from mydyno.report.views.method import Method, method
from mydyno.report.views.operations import Operations, operations
from mydyno.report.views.overview import Overview, overview
from mydyno.report.views.programs import Programs, programs
from mydyno.report.views.settings import SettingsView, settings_view
from mydyno.report.views.tails import latencies
from mydyno.report.views.trials import TrialTable, trial_table
from mydyno.report.views.verdicts import Verdicts, verdicts
from mydyno.results.records import ExperimentRecord


@dataclass(frozen=True)
class Page:
    experiment: ExperimentRecord
    words: Words
    verdicts: Verdicts
    comparison: ComparisonTable
    """Without a row where nothing varies."""
    effects: EffectsView
    claims: tuple[ClaimView, ...]
    """What the source of imported numbers concluded; mostly none."""
    key_numbers: tuple[KeyNumber, ...]
    """None where several factors vary: the comparison stands in their place."""
    method: Method
    overview: Overview
    programs: Programs
    """Without a row unless test programs were run; the curves are empty then."""
    operations: Operations
    throughput: Curves
    latency: tuple[Curves, ...]
    throughput_levels: Levels
    """In the curves' place where there is one place only, or a crowd of settings; else without a group."""
    latency_levels: tuple[Levels, ...]
    connect: tuple[Curves, ...]
    ground: GroundView
    trials: TrialTable
    settings: SettingsView
    environment: tuple[FactGroup, ...]

    @property
    def figure_with_verdicts(self) -> str:
        """The figure below which the verdicts in other metrics stand."""
        return "throughput" if self.throughput_levels.instead_of_ratios else "ratio"


def page(evidence: Evidence) -> Page:
    found = verdicts(evidence)
    # Before the method, which tells what was found lost when it was read.
    over_time = overview(evidence)
    return Page(
        experiment=evidence.experiment,
        words=evidence.words,
        verdicts=found,
        comparison=comparison(evidence, found),
        effects=effects_view(evidence),
        claims=claims_view(evidence),
        key_numbers=() if evidence.crossed else key_numbers(evidence),
        method=method(evidence),
        overview=over_time,
        programs=programs(evidence),
        operations=operations(evidence),
        throughput=curves(evidence, evidence.words.rate),
        latency=tuple(curves(evidence, metric) for metric in latencies(evidence)),
        throughput_levels=levels(evidence, evidence.words.rate),
        latency_levels=tuple(levels(evidence, metric) for metric in latencies(evidence)),
        connect=(curves(evidence, CONNECT_MEAN), curves(evidence, CONNECT_P95)),
        ground=ground_view(evidence),
        trials=trial_table(evidence),
        settings=settings_view(evidence),
        environment=environment_view(evidence),
    )
