"""Two factors as coloured cells: how many times as fast as the first column of its row each cell is.

Blue is faster and orange slower, which the common kinds of colour blindness tell apart; the number says the
same. Only a difference that the trials show has a colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import altair as alt

from mydyno.report.charts import theme
from mydyno.report.charts.draw import Chart, Layered, data, layered, side_by_side
from mydyno.report.charts.labels import CHARACTER_PX
from mydyno.report.charts.theme import Size
from mydyno.report.comparison_tables import cell_text, labels, what
from mydyno.report.format import MISSING, number, shorten
from mydyno.report.views.comparison import Cell, ComparisonTable, Row
from mydyno.report.views.heat_map import HeatMap, shown

_CELL = 38
"""Height of a cell with two lines of text; a narrow or a small one has one line."""
_SMALL_CELL = 20
_LONGEST = 34
_GAP = 22

STEPS = (0.8, 1.25)
"""Slower than the one or faster than the other: a stronger colour."""


@dataclass(frozen=True)
class _Frame:
    """What the panels of one size share."""

    view: ComparisonTable
    width: int
    row_height: int
    names: tuple[str, ...]
    """Of the rows; empty where the panel to the left has them."""
    heads: tuple[str, ...]


def heat_map_chart(view: ComparisonTable, maps: Sequence[HeatMap], size: Size) -> Chart:
    """The first map large; `small_maps_chart` draws the others."""
    return side_by_side([_panel(maps[0], _frame(view, maps[0], size.width, size, _CELL))], 1, _spacing())


def small_maps_chart(view: ComparisonTable, maps: Sequence[HeatMap], size: Size) -> Chart:
    """A small map for each test program, all of one form."""
    columns = 1 if size.narrow else 2
    width = (size.width - _GAP * (columns - 1)) // columns
    panels = [_panel(each, _frame(view, each, width, size, _SMALL_CELL)) for each in maps]
    return side_by_side(panels, columns, _spacing())


def _spacing() -> dict[str, int]:
    return {"row": 26, "column": _GAP}


def _frame(view: ComparisonTable, of: HeatMap, width: int, size: Size, row_height: int) -> _Frame:
    names = [_name(view, row, alike=_alike(view, of)) for row in of.rows]
    left = min(int(width * 0.38), int(max(map(len, names)) * CHARACTER_PX) + 14)
    fitting = max(6, int((left - 14) / CHARACTER_PX))
    inner = width - left - 6
    heads = max(3, int(inner / len(view.columns) / CHARACTER_PX))
    return _Frame(
        view,
        inner,
        row_height,
        tuple(shorten(name, min(_LONGEST, fitting)) for name in names),
        tuple(shorten(column.level, heads) for column in view.columns),
    )


def _alike(view: ComparisonTable, of: HeatMap) -> str:
    """What all of its cells are, for the title; empty where rows differ in that."""
    found = {what(view, row) for row in of.rows}
    return found.pop() if len(found) == 1 else ""


def _name(view: ComparisonTable, row: Row, *, alike: str) -> str:
    """Of a row in a map whose title says what was measured: its levels alone."""
    return " · ".join(row.levels if alike and row.levels else labels(view, row)) or MISSING


def _panel(of: HeatMap, frame: _Frame) -> Layered:
    height = frame.row_height * len(of.rows)
    rows = list(_cells(of, frame))
    base = alt.Chart(data(rows))
    x, y = _x(frame), _y(height)
    large = frame.row_height >= _CELL
    layers = [
        base.mark_rect(stroke=theme.PAPER, strokeWidth=2, aria=True).encode(
            x=x,
            x2="to:Q",
            y=_y(height, "top"),
            y2="bottom:Q",
            color=alt.Color("fill:N", scale=None, legend=None),
            description="told:N",
        )
    ]
    for field, dy, muted in (("ratio", -7 if large else 0, False), ("below", 8, True)):
        if muted and not large:
            continue
        layers.append(
            base.mark_text(
                baseline="middle",
                dy=dy,
                fontSize=11 if muted else 12,
                color=theme.MUTED if muted else theme.INK,
            ).encode(x=_x(frame, "middle"), y=y, text=f"{field}:N")
        )
    names = [{"y": (place + 0.5) * frame.row_height, "name": name} for place, name in enumerate(frame.names)]
    layers.append(
        alt.Chart(data(names))
        .mark_text(align="right", baseline="middle")
        .encode(x=alt.value(-8), y=y, text="name:N")
    )
    heads = [{"middle": place + 0.5, "name": name} for place, name in enumerate(frame.heads)]
    layers.append(
        alt.Chart(data(heads))
        .mark_text(baseline="bottom", fontWeight="bold")
        .encode(x=_x(frame, "middle"), y=alt.value(-5), text="name:N")
    )
    corner = [{"name": ", ".join(factor.rpartition(".")[2] for factor in frame.view.others)}]
    layers.append(
        alt.Chart(data(corner))
        .mark_text(align="right", baseline="bottom", color=theme.MUTED)
        .encode(x=alt.value(-8), y=alt.value(-5), text="name:N")
    )
    name = of.name or _alike(frame.view, of)
    title = {"title": alt.TitleParams(name, offset=20)} if name else {}
    return layered(*layers, width=frame.width, height=height, **title)


def _x(frame: _Frame, field: str = "from") -> alt.X:
    return alt.X(f"{field}:Q", axis=None, scale=alt.Scale(domain=[0, len(frame.heads)], nice=False))


def _y(height: int, field: str = "y") -> alt.Y:
    return alt.Y(f"{field}:Q", axis=None, scale=alt.Scale(domain=[0, height], reverse=True, nice=False))


def _cells(of: HeatMap, frame: _Frame) -> Iterator[dict[str, object]]:
    for place, row in enumerate(of.rows):
        for column, cell in enumerate(row.cells):
            told = cell_text(row, cell)
            yield {
                "from": column,
                "middle": column + 0.5,
                "to": column + 1,
                "top": place * frame.row_height,
                "y": (place + 0.5) * frame.row_height,
                "bottom": (place + 1) * frame.row_height,
                "fill": fill(row, cell),
                "ratio": in_cell(row, cell),
                "below": told.size
                if cell is None or cell.at is None
                else f"{_short(told.mean)}, n={cell.at.n}",
                "told": f"{frame.view.columns[column].level}, {', '.join(labels(frame.view, row))}: "
                f"{'; '.join(told.lines)}",
            }


def in_cell(row: Row, cell: Cell | None) -> str:
    """`1.24×`, `≈ 1.02×` where the trials show no difference, a dash where there is no number."""
    if cell is None or cell.at is None:
        return MISSING
    speed = cell.speed(row.metric)
    if speed is None:
        return "1×" if cell.held is None else MISSING
    cost = " ⚠" if cell.held is not None and cell.held.less_durable else ""
    times = f"{speed[0]:.2f}" if speed[0] < 10 else number(speed[0])
    return f"{'' if shown(cell) else '≈ '}{times}×{cost}"


def fill(row: Row, cell: Cell | None) -> str:
    speed = None if cell is None else cell.speed(row.metric)
    if cell is None or speed is None or not shown(cell):
        return theme.BAND
    if speed[0] > 1:
        return theme.FASTER[1] if speed[0] > STEPS[1] else theme.FASTER[0]
    return theme.SLOWER[1] if speed[0] < STEPS[0] else theme.SLOWER[0]


def _short(mean: str) -> str:
    """Without its interval, which stands in the table."""
    return mean.partition(" (")[0]
