"""The table of comparisons as a picture: how many times as fast as the first column, a mark a column."""

from __future__ import annotations

import altair as alt

from mydyno.lab.report.comparison_tables import labels
from mydyno.lab.report.quantities import bracketed
from mydyno.lab.report.views.comparison import ComparisonTable, Row
from mydyno.lab.report.views.verdicts import outcome_text
from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, data, layered, side_by_side
from mydyno.page.charts.labels import CHARACTER_PX, legend
from mydyno.page.charts.theme import Size
from mydyno.page.format import number, shorten

_LINE = 12
"""Pixels for each column within a row."""
_BETWEEN = 12
_RIGHT = 14
_LONGEST = 44
_MOST_ROWS = 24
"""Of more only those over all places are drawn."""
_FARTHEST = 10.0
"""Intervals reach no farther than this many times, and its inverse."""


def drawn_rows(view: ComparisonTable) -> tuple[Row, ...]:
    """Those that have a ratio; of too many those over all places."""
    rows = view.rows if len(view.rows) <= _MOST_ROWS else view.whole
    return tuple(row for row in rows if any(cell and cell.speed(row.metric) for cell in row.cells))


def comparison_chart(view: ComparisonTable, size: Size) -> Chart:
    rows = drawn_rows(view)
    longest = int(size.width * 0.42 / CHARACTER_PX)
    names = [shorten(" · ".join(labels(view, row)), min(_LONGEST, longest)) for row in rows]
    left = int(max(map(len, names)) * CHARACTER_PX) + 18
    width = size.width - left - _RIGHT
    others = len(view.columns) - 1
    row_height = _LINE * others + _BETWEEN
    height = row_height * len(rows)
    x = _Axis(view, rows, width)
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[0, height], reverse=True, nice=False))
    layers: list[alt.Chart] = [_bands(len(rows), row_height, y), _one(x)]
    for place in range(1, len(view.columns)):
        middles = [
            (row, order * row_height + _BETWEEN / 2 + _LINE * (place - 0.5)) for order, row in enumerate(rows)
        ]
        layers += _column(view, place, middles, x, y)
    heads = [{"y": (place + 0.5) * row_height, "name": name} for place, name in enumerate(names)]
    layers.append(
        alt.Chart(data(heads))
        .mark_text(align="right", baseline="middle")
        .encode(x=alt.XValue(-10), y=y, text=alt.Text("name:N"))
    )
    layers += legend([(column.level, column.slot) for column in view.columns[1:]], width)
    return side_by_side([layered(*layers, width=width, height=height)], 1, {"row": 0, "column": 0})


class _Axis:
    """Logarithmic: twice as fast is as far from 1 as half as fast."""

    def __init__(self, view: ComparisonTable, rows: tuple[Row, ...], width: int) -> None:
        speeds = [speed for row in rows for cell in row.cells if cell and (speed := cell.speed(row.metric))]
        ends = [
            min(max(end, 1 / _FARTHEST), _FARTHEST)
            for _, low, high in speeds
            for end in (low, high)
            if end is not None
        ]
        values = [value for value, _, _ in speeds]
        self._low = min([*values, *ends, 0.9]) / 1.04
        self._high = max([*values, *ends, 1.1]) * 1.04
        steps = (
            0.01,
            0.02,
            0.05,
            0.1,
            0.2,
            0.25,
            0.33,
            0.5,
            0.67,
            0.8,
            0.9,
            1,
            1.1,
            1.25,
            1.5,
            2,
            3,
            4,
            5,
            10,
        )
        inside = [step for step in (*steps, 20, 50, 100) if self._low <= step <= self._high]
        thin = max(1, round(len(inside) / max(3, width // 70)))
        one = inside.index(1)
        self._ticks = [step for place, step in enumerate(inside) if (place - one) % thin == 0]
        self._title = f"times as fast as {view.columns[0].level} (logarithmic)"

    def inside(self, value: float) -> float:
        return min(max(value, self._low), self._high)

    def encoding(self, field: str = "value") -> alt.X:
        return alt.X(
            f"{field}:Q",
            title=self._title,
            scale=alt.Scale(type="log", domain=[self._low, self._high], nice=False, zero=False),
            axis=alt.Axis(format="~g", values=self._ticks, grid=True),
        )


def _column(
    view: ComparisonTable, place: int, middles: list[tuple[Row, float]], x: _Axis, y: alt.Y
) -> list[alt.Chart]:
    column = view.columns[place]
    color = theme.color(column.slot)
    rows: list[dict[str, object]] = []
    for row, middle in middles:
        cell = row.cells[place]
        speed = None if cell is None else cell.speed(row.metric)
        if cell is None or cell.compared is None or speed is None:
            continue
        value, low, high = speed
        error = bracketed(low, high)
        rows.append(
            {
                "y": middle,
                "value": x.inside(value),
                "low": None if low is None else x.inside(low),
                "high": None if high is None else x.inside(high),
                "fill": color if cell.compared.outcome in ("faster", "slower") else theme.PAPER,
                "text": f"{column.level}, {', '.join(labels(view, row))}: {number(value)} times as fast"
                f"{error}, {outcome_text(cell.compared)}",
            }
        )
    whole = [row for row in rows if row["low"] is not None]
    return [
        alt.Chart(data(whole))
        .mark_rule(color=color, strokeWidth=2)
        .encode(x=x.encoding("low"), x2=alt.X2("high:Q"), y=y),
        alt.Chart(data(rows))
        .mark_point(
            shape=theme.shape(column.slot),
            filled=True,
            size=58,
            stroke=color,
            strokeWidth=1.6,
            opacity=1,
            aria=True,
        )
        .encode(
            x=x.encoding(),
            y=y,
            fill=alt.Fill("fill:N", scale=None, legend=None),
            description=alt.Description("text:N"),
        ),
    ]


def _one(x: _Axis) -> alt.Chart:
    drawn: alt.Chart = (
        alt.Chart(data([{"value": 1}])).mark_rule(color=theme.INK, strokeWidth=1.2).encode(x=x.encoding())
    )
    return drawn


def _bands(rows: int, row_height: int, y: alt.Y) -> alt.Chart:
    """Every second row is pale, so that the eye keeps to it."""
    bands = [{"y": place * row_height, "to": (place + 1) * row_height} for place in range(0, rows, 2)]
    drawn: alt.Chart = alt.Chart(data(bands)).mark_rect(color=theme.BAND).encode(y=y, y2=alt.Y2("to:Q"))
    return drawn
