"""From an Altair chart to its Vega-Lite specification, and on to the bytes of an SVG or a PNG by vl-convert:
no browser, no network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import vl_convert

from mydyno.report.charts import theme
from mydyno.report.format import GROUP

Chart = alt.ConcatChart
Layer = alt.Chart | alt.LayerChart
Spec = dict[str, Any]
"""A Vega-Lite specification."""

LOCALE = {"decimal": ".", "thousands": GROUP, "grouping": [3], "currency": ["", ""]}


def data(rows: Sequence[Mapping[str, object]]) -> alt.InlineData:
    """`rows` inside the chart, whatever their number; as one text, for Altair copies whatever it combines."""
    return alt.InlineData(values=json.dumps(list(rows)), format=alt.JsonDataFormat(type="json"))


def layered(*layers: Layer, **properties: Any) -> alt.LayerChart:
    """`layers` over each other, the first one lowest. All properties at once: each change of an Altair chart
    copies all of it."""
    return alt.LayerChart(layer=list(layers), **properties)


def side_by_side(panels: Sequence[alt.LayerChart], columns: int, spacing: Mapping[str, int]) -> Chart:
    """`panels` in rows of `columns`, each with scales of its own. `spacing`: pixels of `row` and `column`."""
    own = alt.Resolve(scale=alt.ScaleResolveMap(x="independent", y="independent"))
    return alt.ConcatChart(concat=list(panels), columns=columns, spacing=dict(spacing), resolve=own)


def specification(chart: Chart) -> Spec:
    """The chart as Vega-Lite, with the theme. Altair's own check of it takes longer than drawing it does;
    tests make it for every chart."""
    spec: Spec = chart.to_dict(validate=False)
    spec.pop("$schema", None)
    spec["config"] = theme.config()
    return spec


def svg(chart: Chart) -> str:
    """The chart as an SVG text, transparent."""
    return rendered(specification(chart))


def rendered(spec: Spec) -> str:
    """What a specification looks like, as an SVG text."""
    drawn: str = vl_convert.vegalite_to_svg(spec, format_locale=LOCALE, allowed_base_urls=[])
    return drawn


def png(drawn: str, scale: float = 2.0) -> bytes:
    """An SVG as a PNG, `scale` dots for each CSS pixel."""
    return bytes(vl_convert.svg_to_png(drawn, scale=scale))
