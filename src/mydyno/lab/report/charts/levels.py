"""A bar a setting from 0, its 95% interval, the trials as dots and the number next to it, place by place."""

from dataclasses import dataclass

import altair as alt

from mydyno.lab.analysis.observations import Place
from mydyno.lab.report.charts.curve_axes import BarAxis, axis_title
from mydyno.lab.report.quantities import bracketed, writer
from mydyno.lab.report.views.curves import Level, Levels, Measured
from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, Layered, data, layered, side_by_side
from mydyno.page.charts.labels import CHARACTER_PX
from mydyno.page.charts.marks import COLOR, Rows, down, intervals, names, points, texts
from mydyno.page.charts.theme import Size
from mydyno.page.format import capitalised, shorten

_ROW = 22
_BAR = 12
_HEADER = 26
_LONGEST = 40
_NUMBER = 64
"""Pixels right of the longest bar, for its number."""
_NS_PER_MS = 1e6


@dataclass(frozen=True)
class _Line:
    """One setting at one place, `y` pixels below the top."""

    y: float
    level: Level
    place: Place


def levels_chart(views: tuple[Levels, ...], size: Size) -> Chart:
    """One panel a metric; next to each other where they fit."""
    lines, headers, height = _layout(views[0])
    longest = max(len(_name(line)) for line in lines)
    left = max(60, int(longest * CHARACTER_PX) + 16)
    columns = 1 if size.width - left < 260 * len(views) else len(views)
    width = (size.width - left - 30 * (columns - 1) - 12) // columns
    panels = []
    for place, view in enumerate(views):
        own, _, _ = _layout(view)
        named = columns == 1 or place == 0
        panels.append(_panel(view, own, headers, width, height, named=named, titled=len(views) > 1))
    return side_by_side(panels, columns, {"row": 30, "column": 30})


def _layout(view: Levels) -> tuple[list[_Line], list[tuple[float, str]], float]:
    """The lines, the names of their places above each group, and the height of all."""
    lines: list[_Line] = []
    headers: list[tuple[float, str]] = []
    y = 0.0
    for place, group in view.groups:
        if len(view.groups) > 1:
            headers.append((y + _HEADER / 2, place if isinstance(place, str) else view.words.amount(place)))
            y += _HEADER
        for level in group:
            lines.append(_Line(y + _ROW / 2, level, place))
            y += _ROW
    return lines, headers, y


def _panel(
    view: Levels,
    lines: list[_Line],
    headers: list[tuple[float, str]],
    width: int,
    height: float,
    *,
    named: bool,
    titled: bool,
) -> Layered:
    x = _axis(view, width)
    y = down(height)
    known = [(line, line.level.at) for line in lines if line.level.at is not None]
    layers = _marks(view, known, x, height)
    missing = [{"y": line.y, "name": "not measured"} for line in lines if line.level.at is None]
    layers.append(_text(missing, y, x_px=6, color=theme.MUTED))
    if named:
        layers.append(names([{"y": line.y, "name": _name(line)} for line in lines], y))
    if headers:
        heads = [{"y": at, "name": shorten(name, _LONGEST)} for at, name in headers]
        layers.append(_text(heads, y, x_px=4, fontWeight="bold"))
    title = {"title": capitalised(view.metric.noun)} if titled else {}
    return layered(*layers, width=width, height=height, **title)


def _axis(view: Levels, width: int) -> BarAxis:
    """With space at the right for the numbers."""
    per = _NS_PER_MS if view.metric.unit == "ns" else 1.0
    least, most = view.least_positive, (view.most or 1.0) / per
    stretch, title = width / max(40, width - _NUMBER), axis_title(view.metric, view.words)
    if not view.spreads or least is None:
        return BarAxis(title, None, most * stretch, width, per)
    low = least / per / 1.5
    return BarAxis(title, low, low * (most / low) ** stretch, width, per)


def _marks(view: Levels, known: list[tuple[_Line, Measured]], x: BarAxis, height: float) -> list[alt.Chart]:
    """Bars, trials, intervals, means and numbers, each kind in one layer."""
    y = down(height)
    rows = [_row(view, line, at, x) for line, at in known]
    trials = [
        {"y": line.y, "value": x.value(value), "color": theme.color(line.level.setting.slot)}
        for line, at in known
        if at.n > 1
        for value in at.trials
    ]
    value, bottom = x.encoding("value"), (alt.X2("value:Q"), down(height, "top"), alt.Y2("bottom:Q"))
    return [
        alt.Chart(data(rows)).mark_rect(opacity=theme.FAINT).encode(x.encoding("zero"), *bottom, COLOR),
        alt.Chart(data(trials)).mark_circle(size=20, opacity=0.45).encode(value, y, COLOR),
        intervals(rows, x.encoding("low"), y, COLOR),
        points(rows, value, y, COLOR, shape="circle", size=46),
        texts(rows, x.encoding("end"), y, field="number", align="left", dx=7, color=theme.INK),
    ]


def _row(view: Levels, line: _Line, at: Measured, x: BarAxis) -> dict[str, object]:
    setting = line.level.setting
    write = writer(view.metric)
    error = bracketed(at.low, at.high, write)
    where = line.place if isinstance(line.place, str) else view.words.amount(line.place)
    return {
        "y": line.y,
        "top": line.y - _BAR / 2,
        "bottom": line.y + _BAR / 2,
        "zero": x.low,
        "value": x.value(at.value),
        "low": x.value_or_none(at.low),
        "high": x.value_or_none(at.high),
        "end": x.value(max(at.high or at.value, at.value, *at.trials)),
        "number": write(at.value),
        "color": theme.color(setting.slot),
        "text": f"{setting.title}, {where}: {write(at.value)}{error}, n={at.n}",
    }


def _text(rows: Rows, y: alt.Y, *, x_px: float, **style: str) -> alt.Chart:
    return texts(rows, alt.XValue(x_px), y, align="left", **style)


def _name(line: _Line) -> str:
    return f"{shorten(line.level.setting.short, _LONGEST)}{line.level.setting.sign}"
