"""All views of a run together: what every form of the report is written from.

Which picture an experiment gets is chosen by the shape of its factors and loads, in this one place:

| picture | when |
|---|---|
| curves | several loads, one factor of few levels: a line a setting |
| panels | several loads and factors: a line for each level of the first, a panel for each of the others |
| bars | one load, or named jobs, or more settings than colours |
| heat map | several factors with many levels, one load or test programs |
| programs | test programs, few settings |
"""

from dataclasses import dataclass, replace
from typing import Literal

from mydyno.lab.analysis.control import Control, controls
from mydyno.lab.analysis.metrics import CONNECT_MEAN, CONNECT_P95
from mydyno.lab.analysis.observations import places
from mydyno.lab.analysis.words import Words
from mydyno.lab.report.evidence import COLORS, Evidence
from mydyno.lab.report.views.comparison import ComparisonTable, HeatMap, comparison, heat_maps
from mydyno.lab.report.views.costs import Costs, costs
from mydyno.lab.report.views.curves import Curves, Levels, Panel, curves, latencies, levels, panels
from mydyno.lab.report.views.differences import Difference, differences, incomparable
from mydyno.lab.report.views.effects import EffectsView, effects_view
from mydyno.lab.report.views.environment import Again, FactGroup, again, environment_view
from mydyno.lab.report.views.ground import GroundView, ground_view
from mydyno.lab.report.views.hosts import HostsView, hosts_view
from mydyno.lab.report.views.key_numbers import KeyNumber, key_numbers
from mydyno.lab.report.views.method import Method, method
from mydyno.lab.report.views.operations import (
    Operations,
    OperationTotals,
    Programs,
    operation_totals,
    operations,
    programs,
)
from mydyno.lab.report.views.optima import Optima, optima
from mydyno.lab.report.views.outliers import FailedPoint, failed_points, flagged
from mydyno.lab.report.views.overview import Overview, overview
from mydyno.lab.report.views.procedure import Step, procedure
from mydyno.lab.report.views.ranks import ClaimView, Ranks, answer, claims_view, ranks
from mydyno.lab.report.views.settings import SettingsView, settings_view
from mydyno.lab.report.views.transactions import Transactions, transactions
from mydyno.lab.report.views.trials import TrialTable, trial_table
from mydyno.lab.report.views.verdicts import Verdicts, verdicts
from mydyno.lab.results.records import ExperimentRecord

Shape = Literal["curves", "panels", "bars", "heat map", "programs"]

MOST_PANELS = 24
"""Of more combinations a heat map shows each as one cell."""


def shape(evidence: Evidence) -> Shape:
    loads = [place for place in places(evidence.trials) if place not in evidence.programs]
    many = evidence.crossed and len(evidence.settings) > COLORS
    if not loads:
        if evidence.programs and not many:
            return "programs"
        return "heat map" if many else "bars"
    numbered = all(isinstance(place, int) for place in loads)
    if numbered and len(loads) > 1:
        if evidence.crossed and _curves_in_every_row(evidence):
            return "panels"
        if not evidence.crossed and len(evidence.settings) <= COLORS:
            return "curves"
    return "heat map" if many and len(loads) == 1 and not evidence.programs else "bars"


def _curves_in_every_row(evidence: Evidence) -> bool:
    """Where a load has one number of connections only, or is of test programs, there is no curve of it."""
    grid = evidence.grid
    if grid is None or len(grid.columns) > COLORS or len(grid.rows) > MOST_PANELS:
        return False
    for row in grid.rows:
        found = places(row.of(evidence.trials))
        if len(found) == 1 or any(isinstance(place, str) for place in found):
            return False
    return True


@dataclass(frozen=True)
class Page:
    experiment: ExperimentRecord
    words: Words
    verdicts: Verdicts
    incomparable: tuple[str, ...]
    """What differs between the settings and is not set by a factor, one sentence each."""
    comparison: ComparisonTable
    """Without a row where nothing varies."""
    costs: Costs
    ranks: Ranks
    effects: EffectsView
    claims: tuple[ClaimView, ...]
    """What the source of imported numbers concluded; mostly none."""
    controls: tuple[Control, ...]
    key_numbers: tuple[KeyNumber, ...]
    """None where several factors vary: then there is the comparison."""
    method: Method
    overview: Overview
    programs: Programs
    """Without a row unless test programs were run; the curves are empty then."""
    operations: Operations
    operation_totals: OperationTotals
    shape: Shape
    """Which picture stands for the whole."""
    optima: Optima
    throughput: Curves
    latency: tuple[Curves, ...]
    throughput_panels: tuple[Panel, ...]
    """The curves as they are drawn; none where another picture is."""
    latency_panels: tuple[Panel, ...]
    connect: tuple[Curves, ...]
    connect_panels: tuple[Panel, ...]
    throughput_levels: Levels
    """Bars in the curves' place; without a group where another picture is."""
    latency_levels: tuple[Levels, ...]
    transactions: Transactions
    heat_maps: tuple[HeatMap, ...]
    """The table of comparisons as a picture; none where another one is."""
    ground: GroundView
    hosts: HostsView
    failures: tuple[FailedPoint, ...]
    trials: TrialTable
    settings: SettingsView
    environment: tuple[FactGroup, ...]
    differences: tuple[Difference, ...]
    """Of the environment and the servers: during the run, between trials, from what was configured."""
    procedure: tuple[Step, ...]
    """How the run was made and judged."""
    again: Again

    @property
    def legend(self) -> tuple[tuple[str, int], ...]:
        """(name, slot) of whatever has a colour: settings, or where several factors vary the levels of the
        one that is compared."""
        if self.comparison.crossed:
            return tuple((column.level, column.slot) for column in self.comparison.columns)
        return tuple((setting.title, setting.slot) for setting in self.settings.settings)


def page(evidence: Evidence) -> Page:
    strange = flagged(evidence)
    judged = verdicts(evidence, strange)
    explained = effects_view(evidence, any(one.overall.shown for one in judged.ratios))
    if explained.headline is not None:
        judged = replace(judged, headline=explained.headline, sentences=())
    # Before the method, which reports the series that were lost when they were read.
    over_time = overview(evidence)
    form = shape(evidence)
    as_curves, few = form in ("curves", "panels"), len(evidence.settings) <= COLORS
    latency_bars = form == "bars" or (form == "heat map" and not evidence.programs)
    best = optima(evidence)
    throughput = curves(evidence, evidence.words.rate, best)
    latency = tuple(curves(evidence, metric) for metric in latencies(evidence))
    connect = (curves(evidence, CONNECT_MEAN), curves(evidence, CONNECT_P95))
    compared = comparison(evidence, judged)
    ordered = ranks(evidence, strange)
    if judged.untested and (order := answer(ordered)) is not None:
        judged = replace(judged, headline=order, sentences=())
    how = method(evidence)
    return Page(
        experiment=evidence.experiment,
        words=evidence.words,
        verdicts=judged,
        incomparable=incomparable(evidence),
        comparison=compared,
        costs=costs(evidence, judged, compared),
        ranks=ordered,
        effects=explained,
        claims=claims_view(evidence),
        controls=controls(evidence.trials, evidence.experiment.points, judged.metric, evidence.standard),
        key_numbers=key_numbers(evidence, best) if len(evidence.experiment.factors) < 2 else (),
        method=how,
        overview=over_time,
        programs=programs(evidence),
        operations=operations(evidence),
        operation_totals=operation_totals(evidence),
        shape=form,
        optima=best,
        throughput=throughput,
        latency=latency,
        throughput_panels=panels(evidence, [throughput]) if as_curves else (),
        latency_panels=panels(evidence, latency) if as_curves else (),
        connect=connect,
        connect_panels=panels(evidence, connect) if as_curves or few else (),
        throughput_levels=levels(evidence, evidence.words.rate, wanted=form == "bars"),
        latency_levels=tuple(levels(evidence, metric, wanted=latency_bars) for metric in latencies(evidence)),
        transactions=transactions(evidence),
        heat_maps=heat_maps(compared) if form == "heat map" else (),
        ground=ground_view(evidence),
        hosts=hosts_view(evidence),
        failures=failed_points(evidence),
        trials=trial_table(evidence, strange),
        settings=settings_view(evidence),
        environment=environment_view(evidence),
        differences=differences(evidence),
        procedure=procedure(evidence, how, judged, explained, best),
        again=again(evidence),
    )
