"""A metric against the load: a line a setting, 95% intervals as bars, trials as dots if they are few, and
the fitted law of scalability behind them.

The fitted law of scalability behind a panel's curves: faint lines, and above them the optimum of each with
its 95% interval as a labelled bar, joined to the curve's peak by a dashed line.
"""

from collections.abc import Iterator, Sequence

import altair as alt

from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.scalability import Scalability
from mydyno.lab.report.charts.curve_axes import LoadAxis, ValueAxis
from mydyno.lab.report.quantities import bracketed, writer
from mydyno.lab.report.views.curves import Curve, CurvePoint, Curves, Panel
from mydyno.lab.report.views.optima import load_interval
from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, Layered, data, layered, side_by_side
from mydyno.page.charts.labels import room_for, spread
from mydyno.page.charts.marks import COLOR, intervals, texts
from mydyno.page.charts.marks import points as marked_points
from mydyno.page.charts.theme import Size
from mydyno.page.format import capitalised, count, shorten

LANE = 15
"""Pixels that the bar of one optimum takes, at the top of a panel."""
_STEPS = 48
_CHARACTER_PX = 6.2


def knees(view: Curves) -> Iterator[tuple[Curve, Scalability]]:
    """The curves whose optimum is found."""
    for curve in view.curves:
        if curve.law is not None and curve.law.outcome == "optimum":
            yield curve, curve.law


def knee_layers(view: Curves, x: LoadAxis, y: ValueAxis, *, named: bool) -> Iterator[alt.Chart]:
    lines = [row for curve in view.curves for row in _line(curve, x, y)]
    if lines:
        yield (
            alt.Chart(data(lines))
            .mark_line(strokeWidth=2, opacity=theme.FAINT)
            .encode(x.encoding(), y.encoding(named=named), COLOR, alt.Detail("setting:N"))
        )
    rows = [_knee(curve, law, x, y, lane) for lane, (curve, law) in enumerate(knees(view))]
    if not rows:
        return
    base = alt.Chart(data(rows))
    along, up = x.encoding(), y.encoding("middle", named=named)
    across, tall = (x.encoding("low"), alt.X2("high:Q")), (y.encoding("top", named=named), alt.Y2("bottom:Q"))
    yield base.mark_rect(opacity=theme.FAINT).encode(*across, *tall, COLOR)
    yield base.mark_rule(strokeDash=[2, 4], strokeWidth=1).encode(along, up, alt.Y2("peak:Q"), COLOR)
    yield base.mark_point(shape="diamond", filled=True, size=46, opacity=1, aria=True).encode(
        along, up, COLOR, alt.Description("text:N")
    )
    for align, dx in (("left", 6), ("right", -6)):
        if there := [row for row in rows if row["align"] == align]:
            at = (x.encoding("label_x"), up, COLOR)
            yield texts(there, *at, field="label", align=align, dx=dx, fontSize=11, fontWeight="bold")


def _line(curve: Curve, x: LoadAxis, y: ValueAxis) -> Iterator[dict[str, object]]:
    law = curve.law
    if law is None or law.outcome == "misfit":
        return
    for load in x.between(law.loads[0], law.loads[-1], _STEPS):
        yield {
            "connections": load,
            "value": y.value(law.law.at(load)),
            "color": theme.color(curve.setting.slot),
            "setting": curve.setting.point_id,
        }


def _knee(curve: Curve, found: Scalability, x: LoadAxis, y: ValueAxis, lane: int) -> dict[str, object]:
    at = found.optimum
    low, high = x.inside(found.low or at), x.inside(found.high or at)
    label = f"{count(at)}{load_interval(found).replace('95% CI ', '')}"
    # The name goes right of the bar, or left of it where it would leave the panel.
    left = x.share(high) * x.width + len(label) * _CHARACTER_PX + 10 < x.width
    return {
        "connections": at,
        "low": low,
        "high": high,
        "top": y.at_pixel(lane * LANE + 3),
        "middle": y.at_pixel(lane * LANE + LANE / 2 + 1),
        "bottom": y.at_pixel((lane + 1) * LANE - 1),
        "peak": y.value(found.law.at(at)),
        "label_x": high if left else low,
        "align": "left" if left else "right",
        "label": label,
        "color": theme.color(curve.setting.slot),
        "text": f"{curve.setting.title}: optimum at {count(at)}{load_interval(found)} by the fitted law",
    }


_LEFT_AXIS = 66
_GAP = 20
_BOLD_PX = 7.6
"""About the width of a character of a panel's title."""
_DASHES = {"": [1, 0], " †": [7, 3], " ‡": [4, 3], " §": [2, 3]}
"""Sign of durability -> dashes of its line."""

Row = dict[str, object]


def curves_chart(panels: Sequence[Panel], size: Size) -> Chart:
    """All panels with one unit and one scale, next to each other where they fit; a row's last panel names
    the lines."""
    columns = _columns(panels, size)
    several = max(len(panel.curves.curves) for panel in panels) > 1
    names = list(
        dict.fromkeys(curve.name for panel in panels for curve in panel.curves.curves if curve.points)
    )
    most = 200 if columns == 1 else 150
    room, characters = room_for(names, most) if several and not size.narrow else (10, 0)
    width = (size.width - room - _LEFT_AXIS - _GAP * (columns - 1)) // columns
    lanes = max(len(list(knees(panel.curves))) for panel in panels)
    usual = 200 if size.narrow else 320 if columns == len(panels) else 220
    y = ValueAxis([panel.curves for panel in panels], usual + LANE * lanes, lanes * LANE)
    x = LoadAxis([panel.curves for panel in panels], width)
    drawn = []
    for place, panel in enumerate(panels):
        last = place % columns == columns - 1 or place == len(panels) - 1
        drawn.append(_panel(panel, x, y, characters if last else 0, named=place % columns == 0))
    return side_by_side(drawn, columns, {"row": 26, "column": _GAP})


def _columns(panels: Sequence[Panel], size: Size) -> int:
    """A column for each metric; of one metric as few empty places in the last row as can be."""
    if size.narrow or len(panels) == 1:
        return 1
    metrics = {panel.curves.metric.name for panel in panels}
    return len(metrics) if len(metrics) > 1 else 2 if len(panels) in (2, 4) else 3


def _panel(panel: Panel, x: LoadAxis, y: ValueAxis, characters: int, *, named: bool) -> Layered:
    curves = [curve for curve in panel.curves.curves if curve.points]
    layers = [*knee_layers(panel.curves, x, y, named=named), *_marks(curves, panel.curves, x, y, named=named)]
    if characters:
        ends = [(curve.name, curve.setting.slot, y.pixel(curve.points[-1].value)) for curve in curves]
        layers += end_labels(ends, y, characters=characters, named=named)
    return layered(*layers, width=x.width, height=y.height, **_title(panel, x.width))


def _title(panel: Panel, width: int) -> dict[str, alt.TitleParams]:
    """Never wider than its panel, which it would widen."""
    if not panel.title:
        return {}
    most = max(10, int(width / _BOLD_PX))
    text = shorten(panel.title if panel.own_names else capitalised(panel.title), most)
    return {"title": alt.TitleParams(text, offset=8, subtitle=shorten(panel.subtitle, most))}


def _marks(
    curves: Sequence[Curve], view: Curves, x: LoadAxis, y: ValueAxis, *, named: bool
) -> Iterator[alt.Chart]:
    """Each kind of mark of all curves in one layer: a chart of few layers is drawn quickly."""
    detail = alt.Detail("setting:N")
    points: list[Row] = []
    trials: list[Row] = []
    for place, curve in enumerate(curves):
        look = {
            "color": theme.color(curve.setting.slot),
            "shape": theme.shape(curve.setting.slot),
            "setting": curve.setting.point_id,
            "sign": curve.setting.sign,
        }
        for point in curve.points:
            at = x.dodged(point.connections, place, len(curves))
            points.append({**look, **_row(curve, point, view, y), "connections": at})
            # Where there are too few trials for an interval, the trials themselves show the spread.
            if point.low is None and point.n > 1:
                trials += [{**look, "connections": at, "value": y.value(value)} for value in point.trials]
    along, up = x.encoding(), y.encoding(named=named)
    if trials:
        yield alt.Chart(data(trials)).mark_circle(size=22, opacity=0.45).encode(along, up, COLOR)
    for sign, dash in _DASHES.items():
        if rows := [row for row in points if row["sign"] == sign]:
            line = alt.Chart(data(rows)).mark_line(strokeWidth=2, strokeDash=dash)
            yield line.encode(along, up, COLOR, detail)
    if any(row["low"] is not None for row in points):
        yield intervals(points, y.encoding("low", named=named), along, COLOR, opacity=0.75)
    yield marked_points(points, along, up, COLOR, alt.Shape("shape:N", scale=None, legend=None), size=52)


def point_text(metric: Metric, point: CurvePoint) -> str:
    """`42,500 (41,800 to 43,400), n=4`, with the unit of a latency."""
    write = writer(metric)
    error = bracketed(point.low, point.high, write)
    return f"{write(point.value)}{error}, n={point.n}"


def _row(curve: Curve, point: CurvePoint, view: Curves, y: ValueAxis) -> Row:
    return {
        "text": f"{curve.setting.title}, {view.words.amount(point.connections)}: "
        f"{point_text(view.metric, point)}",
        "value": y.value(point.value),
        "low": None if point.low is None else y.value(point.low),
        "high": None if point.high is None else y.value(point.high),
    }


def end_labels(
    ends: Sequence[tuple[str, int, float]], y: ValueAxis, *, characters: int, named: bool
) -> list[alt.Chart]:
    """For each (name, slot, pixel y of its line's end) the name, right of the panel."""
    placed = spread([pixel for _, _, pixel in ends], 15, 6, y.height - 4)
    rows = [
        {"name": shorten(name, characters), "value": y.at_pixel(pixel), "color": theme.color(slot)}
        for (name, slot, _), pixel in zip(ends, placed, strict=True)
    ]
    at = (alt.XValue("width"), y.encoding(named=named))
    return [texts(rows, *at, COLOR, align="left", dx=12, fontSize=12, fontWeight="bold")]
