"""A forest plot: the ratio of two settings at each number of connections or in each test program, and over
all as a diamond."""

from typing import Literal

import altair as alt

from mydyno.lab.report.charts.curve_axes import short_noun
from mydyno.lab.report.quantities import bracketed
from mydyno.lab.report.views.verdicts import RatioRow, Ratios
from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, Layered, layered, side_by_side
from mydyno.page.charts.labels import CHARACTER_PX
from mydyno.page.charts.marks import down, intervals, names, points, texts
from mydyno.page.charts.ratio_axis import RatioAxis, no_difference
from mydyno.page.charts.theme import Size
from mydyno.page.format import change, shorten

_ROW = 26
_LEFT = 92
_LONGEST = 22
"""Characters of a test program's name."""
_NUMBERS = 210


def ratios_chart(views: tuple[Ratios, ...], size: Size) -> Chart:
    """One panel a comparison, all on one scale."""
    columns = 1 if size.width < 900 or len(views) == 1 else 2
    numbers = 0 if size.narrow else _NUMBERS
    gap = 30
    width = (size.width - (columns - 1) * gap) // columns - _left(views) - numbers
    axis = _axis(views, width)
    panels = [_panel(view, axis, width, size, numbered=numbers > 0) for view in views]
    return side_by_side(panels, columns, {"row": gap, "column": gap})


def _left(views: tuple[Ratios, ...]) -> int:
    """Pixels for the names of the rows."""
    longest = max(len(_name(row)) for view in views for row in view.rows)
    return max(_LEFT, int(longest * CHARACTER_PX) + 16)


def _name(row: RatioRow) -> str:
    return "" if row.place is None else shorten(str(row.place), _LONGEST)


def _axis(views: tuple[Ratios, ...], width: int) -> RatioAxis:
    """The same for all panels."""
    rows = [row for view in views for row in view.rows]
    values = (row.value for row in rows if row.value is not None)
    ends = (end for row in rows for end in (row.low, row.high) if end is not None)
    return RatioAxis(values, ends, max((view.margin for view in views), default=0.03), width)


def _panel(view: Ratios, axis: RatioAxis, width: int, size: Size, *, numbered: bool) -> Layered:
    color = theme.color(view.setting.slot)
    height = _ROW * (len(view.rows) + 1)
    titles = 44 if size.width > 900 else 30
    title = f"change in {short_noun(view.metric, view.words)}"
    if not size.narrow:
        title += f" against {shorten(view.against.title, titles)}"
    x = axis.x("value", title)
    rows = [_drawn(view, row, place, axis) for place, row in enumerate(view.rows)]
    y = down(height)
    known = [row for row in rows if row["value"] is not None]
    layers: list[alt.Chart] = [axis.margin_band(view.margin, x), no_difference(x)]
    for overall in (False, True):
        of_kind = [row for row in known if row["overall"] is overall]
        if not of_kind:
            continue
        if any(row["low"] is not None for row in of_kind):
            width_of = 3 if overall else 2
            layers.append(intervals(of_kind, axis.x("low", title), y, color=color, strokeWidth=width_of))
        shape = "diamond" if overall else theme.shape(view.setting.slot)
        size_of = 190 if overall else 64
        layers.append(points(of_kind, x, y, hover="hover", color=color, size=size_of, shape=shape))
    layers += _texts(rows, y, view.words.part if view.by_program else view.words.load, numbered=numbered)
    heading = alt.TitleParams(shorten(view.setting.title, max(24, width // 7)), color=color, offset=4)
    return layered(*layers, width=width, height=height, title=heading)


def _drawn(view: Ratios, row: RatioRow, place: int, axis: RatioAxis) -> dict[str, object]:
    overall = row.place is None
    whole = "total" if view.metric.summed else "overall"
    if row.place is None:
        where = whole
    else:
        where = row.place if isinstance(row.place, str) else view.words.amount(row.place)
    return {
        "label": whole if overall else _name(row),
        "overall": overall,
        # The overall row stands a little apart.
        "y": _ROW * (place + (1.0 if overall else 0.5)),
        "value": axis.inside_or_none(row.value),
        "low": axis.inside_or_none(row.low),
        "high": axis.inside_or_none(row.high),
        "text": ratio_text(row),
        "hover": f"{where}: {ratio_text(row)}, n={row.n[0]} vs {row.n[1]}",
    }


def ratio_text(row: RatioRow) -> str:
    """`+12.4% (+9.1 to +15.8)`"""
    return f"{change(row.value)}{bracketed(row.low, row.high, lambda end: change(end).removesuffix('%'))}"


def _texts(rows: list[dict[str, object]], y: alt.Y, heading: str, *, numbered: bool) -> list[alt.Chart]:
    layers = [_heading(heading, 0, "right")]
    if numbered:
        layers.append(_heading("change (95% interval)", "width", "left"))
    for overall in (False, True):
        of_kind = [row for row in rows if row["overall"] is overall]
        weight = "bold" if overall else "normal"
        layers.append(names(of_kind, y, field="label", fontWeight=weight))
        if numbered:
            right = alt.XValue("width")
            layers.append(texts(of_kind, right, y, field="text", align="left", dx=14, fontWeight=weight))
    return layers


def _heading(text: str, x: Literal[0, "width"], align: Literal["left", "right"]) -> alt.Chart:
    """Above the names at the left, or above the numbers right of the panel."""
    at, dx = (alt.XValue(x), alt.YValue(-4)), -10 if x == 0 else 14
    return texts([{"name": text}], *at, align=align, dx=dx, baseline="bottom", color=theme.MUTED)
