"""All views of a run together: what every form of the report is written from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mydyno.lab.analysis.control import Control, controls
from mydyno.lab.analysis.metrics import CONNECT_MEAN, CONNECT_P95
from mydyno.lab.analysis.words import Words
from mydyno.lab.report.evidence import COLORS, Evidence
from mydyno.lab.report.views.again import Again, again
from mydyno.lab.report.views.claims import ClaimView, claims_view
from mydyno.lab.report.views.comparison import ComparisonTable, HeatMap, comparison, heat_maps
from mydyno.lab.report.views.costs import Costs, costs
from mydyno.lab.report.views.curves import Curves, Panel, curves, latencies, panels
from mydyno.lab.report.views.differences import Difference, differences, incomparable
from mydyno.lab.report.views.effects import EffectsView, effects_view
from mydyno.lab.report.views.environment import FactGroup, environment_view
from mydyno.lab.report.views.failures import FailedPoint, failed_points
from mydyno.lab.report.views.ground import GroundView, ground_view
from mydyno.lab.report.views.key_numbers import KeyNumber, key_numbers
from mydyno.lab.report.views.levels import Levels, levels
from mydyno.lab.report.views.method import Method, method
from mydyno.lab.report.views.operations import Operations, OperationTotals, operation_totals, operations
from mydyno.lab.report.views.optima import Optima, optima
from mydyno.lab.report.views.outliers import flagged
from mydyno.lab.report.views.overview import Overview, overview
from mydyno.lab.report.views.procedure import Step, procedure
from mydyno.lab.report.views.programs import Programs, programs
from mydyno.lab.report.views.ranks import Ranks, answer, ranks
from mydyno.lab.report.views.settings import SettingsView, settings_view
from mydyno.lab.report.views.shape import Shape, shape
from mydyno.lab.report.views.transactions import Transactions, transactions
from mydyno.lab.report.views.trials import TrialTable, trial_table
from mydyno.lab.report.views.verdicts import Verdicts, verdicts
from mydyno.lab.results.records import ExperimentRecord


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
    spent = costs(evidence, judged, compared)
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
        costs=spent,
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
        failures=failed_points(evidence),
        trials=trial_table(evidence, strange),
        settings=settings_view(evidence),
        environment=environment_view(evidence),
        differences=differences(evidence),
        procedure=procedure(evidence, how, judged, explained, best),
        again=again(evidence),
    )
