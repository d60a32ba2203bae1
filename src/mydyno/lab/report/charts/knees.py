"""The fitted law of scalability behind a panel's curves: faint lines, and above them the optimum of each with
its 95% interval as a labelled bar, joined to the curve's peak by a dashed line."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

from mydyno.lab.analysis.scalability import Scalability
from mydyno.lab.report.charts.curve_axes import LoadAxis, ValueAxis
from mydyno.lab.report.views.curves import Curve, Curves
from mydyno.lab.report.views.optima import load_interval
from mydyno.page.charts import theme
from mydyno.page.charts.draw import data
from mydyno.page.charts.marks import COLOR, texts
from mydyno.page.format import count

LANE = 15
"""Pixels that the bar of one optimum takes, at the top of a panel."""
_STEPS = 48
_CHARACTER_PX = 6.2


def knees(view: Curves) -> Iterator[tuple[Curve, Scalability]]:
    """The curves whose optimum is found."""
    for curve in view.curves:
        if curve.law is not None and curve.law.outcome == "optimum":
            yield curve, curve.law


def knee_layers(view: Curves, x: LoadAxis, y: ValueAxis, *, named: bool) -> Iterator[alt.Chart]:
    lines = [row for curve in view.curves for row in _line(curve, x, y)]
    if lines:
        yield (
            alt.Chart(data(lines))
            .mark_line(strokeWidth=2, opacity=theme.FAINT)
            .encode(x.encoding(), y.encoding(named=named), COLOR, alt.Detail("setting:N"))
        )
    rows = [_knee(curve, law, x, y, lane) for lane, (curve, law) in enumerate(knees(view))]
    if not rows:
        return
    base = alt.Chart(data(rows))
    along, up = x.encoding(), y.encoding("middle", named=named)
    across, tall = (x.encoding("low"), alt.X2("high:Q")), (y.encoding("top", named=named), alt.Y2("bottom:Q"))
    yield base.mark_rect(opacity=theme.FAINT).encode(*across, *tall, COLOR)
    yield base.mark_rule(strokeDash=[2, 4], strokeWidth=1).encode(along, up, alt.Y2("peak:Q"), COLOR)
    yield base.mark_point(shape="diamond", filled=True, size=46, opacity=1, aria=True).encode(
        along, up, COLOR, alt.Description("text:N")
    )
    for align, dx in (("left", 6), ("right", -6)):
        if there := [row for row in rows if row["align"] == align]:
            at = (x.encoding("label_x"), up, COLOR)
            yield texts(there, *at, field="label", align=align, dx=dx, fontSize=11, fontWeight="bold")


def _line(curve: Curve, x: LoadAxis, y: ValueAxis) -> Iterator[dict[str, object]]:
    law = curve.law
    if law is None or law.outcome == "misfit":
        return
    for load in x.between(law.loads[0], law.loads[-1], _STEPS):
        yield {
            "connections": load,
            "value": y.value(law.law.at(load)),
            "color": theme.color(curve.setting.slot),
            "setting": curve.setting.point_id,
        }


def _knee(curve: Curve, found: Scalability, x: LoadAxis, y: ValueAxis, lane: int) -> dict[str, object]:
    at = found.optimum
    low, high = x.inside(found.low or at), x.inside(found.high or at)
    label = f"{count(at)}{load_interval(found).replace('95% CI ', '')}"
    # The name goes right of the bar, or left of it where it would leave the panel.
    left = x.share(high) * x.width + len(label) * _CHARACTER_PX + 10 < x.width
    return {
        "connections": at,
        "low": low,
        "high": high,
        "top": y.at_pixel(lane * LANE + 3),
        "middle": y.at_pixel(lane * LANE + LANE / 2 + 1),
        "bottom": y.at_pixel((lane + 1) * LANE - 1),
        "peak": y.value(found.law.at(at)),
        "label_x": high if left else low,
        "align": "left" if left else "right",
        "label": label,
        "color": theme.color(curve.setting.slot),
        "text": f"{curve.setting.title}: optimum at {count(at)}{load_interval(found)} by the fitted law",
    }
