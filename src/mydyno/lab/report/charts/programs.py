"""Seconds of each test program: a mark a setting with its interval, the trials as dots, the total below."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from mydyno.lab.report.charts.curve_axes import one_two_five
from mydyno.lab.report.evidence import Setting
from mydyno.lab.report.quantities import bracketed
from mydyno.lab.report.views.curves import Measured
from mydyno.lab.report.views.programs import ProgramRow, Programs
from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, data, layered, side_by_side
from mydyno.page.charts.labels import CHARACTER_PX, legend
from mydyno.page.charts.theme import Size
from mydyno.page.format import seconds, shorten

_LINE = 11
"""Pixels for each setting within a row."""
_BETWEEN = 12
_RIGHT = 12
_LONGEST = 22


def programs_chart(view: Programs, size: Size) -> Chart:
    """One row a test program, and the total of all apart from them."""
    left = max(60, int(max(len(_name(row)) for row in view.rows) * CHARACTER_PX) + 16)
    width = size.width - left - _RIGHT
    row_height = _LINE * len(view.settings) + _BETWEEN
    height = row_height * len(view.rows) + _BETWEEN
    x = _Axis(view, width)
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[0, height], reverse=True, nice=False))
    tops = [
        place * row_height + (_BETWEEN if row.program is None else 0) for place, row in enumerate(view.rows)
    ]
    layers = [_bands(tops, row_height, y)]
    for place, setting in enumerate(view.settings):
        cells = [
            (top + _BETWEEN / 2 + _LINE * (place + 0.5), row, row.seconds[place])
            for top, row in zip(tops, view.rows, strict=True)
        ]
        layers += _setting(setting, [(at, row, cell) for at, row, cell in cells if cell is not None], x, y)
    layers += _names(view, tops, row_height, y)
    if not size.narrow and len(view.settings) > 1:
        layers += legend([(setting.short, setting.slot) for setting in view.settings], width)
    return side_by_side([layered(*layers, width=width, height=height)], 1, {"row": 0, "column": 0})


class _Axis:
    """Seconds from 0, or on a logarithmic scale where the shortest would vanish next to the total."""

    def __init__(self, view: Programs, width: int) -> None:
        least = view.least_positive
        self._log = view.spreads and least is not None
        self._low = least / 1.4 if self._log and least is not None else 0.0
        self._high = (view.most or 1.0) * (1.15 if self._log else 1.05)
        self._ticks = max(3, width // 90)

    def inside(self, value: float | None) -> float | None:
        """What lies below a logarithmic axis (an interval down to 0) is on its edge."""
        return None if value is None else max(value, self._low)

    def encoding(self, field: str = "value") -> alt.X:
        axis = (
            alt.Axis(format=",~f", values=one_two_five(self._low, self._high), grid=True)
            if self._log
            else alt.Axis(format=",~f", tickCount=self._ticks, grid=True)
        )
        return alt.X(
            f"{field}:Q",
            title="running time, s" + (" (logarithmic)" if self._log else ""),
            scale=alt.Scale(
                type="log" if self._log else "linear",
                domain=[self._low, self._high],
                nice=False,
                zero=False,
            ),
            axis=axis,
        )


def _setting(
    setting: Setting, cells: list[tuple[float, ProgramRow, Measured]], x: _Axis, y: alt.Y
) -> list[alt.Chart]:
    color = theme.color(setting.slot)
    trials = [
        {"y": at, "value": x.inside(value)} for at, _, cell in cells if cell.n > 1 for value in cell.trials
    ]
    bars = [
        {"y": at, "low": x.inside(cell.low), "high": x.inside(cell.high)}
        for at, _, cell in cells
        if cell.low is not None
    ]
    layers = [
        alt.Chart(data(trials))
        .mark_circle(color=color, size=24, opacity=theme.FAINT)
        .encode(x=x.encoding(), y=y)
    ]
    if bars:
        layers.append(
            alt.Chart(data(bars))
            .mark_rule(color=color, strokeWidth=2)
            .encode(x=x.encoding("low"), x2=alt.X2("high:Q"), y=y)
        )
    for total in (False, True):
        rows = [
            {"y": at, "value": x.inside(cell.value), "text": _cell_text(setting, row, cell)}
            for at, row, cell in cells
            if (row.program is None) is total
        ]
        layers.append(
            alt.Chart(data(rows))
            .mark_point(
                shape=theme.shape(setting.slot),
                filled=True,
                size=84 if total else 52,
                color=color,
                stroke=theme.PAPER,
                strokeWidth=1,
                opacity=1,
                aria=True,
            )
            .encode(x=x.encoding(), y=y, description=alt.Description("text:N"))
        )
    return layers


def _cell_text(setting: Setting, row: ProgramRow, cell: Measured) -> str:
    error = bracketed(cell.low, cell.high)
    return f"{setting.title}, {row.program or 'total'}: {seconds(cell.value)}{error}, n={cell.n}"


def _name(row: ProgramRow) -> str:
    return "total" if row.program is None else shorten(row.program, _LONGEST)


def _bands(tops: Sequence[float], row_height: int, y: alt.Y) -> alt.Chart:
    """Every second row is pale, so that the eye keeps to it; so is the total."""
    rows = [{"y": top, "to": top + row_height} for place, top in enumerate(tops) if place % 2 == 0]
    drawn: alt.Chart = alt.Chart(data(rows)).mark_rect(color=theme.BAND).encode(y=y, y2=alt.Y2("to:Q"))
    return drawn


def _names(view: Programs, tops: Sequence[float], row_height: int, y: alt.Y) -> list[alt.Chart]:
    layers = []
    for total in (False, True):
        rows = [
            {"y": top + row_height / 2, "name": _name(row)}
            for top, row in zip(tops, view.rows, strict=True)
            if (row.program is None) is total
        ]
        layers.append(
            alt.Chart(data(rows))
            .mark_text(align="right", baseline="middle", fontWeight="bold" if total else "normal")
            .encode(x=alt.XValue(-10), y=y, text=alt.Text("name:N"))
        )
    return layers
