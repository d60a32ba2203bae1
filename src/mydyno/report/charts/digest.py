"""The charts of a digest: the load over time, and which statements took the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from mydyno.report.charts import theme
from mydyno.report.charts.draw import Chart, Layered, data, layered, side_by_side
from mydyno.report.charts.labels import CHARACTER_PX
from mydyno.report.charts.theme import Size
from mydyno.report.digest_load import LoadStep
from mydyno.report.digest_words import moment, share
from mydyno.report.format import number, printable, shorten

_AXIS = 62
"""Pixels left of a panel for its numbers."""
_PANEL = 120
_GAP = 26
_CLOCK = (
    "utcFormat(datum.value, utcseconds(datum.value) ? '%H:%M:%S'"
    " : utchours(datum.value) || utcminutes(datum.value) ? '%H:%M' : '%b %-d')"
)
"""The time of day, or at midnight the day."""
_ROW = 40
"""Pixels of a bar with its name above it."""
_BAR = 13


def load_chart(steps: Sequence[LoadStep], size: Size) -> Chart:
    """Statements per second above, and below how many ran at once."""
    panels = [
        _over_time(steps, "rate", "statements per second", theme.SERIES[0], size),
        _over_time(steps, "running", "running at once, on average", theme.SERIES[1], size),
    ]
    return side_by_side(panels, 1, {"row": _GAP, "column": 0})


def _over_time(steps: Sequence[LoadStep], field: str, title: str, color: str, size: Size) -> Layered:
    rows = [
        {
            "from": step.start_s * 1000,
            "to": (step.start_s + step.length_s) * 1000,
            "value": getattr(step, field),
            "told": f"{moment(step.start_s * 1_000_000)} UTC, {step.length_s} s: "
            f"{number(step.rate)} statements/s, {number(step.running)} at once",
        }
        for step in steps
    ]
    width = size.width - _AXIS
    x = alt.X(
        "from:T",
        title="UTC",
        scale=alt.Scale(type="utc", nice=False),
        axis=alt.Axis(tickCount=max(3, width // 110), labelExpr=_CLOCK, labelOverlap="greedy"),
    )
    y = alt.Y(
        "value:Q",
        title=None,
        scale=alt.Scale(zero=True, nice=True),
        axis=alt.Axis(format=",~f", tickCount=4),
    )
    bars = (
        alt.Chart(data(rows))
        .mark_rect(color=color, aria=True)
        .encode(x=x, x2=alt.X2("to:T"), y=y, y2=alt.Y2Datum(0), description=alt.Description("told:N"))
    )
    return layered(bars, width=width, height=_PANEL, title=alt.TitleParams(text=title, offset=6))


def top_chart(bars: Sequence[tuple[str, float, str]], size: Size) -> Chart:
    """`bars`: (name, share of the whole, what else is said of it), the largest first. Behind each, paler, is
    its share and that of all before it together."""
    width = size.width - 20
    room = int(width / CHARACTER_PX)
    rows: list[Mapping[str, object]] = []
    reached = 0.0
    for place, (name, part, told) in enumerate(bars):
        reached = min(1.0, reached + part)
        figures = f"{share(part, 1)}{' · ' + told if told and not size.narrow else ''}"
        rows.append(
            {
                "place": place * _ROW,
                "bar": place * _ROW + 18,
                "to_bar": place * _ROW + 18 + _BAR,
                "share": part,
                "reached": reached,
                "name": shorten(printable(name), room - len(figures) - 4),
                "figures": figures,
                "told": printable(f"{name}: {share(part, 1)}, {told}; with those above {share(reached, 1)}"),
            }
        )
    height = _ROW * len(bars)
    y = alt.Scale(domain=[0, height], reverse=True, nice=False)
    x = alt.Scale(domain=[0, 1], nice=False)
    base = alt.Chart(data(rows))
    along = alt.Axis(format=".0%", tickCount=5, grid=True)
    top, bottom = alt.Y("bar:Q", scale=y, axis=None), alt.Y2("to_bar:Q")
    together = base.mark_rect(color=theme.GRID).encode(
        x=alt.X("reached:Q", scale=x, axis=along, title=None), x2=alt.X2Datum(0), y=top, y2=bottom
    )
    drawn = base.mark_rect(color=theme.SERIES[0], aria=True).encode(
        x=alt.X("share:Q", scale=x),
        x2=alt.X2Datum(0),
        y=top,
        y2=bottom,
        description=alt.Description("told:N"),
    )
    names = base.mark_text(align="left", baseline="top", dy=2).encode(
        x=alt.XValue(0), y=alt.Y("place:Q", scale=y, axis=None), text=alt.Text("name:N")
    )
    figures_text = base.mark_text(align="right", baseline="top", dy=2, fontWeight="bold").encode(
        x=alt.XValue("width"), y=alt.Y("place:Q", scale=y, axis=None), text=alt.Text("figures:N")
    )
    panel = layered(together, drawn, names, figures_text, width=width, height=height)
    return side_by_side([panel], 1, {"row": 0, "column": 0})
