"""A metric against the load: a line a setting, 95 % intervals as bars, trials as dots if they are few."""

from __future__ import annotations

import math

import altair as alt

from mydyno.analysis.metrics import Metric
from mydyno.analysis.words import Words
from mydyno.report.charts import theme
from mydyno.report.charts.draw import Chart, Layered, data, layered, side_by_side
from mydyno.report.charts.labels import end_labels, room_for
from mydyno.report.charts.theme import Size
from mydyno.report.evidence import Setting
from mydyno.report.format import count, interval, latency
from mydyno.report.views.curves import Curve, CurvePoint, Curves

_NS_PER_MS = 1e6
_LEFT_AXIS = 66
_MANY_ORDERS = 20
"""A latency whose largest value is this many times its smallest is drawn on a logarithmic axis."""
_WIDE_RANGE = 60
"""So is the load."""


def curves_chart(views: tuple[Curves, ...], size: Size, height: int | None = None) -> Chart:
    """One panel a metric, all with the same unit and scale; beside each other where there is room."""
    columns = 1 if size.narrow else len(views)
    settings = [curve.setting for curve in views[-1].curves if curve.points]
    room, characters = (
        room_for(settings, most=200 if size.width > 700 or columns == 1 else 150)
        if len(settings) > 1 and not size.narrow
        else (10, 0)
    )
    width = (size.width - room - _LEFT_AXIS * columns) // columns
    axis = _Axis(views, height or (200 if size.narrow else 320))
    panels = [
        _panel(
            view,
            axis,
            width,
            characters if place == len(views) - 1 else 0,
            title=capitalised(view.metric.noun) if len(views) > 1 else None,
        )
        for place, view in enumerate(views)
    ]
    return side_by_side(panels, columns, {"row": 22, "column": 18})


def _panel(view: Curves, axis: _Axis, width: int, characters: int, title: str | None) -> Layered:
    x = _x(view)
    drawn = [curve for curve in view.curves if curve.points]
    layers: list[alt.Chart] = []
    for place, curve in enumerate(drawn):
        layers += _curve(curve, view, x, axis, dodge=_dodge(place, len(drawn)))
    if characters:
        ends = [(curve.setting, axis.pixel(curve.points[-1].value)) for curve in drawn]
        layers += end_labels(ends, x_px=width + 12, height=axis.height, characters=characters)
    named = {} if title is None else {"title": title}
    return layered(*layers, width=width, height=axis.height, **named)


class _Axis:
    """The y axis of all panels: its scale is chosen here, so that labels can be placed on it in pixels."""

    def __init__(self, views: tuple[Curves, ...], height: int) -> None:
        self.height = height
        is_latency = views[0].metric.unit == "ns"
        self._per = _NS_PER_MS if is_latency else 1.0
        self._title = "ms" if is_latency and len(views) > 1 else axis_title(views[0].metric, views[0].words)
        least = min((low for view in views if (low := view.least_positive) is not None), default=None)
        most = max(view.most for view in views)
        self._log = is_latency and least is not None and least * _MANY_ORDERS < most
        if self._log and least is not None:
            self._low, self._high = least / self._per / 1.5, most / self._per * 1.2
        else:
            self._low, self._high = 0.0, (most / self._per or 1.0) * 1.08

    def value(self, of: float) -> float:
        """In the axis' unit; what lies below a logarithmic axis (an interval down to 0) is on its edge."""
        return max(of / self._per, self._low)

    def pixel(self, of: float) -> float:
        """Pixels from the top."""
        at = self.value(of)
        if self._log:
            return self.height * math.log(self._high / at) / math.log(self._high / self._low)
        return self.height * (1 - at / self._high)

    def encoding(self) -> alt.Y:
        return alt.Y(
            "value:Q",
            title=self._title,
            scale=alt.Scale(
                type="log" if self._log else "linear", domain=[self._low, self._high], nice=False, zero=False
            ),
            axis=alt.Axis(format=",~f", values=one_two_five(self._low, self._high))
            if self._log
            else alt.Axis(format=",~f", tickCount=5),
        )


def one_two_five(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic axis: 1, 2 and 5 of each decade, or the decades alone when they are many."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    leads = (1, 2, 5) if last - first <= 3 else (1,)
    ticks = [lead * 10.0**power for power in range(first, last + 1) for lead in leads]
    return [tick for tick in ticks if low <= tick <= high]


def axis_title(metric: Metric, words: Words) -> str:
    """What is on the axis, with its unit."""
    return f"{metric.noun}, ms" if metric.unit == "ns" else short_noun(metric, words)


def short_noun(metric: Metric, words: Words) -> str:
    if metric is words.rate:
        return words.rate_short
    return metric.noun.replace(" per second", "/s")


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _x(view: Curves) -> alt.X:
    found = view.connections
    log = len(found) > 2 and found[0] > 0 and found[-1] / found[0] > _WIDE_RANGE
    margin = (found[-1] - found[0]) * 0.03 or 1
    domain = [found[0] / 1.1, found[-1] * 1.1] if log else [max(0, found[0] - margin), found[-1] + margin]
    return alt.X(
        "connections:Q",
        title=view.words.load,
        scale=alt.Scale(type="log" if log else "linear", domain=domain, nice=False, zero=False),
        axis=alt.Axis(values=list(found), format=",~f", labelOverlap="greedy", labelSeparation=6),
    )


def _dodge(place: int, of: int) -> float:
    """Pixels to the side, so that the intervals of several settings do not hide each other."""
    step = min(5.0, 18 / max(1, of - 1))
    return (place - (of - 1) / 2) * step


def _curve(curve: Curve, view: Curves, x: alt.X, axis: _Axis, dodge: float) -> list[alt.Chart]:
    color = theme.color(curve.setting.slot)
    y = axis.encoding()
    rows = [_row(curve.setting, point, axis, view) for point in curve.points]
    # Where there are too few trials for an interval, the trials themselves show the spread.
    each_trial = [
        {"connections": point.connections, "value": axis.value(value)}
        for point in curve.points
        for value in point.trials
        if point.low is None and point.n > 1
    ]
    bars = [row for row in rows if row["low"] is not None]
    base = alt.Chart(data(rows))
    layers = [
        alt.Chart(data(each_trial))
        .mark_circle(color=color, size=22, opacity=0.45, xOffset=dodge)
        .encode(x=x, y=y),
        base.mark_line(color=color, strokeWidth=2, xOffset=dodge).encode(x=x, y=y),
    ]
    if bars:
        whiskers = alt.Chart(data(bars)).encode(x=x)
        ends = {"y": alt.Y("low:Q"), "y2": alt.Y2("high:Q")}
        layers.append(
            whiskers.mark_rule(color=color, strokeWidth=2, opacity=0.75, xOffset=dodge).encode(**ends)
        )
    layers.append(
        base.mark_point(
            shape=theme.shape(curve.setting.slot),
            filled=True,
            size=52,
            color=color,
            stroke=theme.PAPER,
            strokeWidth=1,
            opacity=1,
            xOffset=dodge,
            aria=True,
        ).encode(x=x, y=y, description="told:N")
    )
    return layers


def told(metric: Metric, point: CurvePoint) -> str:
    """`42 500 (41 800 to 43 400), n=4`, with the unit of a latency."""
    write = latency if metric.unit == "ns" else count
    error = "" if point.low is None else f" ({interval(point.low, point.high, write)})"
    return f"{write(point.value)}{error}, n={point.n}"


def _row(setting: Setting, point: CurvePoint, axis: _Axis, view: Curves) -> dict[str, object]:
    return {
        "told": f"{setting.title}, {view.words.amount(point.connections)}: {told(view.metric, point)}",
        "connections": point.connections,
        "value": axis.value(point.value),
        "low": None if point.low is None else axis.value(point.low),
        "high": None if point.high is None else axis.value(point.high),
    }
