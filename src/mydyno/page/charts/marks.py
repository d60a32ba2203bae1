"""Marks and scales that many charts have. `channels`: where a mark is, `alt.X`, `alt.Y` and others."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from mydyno.page.charts import theme
from mydyno.page.charts.draw import data

Rows = Sequence[Mapping[str, object]]
COLOR = alt.Color("color:N", scale=None, legend=None)
"""Of each row its own."""


def down(height: float, field: str = "y") -> alt.Y:
    """Pixels from the top, without an axis."""
    scale = alt.Scale(domain=[0, height], reverse=True, nice=False)
    return alt.Y(f"{field}:Q", axis=None, scale=scale)


def texts(rows: Rows, *channels: Any, field: str = "name", **style: Any) -> alt.Chart:
    """The text of each row."""
    mark = alt.Chart(data(rows)).mark_text(**{"baseline": "middle", **style})
    drawn: alt.Chart = mark.encode(*channels, alt.Text(f"{field}:N"))
    return drawn


def names(rows: Rows, y: alt.Y, **style: Any) -> alt.Chart:
    """The name of each row, left of the panel."""
    return texts(rows, alt.XValue(-10), y, align="right", **style)


def bands(rows: Rows, y: alt.Y, *channels: Any, color: str = theme.BAND) -> alt.Chart:
    """From `y` to `to`, as wide as the panel."""
    drawn: alt.Chart = alt.Chart(data(rows)).mark_rect(color=color).encode(y, alt.Y2("to:Q"), *channels)
    return drawn


def intervals(rows: Rows, ends: alt.X | alt.Y, *channels: Any, **style: Any) -> alt.Chart:
    """From `low`, the field of `ends`, to `high`; of the rows that have them."""
    high = alt.X2("high:Q") if isinstance(ends, alt.X) else alt.Y2("high:Q")
    mark = alt.Chart(data([row for row in rows if row["low"] is not None])).mark_rule(
        **{"strokeWidth": 2, **style}
    )
    drawn: alt.Chart = mark.encode(ends, high, *channels)
    return drawn


def points(rows: Rows, *channels: Any, hover: str = "text", **style: Any) -> alt.Chart:
    """A filled mark with a tooltip, edged so that it can be seen on others."""
    look = {"filled": True, "stroke": theme.PAPER, "strokeWidth": 1, "opacity": 1, "aria": True, **style}
    drawn: alt.Chart = (
        alt.Chart(data(rows)).mark_point(**look).encode(*channels, alt.Description(f"{hover}:N"))
    )
    return drawn


def one_two_five(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic axis: 1, 2 and 5 of each decade, or the decades alone when they are many."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    leads = (1, 2, 5) if last - first <= 3 else (1,)
    ticks = [lead * 10.0**power for power in range(first, last + 1) for lead in leads]
    return [tick for tick in ticks if low <= tick <= high]
