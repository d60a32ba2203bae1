"""From Altair's marks to a Vega-Lite specification.

Altair writes the single marks, with its names for all that they can be. They are put together here as plain
data: Altair copies all of a chart each time that it is combined or changed, longer than drawing it takes.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
from altair.utils import schemapi

from mydyno.page.charts import theme, vega

# Altair checks each mark against Vega-Lite's schema as it is made: a third of the CPU time of a report. The
# tests of charts make these checks (`checked_charts`).
schemapi.disable_debug_mode()

Spec = dict[str, Any]
"""A Vega-Lite specification, or a part of one."""
Layered = Spec
"""Layers over each other. Its `datasets` are those of its marks, by name."""
Chart = Spec
"""Panels in rows."""
Layer = alt.Chart | Layered


def data(rows: Sequence[Mapping[str, object]]) -> alt.InlineData:
    """`rows` inside the chart, whatever their number; as one text, for Altair copies whatever it is given."""
    return alt.InlineData(values=json.dumps(list(rows)), format=alt.JsonDataFormat(type="json"))


def layered(*layers: Layer, **properties: Any) -> Layered:
    """`layers` over each other, the first one lowest, with Vega-Lite's properties of a view."""
    datasets: dict[str, Any] = {}
    parts = [_part(layer, datasets) for layer in layers]
    plain = {name: _plain(value) for name, value in properties.items()}
    return {"layer": parts, "datasets": datasets, **plain}


def side_by_side(panels: Sequence[Layered], columns: int, spacing: Mapping[str, int]) -> Chart:
    """`panels` in rows of `columns`, each with separate scales. `spacing`: pixels of `row` and `column`."""
    datasets: dict[str, Any] = {}
    return {
        "concat": [_part(panel, datasets) for panel in panels],
        "columns": columns,
        "spacing": dict(spacing),
        "resolve": {"scale": {"x": "independent", "y": "independent"}},
        "datasets": datasets,
    }


def _part(layer: Layer, datasets: dict[str, Any]) -> Spec:
    """The layer as data; its rows go to `datasets`, which only a whole chart has."""
    if isinstance(layer, dict):
        datasets |= layer["datasets"]
        return {name: value for name, value in layer.items() if name != "datasets"}
    inline: dict[str, str] = {}
    part: Spec = layer.to_dict(validate=False, context={"top_level": False, "datasets": inline})
    for name, rows in inline.items():
        datasets[name] = json.loads(rows)
        part["data"] = {"name": name}
    return part


def _plain(value: Any) -> Any:
    return value.to_dict(validate=False) if isinstance(value, alt.SchemaBase) else value


def specification(chart: Chart) -> Spec:
    """The chart with the theme."""
    return {**chart, "config": theme.config()}


def svg(chart: Chart) -> str:
    """The chart as an SVG text, transparent."""
    return vega.svg(specification(chart))
