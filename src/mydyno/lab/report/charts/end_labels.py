"""Names at the ends of lines."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from mydyno.lab.report.charts.curve_axes import ValueAxis
from mydyno.page.charts import theme
from mydyno.page.charts.draw import data
from mydyno.page.charts.labels import spread
from mydyno.page.format import shorten


def end_labels(
    ends: Sequence[tuple[str, int, float]], y: ValueAxis, *, characters: int, named: bool
) -> list[alt.Chart]:
    """For each (name, slot, pixel y of its line's end) the name, right of the panel."""
    placed = spread([at for _, _, at in ends], 15, 6, y.height - 4)
    rows = [
        {"name": shorten(name, characters), "value": y.at_pixel(at), "color": theme.color(slot)}
        for (name, slot, _), at in zip(ends, placed, strict=True)
    ]
    return [
        alt.Chart(data(rows))
        .mark_text(align="left", baseline="middle", dx=12, fontSize=12, fontWeight="bold")
        .encode(
            x=alt.XValue("width"),
            y=y.encoding(named=named),
            color=alt.Color("color:N", scale=None, legend=None),
            text=alt.Text("name:N"),
        )
    ]
