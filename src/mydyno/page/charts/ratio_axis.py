"""A logarithmic axis of ratios with its ticks in percent, the line of no difference and the equivalence
margin."""

import math
from collections.abc import Iterable
from typing import Any

import altair as alt

from mydyno.page.charts import theme
from mydyno.page.charts.draw import data
from mydyno.page.charts.marks import Rows, one_two_five
from mydyno.page.format import MINUS

_FARTHEST = 5.0
"""Intervals reach no farther on the page than this ratio (and its inverse); they are cut at the edge."""
_TICK = 56
"""Pixels that a tick's label takes at least."""

_PERCENT = f"datum.value == 1 ? '0%' : replace(format(100 * (datum.value - 1), '+.0f'), '-', '{MINUS}') + '%'"
"""A Vega expression: the ratio 1.1 is labelled `+10%`."""


class RatioAxis:
    """Wide enough for all `values` and for twice the `margin`, and for the `ends` of intervals within
    `_FARTHEST`; `width` pixels long."""

    def __init__(self, values: Iterable[float], ends: Iterable[float], margin: float, width: int) -> None:
        values = list(values)
        near = [min(max(end, 1 / _FARTHEST), _FARTHEST) for end in ends]
        around = 1 + 2 * margin
        self.low = min([*values, *near, 1 / around]) / 1.02
        self.high = max([*values, *near, around]) * 1.02
        self.ticks = _ticks(self.low, self.high, most=max(4, width // _TICK))

    def inside(self, value: float) -> float:
        return min(max(value, self.low), self.high)

    def inside_or_none(self, value: float | None) -> float | None:
        return None if value is None else self.inside(value)

    def x(self, field: str, title: str) -> alt.X:
        return alt.X(
            f"{field}:Q",
            title=title,
            scale=alt.Scale(type="log", domain=[self.low, self.high], nice=False, zero=False),
            axis=alt.Axis(
                values=self.ticks,
                grid=True,
                domain=False,
                ticks=False,
                labelOverlap="greedy",
                labelExpr=_PERCENT,
            ),
        )

    def margin_band(self, margin: float, x: alt.X) -> alt.Chart:
        """The equivalence margin. `x`: of the field `value`."""
        band = [{"value": self.inside(1 / (1 + margin)), "to": self.inside(1 + margin)}]
        drawn: alt.Chart = alt.Chart(data(band)).mark_rect(color=theme.BAND).encode(x=x, x2=alt.X2("to:Q"))
        return drawn


def no_difference(x: alt.X, *channels: Any, rows: Rows = ({"value": 1.0},)) -> alt.Chart:
    """A line at 1, from the top to the bottom or in the parts that `rows` and `channels` are. `x`: of the
    field `value`."""
    mark = alt.Chart(data(rows)).mark_rule(color=theme.MUTED, strokeDash=[4, 3])
    line: alt.Chart = mark.encode(x, *channels)
    return line


def _ticks(low: float, high: float, most: int) -> list[float]:
    """Round percentages around 1, the finest step that does not give more than `most` ticks; on a longer axis
    times 2, 5, 10 and so on."""
    for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0):
        first, last = math.ceil((low - 1) / step), math.floor((high - 1) / step)
        if last - first + 1 <= most:
            return [round(1 + place * step, 6) for place in range(first, last + 1)]
    return one_two_five(low, high)
