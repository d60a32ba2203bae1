"""The figures of a report: which there are, what each is called, and how each is drawn at any width."""

from collections.abc import Sequence

from mydyno.lab.report.charts.comparison import comparison_chart, drawn_rows
from mydyno.lab.report.charts.curves import curves_chart
from mydyno.lab.report.charts.effects import effects_chart
from mydyno.lab.report.charts.heat_map import STEPS, heat_map_chart, small_maps_chart
from mydyno.lab.report.charts.levels import levels_chart
from mydyno.lab.report.charts.overview import overview_chart
from mydyno.lab.report.charts.programs import programs_chart
from mydyno.lab.report.charts.ratios import ratios_chart
from mydyno.lab.report.charts.self_checks import self_checks_chart
from mydyno.lab.report.comparison_tables import self_checks_table
from mydyno.lab.report.effects_tables import effects_caption, optima_table
from mydyno.lab.report.evidence import SIGNS
from mydyno.lab.report.tables import (
    curves_table,
    levels_table,
    operation_totals_table,
    operations_table,
    programs_table,
)
from mydyno.lab.report.views.curves import Levels, Panel
from mydyno.lab.report.views.page import Page
from mydyno.page.drawing import Figure
from mydyno.page.format import capitalised
from mydyno.page.table import Table

GROUND = "self-check"
"""The figure of the section on the environment."""
EFFECTS = "effects"
"""The figure next to the table of effects, before all others."""

Tables = tuple[tuple[str, Table], ...]
"""Each with its title."""

_EDGE = " Bars that extend below a logarithmic axis are cut at its edge."


def figures(page: Page) -> tuple[Figure, ...]:
    """Those for which there is something to draw, in reading order."""
    drawn = [
        _overview(page),
        _heat_map(page),
        _small_maps(page),
        _comparison(page),
        _programs(page),
        _throughput(page),
        None if page.throughput_levels.instead_of_ratios or page.comparison.crossed else _ratios(page),
        _latency(page),
        _connect(page),
        _effects(page),
        _self_checks(page),
    ]
    if page.throughput_levels.instead_of_ratios or page.comparison.crossed:
        # Nothing changes from phase to phase, or there are loads of several kinds: time comes last.
        drawn = [*drawn[1:], drawn[0]]
    return tuple(figure for figure in drawn if figure is not None)


def _overview(page: Page) -> Figure | None:
    view = page.overview
    if view.empty:
        return None
    left_out = f" {len(view.panels)} of {view.settings} settings are shown." if view.left_out else ""
    counters = list(dict.fromkeys(line.name for panel in view.panels for line in panel.counters))
    with_counters = f" with {' and '.join(counters)} (black, left axis)" if counters else ""
    name = f"the name of its {page.words.part}" if page.overview.named else f"its {page.words.load_noun}"
    left = f" Without colour, left axis: {' and '.join(counters)}." if counters else ""
    return Figure(
        name="overview",
        title="The run over time",
        caption=f"In colour, right axis: {page.words.rate_short}, one bold trial for each setting (that "
        f"nearest the median of its valid trials), the other valid trials faint behind it.{left} A pale band "
        f"is one phase, with {name} above. All panels share their scales.{left_out}",
        draw=lambda size: overview_chart(view, size),
        picture_title=page.verdicts.headline,
        picture_subtitle=(
            page.experiment.question or page.experiment.name,
            f"{capitalised(page.words.rate_short)} (colour, right axis){with_counters}.",
        ),
        zoom=True,
    )


def _comparison(page: Page) -> Figure | None:
    view = page.comparison
    if not view.crossed or page.shape == "heat map" or not drawn_rows(view):
        return None
    first = view.columns[0].level
    return Figure(
        name="speed",
        title=f"Against {first}",
        caption=f"Speed relative to {first} in the same row: the ratio of rates, or the inverse ratio of "
        "running times. Bars: 95% interval. Filled marks: the trials show a difference; hollow marks: they "
        "do not. The numbers are in the comparison table.",
        draw=lambda size: comparison_chart(view, size),
        picture_title=page.verdicts.headline,
        picture_subtitle=_subtitle(page),
    )


def _programs(page: Page) -> Figure | None:
    view = page.programs
    if view.empty or page.shape == "heat map":
        return None
    edge = _EDGE if view.spreads else ""
    return Figure(
        name="programs",
        title="Seconds per test program",
        caption="Running time of each test program and of all together: the mean over the valid trials; pale "
        f"dots are the trials. {_bars(view.has_intervals)}{edge} The total is over those trials in which "
        "every program was measured.",
        draw=lambda size: programs_chart(view, size),
        tables=(*_numbers(page, "Seconds per test program", programs_table(view)), *_operations(page)),
        picture_title="Seconds per test program",
        picture_subtitle=_subtitle(page),
        labelled=False,
    )


def _operations(page: Page) -> Tables:
    """Of runs of test programs; mydyno's own have both, imported RUN files the totals."""
    totals, own = page.operation_totals, page.operations
    return (
        *((("Totals per operation", operation_totals_table(totals)),) if totals.rows else ()),
        *((("Operations", operations_table(own)),) if own.rows else ()),
    )


def _heat_map(page: Page) -> Figure | None:
    maps, view = page.heat_maps, page.comparison
    if not maps:
        return None
    first = view.columns[0].level
    return Figure(
        name="heat-map",
        title=f"Against {first}, cell by cell",
        caption=f"Speed relative to {first} in the same row (ratio of geometric means), below it the mean "
        "and the number of valid trials. Blue: faster; orange: slower; stronger beyond "
        f"{STEPS[1]:g} and {STEPS[0]:g} times. Without colour: ≈ no difference, ? too few trials. "
        f"{'⚠: faster and less durable, or slower and more. ' if view.durability_differs else ''}"
        "Intervals are in the comparison table.",
        draw=lambda size: heat_map_chart(view, maps, size),
        tables=_operations(page),
        picture_title=page.verdicts.headline,
        picture_subtitle=_subtitle(page),
        colored=False,
    )


def _small_maps(page: Page) -> Figure | None:
    maps, view = page.heat_maps[1:], page.comparison
    if not maps:
        return None
    return Figure(
        name="heat-maps",
        title=f"Each {page.words.part} by itself",
        caption=f"As above, one map for each {page.words.part}; their verdicts are corrected for multiple "
        "comparisons (Holm).",
        draw=lambda size: small_maps_chart(view, maps, size),
        picture_title=f"Each {page.words.part} against {view.columns[0].level}",
        picture_subtitle=_subtitle(page),
        colored=False,
    )


def _throughput(page: Page) -> Figure | None:
    if not page.throughput_levels.empty:
        return _levels(page, "throughput", (page.throughput_levels,), "")
    view, drawn = page.throughput, page.throughput_panels
    if not drawn:
        return None
    law = (
        " Behind it, pale: the fitted Universal Scalability Law; a diamond on a bar is its optimum with the "
        "95% interval."
        if page.optima.fitted
        else ""
    )
    best = (("Where the optimum is", optima_table(page.optima)),) if page.optima.fitted else ()
    tables = (*_numbers(page, capitalised(page.words.rate_short), curves_table([view])), *best)
    panels = page.shape == "panels"
    shared = f" A line for each {page.comparison.name}; all panels share their axes." if panels else ""
    caption = f"Mean over the valid trials. {_bars(view.has_intervals)}{law}{shared}{_signs(page)}"
    title = capitalised(view.metric.noun)
    return _curves(page, "throughput", title, caption, drawn, tables, page.words.load)


def _signs(page: Page) -> str:
    """The legend of the signs after the names of settings that are less durable than others."""
    labels = {label for label in page.settings.durability if label is not None}
    if not page.settings.durability_differs:
        return ""
    legend = "; ".join(f"{sign.strip()} {label}" for label, sign in SIGNS.items() if sign and label in labels)
    return f" Less durable: {legend}." if legend else ""


def _ratios(page: Page) -> Figure | None:
    views = tuple(view for view in page.verdicts.ratios if not view.empty)
    if not views:
        return None
    pairing = (
        "Trials of the same block are compared with each other, which removes what a block has in common."
        if all(view.paired for view in views)
        else "Trials are compared as independent groups, since some blocks lack a valid trial of one side."
    )
    if page.trials.by_program:
        each, whole, single = "in each test program", "of their total", "on single test programs"
    else:
        each, whole, single = page.words.each_load, "over all of them", page.words.single_loads
    corrected = f"Verdicts {single} are corrected for multiple comparisons (Holm)."
    return Figure(
        name="ratio",
        title="The difference",
        caption=f"Ratio of {views[0].metric.noun} {each}, with its 95% interval; the "
        f"diamond is the ratio {whole}. Grey: a difference of less than "
        f"{views[0].margin * 100:g}%, the equivalence margin. {pairing} {corrected}",
        draw=lambda size: ratios_chart(views, size),
        picture_title=page.verdicts.headline,
        picture_subtitle=_subtitle(page),
    )


def _numbers(page: Page, title: str, table: Table) -> Tables:
    """A figure's numbers, unless they are in the comparison table."""
    return () if page.comparison.rows else ((title, table),)


def _levels(page: Page, name: str, views: tuple[Levels, ...], about: str) -> Figure:
    """Settings side by side, in the place of the curves of that name."""
    title = capitalised(views[0].metric.noun) if len(views) == 1 else "Latency"
    middle = "Geometric mean" if views[0].metric.unit == "ns" else "Mean"
    edge = _EDGE if any(view.spreads for view in views) else ""
    table, throughput = levels_table(views), name == "throughput"
    return Figure(
        name=name,
        title=title,
        caption=f"{about}{middle} over the valid trials, which are the small dots. "
        f"{_bars(views[0].has_intervals)}{edge}{_signs(page)}",
        draw=lambda size: levels_chart(views, size),
        tables=_numbers(page, title, table) if throughput else ((title, table),),
        picture_title=page.verdicts.headline if throughput else title,
        picture_subtitle=_subtitle(page),
    )


def _latency(page: Page) -> Figure | None:
    sides = tuple(view for view in page.latency_levels if not view.empty)
    if sides:
        return _levels(page, "latency", sides, f"{' '.join(page.method.load)} ")
    views = tuple(view for view in page.latency if not view.empty)
    drawn = page.latency_panels
    if not drawn:
        return None
    about = f"{' '.join(page.method.load)} Values are geometric means of the trials' percentiles."
    caption, tables = f"{about} {_bars(views[0].has_intervals)}{_EDGE}", (("Latency", curves_table(views)),)
    return _curves(page, "latency", "Latency", caption, drawn, tables, page.words.load)


def _connect(page: Page) -> Figure | None:
    drawn = page.connect_panels
    if not drawn:
        return None
    views = tuple(view for view in page.connect if not view.empty)
    title, about = (
        "Time to connect",
        "From opening a connection until it can be used, authentication included.",
    )
    caption, tables = f"{about} {_bars(views[0].has_intervals)}{_EDGE}", ((title, curves_table(views)),)
    return _curves(page, "connect", title, caption, drawn, tables, "connections")


def _curves(
    page: Page, name: str, title: str, caption: str, drawn: Sequence[Panel], tables: Tables, load: str
) -> Figure:
    return Figure(
        name=name,
        title=title,
        caption=caption,
        draw=lambda size: curves_chart(drawn, size),
        tables=tables,
        picture_title=f"{title} against {load}",
        picture_subtitle=_subtitle(page),
        labelled=page.shape == "panels",
        zoom=True,
    )


def _effects(page: Page) -> Figure | None:
    view = page.effects
    if len(view.of.found) < 2:
        # The sentence says it all.
        return None
    pale = " Pale: not distinguished from noise." if view.tested else ""
    lines = (
        ""
        if view.of.interaction is None
        else " Lines: the largest two-factor interaction, as means over trials; parallel lines mean no "
        "interaction. Their bars are 95% intervals of each mean's difference from the others."
    )
    return Figure(
        name=EFFECTS,
        title="What each factor explains",
        caption=f"{effects_caption(view)}{pale}{lines}",
        draw=lambda size: effects_chart(view, size),
        picture_title=view.sentence or "",
        picture_subtitle=_subtitle(page),
    )


def _self_checks(page: Page) -> Figure | None:
    view = page.ground
    if not any(row.measured_iops for row in view.checks):
        return None
    tolerance = max((row.tolerance for row in view.checks if row.tolerance is not None), default=None)
    band = "" if tolerance is None else f" Grey: the tolerance of {tolerance * 100:g}%."
    return Figure(
        name=GROUND,
        title="The disks against theory",
        caption="I/Os per second that fio measured on each volume before the load; a dot is a trial. The "
        f"line is the rate expected from the disks' limits and the array.{band} Without a line there is no "
        "limit, or no expected rate.",
        draw=lambda size: self_checks_chart(view, size),
        tables=(("The disks against theory", self_checks_table(view)),),
        picture_title="The disks against theory",
        picture_subtitle=_subtitle(page),
    )


def _bars(has_intervals: bool) -> str:
    if has_intervals:
        return "Bars: 95% interval over trials (bootstrap)."
    return "No intervals: they need at least 3 valid trials of a setting."


def _subtitle(page: Page) -> tuple[str, ...]:
    return (f"{page.experiment.name}, {page.method.trials}",)
