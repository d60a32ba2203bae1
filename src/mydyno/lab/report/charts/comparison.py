"""The table of comparisons as a picture: how many times as fast as the first column, a mark a column."""

import altair as alt

from mydyno.lab.report.comparison_tables import labels
from mydyno.lab.report.quantities import bracketed
from mydyno.lab.report.views.comparison import ComparisonTable, Row
from mydyno.lab.report.views.verdicts import outcome_text
from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, data, layered, side_by_side
from mydyno.page.charts.labels import CHARACTER_PX, legend
from mydyno.page.charts.marks import bands, down, intervals, names, points
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
    titles = [shorten(" · ".join(labels(view, row)), min(_LONGEST, longest)) for row in rows]
    left = int(max(map(len, titles)) * CHARACTER_PX) + 18
    width = size.width - left - _RIGHT
    others = len(view.columns) - 1
    row_height = _LINE * others + _BETWEEN
    height = row_height * len(rows)
    x = _Axis(view, rows, width)
    y = down(height)
    # Every second row is pale, so that the eye keeps to it.
    pale = [{"y": place * row_height, "to": (place + 1) * row_height} for place in range(0, len(rows), 2)]
    layers = [bands(pale, y), _one(x)]
    for place in range(1, len(view.columns)):
        middles = [
            (row, order * row_height + _BETWEEN / 2 + _LINE * (place - 0.5)) for order, row in enumerate(rows)
        ]
        layers += _column(view, place, middles, x, y)
    layers.append(
        names([{"y": (place + 0.5) * row_height, "name": name} for place, name in enumerate(titles)], y)
    )
    layers += legend([(column.level, column.slot) for column in view.columns[1:]], width)
    return side_by_side([layered(*layers, width=width, height=height)], 1, {"row": 0, "column": 0})


_SLOWER = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.33, 0.5, 0.67, 0.8, 0.9)
_STEPS = (*_SLOWER, 1, 1.1, 1.25, 1.5, 2, 3, 4, 5, 10, 20, 50, 100)


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
        inside = [step for step in _STEPS if self._low <= step <= self._high]
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
    at, shape = (x.encoding(), y, alt.Fill("fill:N", scale=None, legend=None)), theme.shape(column.slot)
    return [
        intervals(rows, x.encoding("low"), y, color=color),
        points(rows, *at, shape=shape, size=58, stroke=color, strokeWidth=1.6),
    ]


def _one(x: _Axis) -> alt.Chart:
    drawn: alt.Chart = (
        alt.Chart(data([{"value": 1}])).mark_rule(color=theme.INK, strokeWidth=1.2).encode(x=x.encoding())
    )
    return drawn
