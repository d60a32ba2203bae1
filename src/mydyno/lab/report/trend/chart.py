"""A trend as a picture: a dot with its interval for each run, a line for each level, a rule at a change."""

import itertools
import struct
import textwrap
import zlib
from collections.abc import Sequence

import altair as alt

from mydyno.lab.analysis.trend import Trend
from mydyno.lab.report.trend.text import headline
from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, Layer, Layered, data, layered, side_by_side
from mydyno.page.charts.theme import Size

_HEIGHT = 190
_LEFT = 70


def trend_chart(trends: Sequence[Trend], size: Size) -> Chart:
    """One panel for each point, below each other; runs from left to right, oldest first."""
    panels = [_panel(trend, size.width - _LEFT) for trend in trends]
    return side_by_side(panels, 1, {"row": 28, "column": 0})


def _panel(trend: Trend, width: int) -> Layered:
    scale, unit = {"ns": (1e-6, "ms")}.get(trend.metric.unit, (1.0, trend.metric.unit))
    dots = [
        {
            "run": place + 1,
            "value": dot.mean * scale,
            "low": None if dot.interval is None else dot.interval.low * scale,
            "high": None if dot.interval is None else dot.interval.high * scale,
            "text": f"{dot.run}, {dot.created_at}, n={dot.n}",
        }
        for place, dot in enumerate(trend.dots)
    ]
    x = alt.X(
        "run:Q",
        title="run, oldest first",
        axis=alt.Axis(tickMinStep=1, format="d"),
        scale=alt.Scale(domain=[0.5, len(dots) + 0.5], nice=False),
    )
    y = alt.Y(
        "value:Q", title=f"{trend.metric.noun}, {unit}", scale=alt.Scale(zero=False), axis=alt.Axis(grid=True)
    )
    text = headline(trend).removeprefix(f"{trend.title}: ")
    layers: list[Layer] = [
        alt.Chart(data(_levels(trend, scale)))
        .mark_rule(color=theme.MUTED, strokeDash=[4, 3])
        .encode(x=alt.X("from:Q"), x2=alt.X2("to:Q"), y=alt.Y("value:Q")),
        alt.Chart(data([{"run": each.dot + 0.5} for each in trend.changes]))
        .mark_rule(color=theme.INVALID, strokeWidth=2)
        .encode(x=alt.X("run:Q")),
        alt.Chart(data([dot for dot in dots if dot["low"] is not None]))
        .mark_rule(color=theme.color(0), strokeWidth=2)
        .encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
        alt.Chart(data(dots))
        .mark_circle(color=theme.color(0), size=60, opacity=1)
        .encode(x=x, y=y, tooltip=alt.Tooltip("text:N")),
    ]
    return layered(
        *layers,
        width=width,
        height=_HEIGHT,
        title=alt.TitleParams(
            text=trend.title or trend.metric.noun, subtitle=textwrap.wrap(text, width // 7)
        ),
    )


def _levels(trend: Trend, scale: float) -> list[dict[str, float]]:
    """Of each level its geometric mean, from its first run to its last."""
    edges = [0, *(each.dot for each in trend.changes), len(trend.dots)]
    rows = []
    for start, end in itertools.pairwise(edges):
        mean = 1.0
        for dot in trend.dots[start:end]:
            mean *= dot.mean ** (1 / (end - start))
        rows.append({"from": start + 0.6, "to": end + 0.4, "value": mean * scale})
    return rows


_HEADER_BYTES = 8 + 4 + 4 + 13 + 4
"""The signature and the first chunk, IHDR: its length, type, content and checksum."""
_SOFTWARE = b"tEXtSoftware\x00mydyno"


def signed_png(picture: bytes) -> bytes:
    """The PNG with the keyword Software after its header."""
    chunk = struct.pack(">I", len(_SOFTWARE) - 4) + _SOFTWARE + struct.pack(">I", zlib.crc32(_SOFTWARE))
    return picture[:_HEADER_BYTES] + chunk + picture[_HEADER_BYTES:]


def signed_svg(picture: str) -> bytes:
    """The SVG with a comment before it."""
    return f"<!-- mydyno -->\n{picture}".encode()
