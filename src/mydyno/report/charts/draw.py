"""From an Altair chart to the bytes of an SVG or a PNG, by vl-convert: no browser, no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import vl_convert

from mydyno.report.charts import theme
from mydyno.report.format import GROUP

Chart = alt.ConcatChart
Layer = alt.Chart | alt.LayerChart

_LOCALE = {"decimal": ".", "thousands": GROUP, "grouping": [3], "currency": ["", ""]}


def data(rows: Sequence[Mapping[str, object]]) -> alt.InlineData:
    """`rows` inside the chart, whatever their number."""
    return alt.InlineData(values=[dict(row) for row in rows])


def layered(*layers: Layer) -> alt.LayerChart:
    """`layers` over each other, the first one lowest."""
    return alt.LayerChart(layer=list(layers))


def side_by_side(panels: Sequence[alt.LayerChart], columns: int, spacing: Mapping[str, int]) -> Chart:
    """`panels` in rows of `columns`, each with scales of its own. `spacing`: pixels of `row` and `column`."""
    grid = alt.ConcatChart(concat=list(panels), columns=columns, spacing=dict(spacing))
    drawn: Chart = grid.resolve_scale(x="independent", y="independent")
    return drawn


def svg(chart: Chart, text_px: int = 12) -> str:
    """The chart as an SVG text with a transparent background."""
    drawn: str = vl_convert.vegalite_to_svg(
        _spec(chart, text_px, background=None), format_locale=_LOCALE, allowed_base_urls=[]
    )
    return drawn


def png(chart: Chart, text_px: int = 12, scale: float = 2.0) -> bytes:
    """The chart as a PNG on white, `scale` dots for each CSS pixel."""
    drawn: bytes = vl_convert.vegalite_to_png(
        _spec(chart, text_px, background=theme.PAPER),
        scale=scale,
        format_locale=_LOCALE,
        allowed_base_urls=[],
    )
    return drawn


def _spec(chart: Chart, text_px: int, background: str | None) -> dict[str, Any]:
    spec: dict[str, Any] = chart.to_dict()
    spec["config"] = theme.config(text_px) | {"background": background}
    return spec
