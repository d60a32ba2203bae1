"""A bar a setting from 0, its 95% interval, the trials as dots and the number next to it, place by place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import altair as alt

from mydyno.lab.analysis.observations import Place
from mydyno.lab.report.charts.curve_axes import axis_title, one_two_five
from mydyno.lab.report.quantities import bracketed, writer
from mydyno.lab.report.views.curves import Measured
from mydyno.lab.report.views.levels import Level, Levels
from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, Layered, data, layered, side_by_side
from mydyno.page.charts.labels import CHARACTER_PX
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
    x = _Axis(view, width)
    y = _y(height)
    known = [(line, line.level.at) for line in lines if line.level.at is not None]
    layers = _marks(view, known, x, height)
    layers.append(_missing([line for line in lines if line.level.at is None], y))
    if named:
        names = [{"y": line.y, "name": _name(line)} for line in lines]
        layers.append(_text(names, y, x_px=-10, align="right"))
    if headers:
        heads = [{"y": at, "name": shorten(name, _LONGEST)} for at, name in headers]
        layers.append(_text(heads, y, x_px=4, align="left", bold=True))
    title = {"title": capitalised(view.metric.noun)} if titled else {}
    return layered(*layers, width=width, height=height, **title)


class _Axis:
    """From 0, or logarithmic; with room at the right for the numbers."""

    def __init__(self, view: Levels, width: int) -> None:
        self._per = _NS_PER_MS if view.metric.unit == "ns" else 1.0
        self._title = axis_title(view.metric, view.words)
        least, most = view.least_positive, (view.most or 1.0) / self._per
        self.logarithmic = view.spreads and least is not None
        drawn = max(40, width - _NUMBER)
        if self.logarithmic and least is not None:
            self.low = least / self._per / 1.5
            self._high = self.low * (most / self.low) ** (width / drawn)
        else:
            self.low, self._high = 0.0, most * width / drawn
        self._ticks = max(3, width // 90)

    def value(self, of: float) -> float:
        """What lies below a logarithmic axis is on its edge."""
        return max(of / self._per, self.low)

    def encoding(self, field: str) -> alt.X:
        return alt.X(
            f"{field}:Q",
            title=self._title + (" (logarithmic)" if self.logarithmic else ""),
            scale=alt.Scale(
                type="log" if self.logarithmic else "linear",
                domain=[self.low, self._high],
                nice=False,
                zero=False,
            ),
            axis=alt.Axis(format=",~f", grid=True, values=one_two_five(self.low, self._high))
            if self.logarithmic
            else alt.Axis(format=",~f", grid=True, tickCount=self._ticks),
        )


def _marks(view: Levels, known: list[tuple[_Line, Measured]], x: _Axis, height: float) -> list[alt.Chart]:
    """Bars, trials, intervals, means and numbers, each kind in one layer."""
    y = _y(height)
    color = alt.Color("color:N", scale=None, legend=None)
    rows = [_row(view, line, at, x) for line, at in known]
    trials = [
        {"y": line.y, "value": x.value(value), "color": theme.color(line.level.setting.slot)}
        for line, at in known
        if at.n > 1
        for value in at.trials
    ]
    base = alt.Chart(data(rows))
    whole = alt.Chart(data([row for row in rows if row["low"] is not None]))
    return [
        base.mark_rect(opacity=theme.FAINT).encode(
            x=x.encoding("zero"),
            x2=alt.X2("value:Q"),
            y=_y(height, "top"),
            y2=alt.Y2("bottom:Q"),
            color=color,
        ),
        alt.Chart(data(trials))
        .mark_circle(size=20, opacity=0.45)
        .encode(x=x.encoding("value"), y=y, color=color),
        whole.mark_rule(strokeWidth=2).encode(x=x.encoding("low"), x2=alt.X2("high:Q"), y=y, color=color),
        base.mark_point(
            shape="circle", filled=True, opacity=1, size=46, stroke=theme.PAPER, strokeWidth=1, aria=True
        ).encode(x=x.encoding("value"), y=y, color=color, description=alt.Description("text:N")),
        base.mark_text(align="left", baseline="middle", dx=7, color=theme.INK).encode(
            x=x.encoding("end"), y=y, text=alt.Text("number:N")
        ),
    ]


def _y(height: float, field: str = "y") -> alt.Y:
    return alt.Y(f"{field}:Q", axis=None, scale=alt.Scale(domain=[0, height], reverse=True, nice=False))


def _row(view: Levels, line: _Line, at: Measured, x: _Axis) -> dict[str, object]:
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
        "low": None if at.low is None else x.value(at.low),
        "high": None if at.high is None else x.value(at.high),
        "end": x.value(max(at.high or at.value, at.value, *at.trials)),
        "number": write(at.value),
        "color": theme.color(setting.slot),
        "text": f"{setting.title}, {where}: {write(at.value)}{error}, n={at.n}",
    }


def _missing(lines: list[_Line], y: alt.Y) -> alt.Chart:
    return _text(
        [{"y": line.y, "name": "not measured"} for line in lines], y, x_px=6, align="left", color=theme.MUTED
    )


def _text(
    rows: list[dict[str, object]],
    y: alt.Y,
    *,
    x_px: float,
    align: Literal["left", "right"],
    bold: bool = False,
    color: str = theme.INK,
) -> alt.Chart:
    drawn: alt.Chart = (
        alt.Chart(data(rows))
        .mark_text(align=align, baseline="middle", color=color, fontWeight="bold" if bold else "normal")
        .encode(x=alt.XValue(x_px), y=y, text=alt.Text("name:N"))
    )
    return drawn


def _name(line: _Line) -> str:
    return f"{shorten(line.level.setting.short, _LONGEST)}{line.level.setting.sign}"
