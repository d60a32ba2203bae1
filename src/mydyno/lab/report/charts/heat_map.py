"""Two factors as coloured cells: how many times as fast as the first column of its row each cell is.

Blue is faster and orange slower, which readers with common colour blindness can distinguish; the number says
the same. Only a difference that the trials show has a colour.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import altair as alt

from mydyno.core.factors import last_part
from mydyno.lab.report.comparison_tables import cell_text, labels, what
from mydyno.lab.report.views.comparison import Cell, ComparisonTable, HeatMap, Row, filled
from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, data, layered, side_by_side
from mydyno.page.charts.labels import CHARACTER_PX
from mydyno.page.charts.marks import COLOR, down, texts
from mydyno.page.charts.theme import Size
from mydyno.page.format import MISSING, number, shorten

_CELL = 38
"""Height of a cell with two lines of text."""
_SMALL_CELL = 20
"""Of one with the ratio alone: in a small map, and where a cell is narrow."""
_TWO_LINES = 84
"""Pixels across that the second line needs."""
_LONGEST = 34
_GAP = 22
_HEAD = 24
"""Pixels above the cells, for the names of the columns."""
_TITLE = 24

STEPS = (0.8, 1.25)
"""Slower than the one or faster than the other: a stronger colour."""

Texts = list[dict[str, object]]


@dataclass(frozen=True)
class _Placed:
    """A map at its place in the picture, in pixels: all of them are drawn in one view, which is quick."""

    of: HeatMap
    left: float
    """Of its cells; the names of its rows are left of it."""
    top: float
    cell_width: float
    cell_height: int

    @property
    def bottom(self) -> float:
        return self.top + self.cell_height * len(self.of.rows)

    def middle(self, row: int) -> float:
        return self.top + (row + 0.5) * self.cell_height


def heat_map_chart(view: ComparisonTable, maps: Sequence[HeatMap], size: Size) -> Chart:
    """The first map; `small_maps_chart` draws the others."""
    return _drawn(view, maps[:1], size, columns=1, cell_height=_CELL)


def small_maps_chart(view: ComparisonTable, maps: Sequence[HeatMap], size: Size) -> Chart:
    """A small map for each test program, all of one form."""
    return _drawn(view, maps, size, columns=1 if size.narrow else 2, cell_height=_SMALL_CELL)


def _drawn(
    view: ComparisonTable, maps: Sequence[HeatMap], size: Size, *, columns: int, cell_height: int
) -> Chart:
    view, maps = filled(view, maps)
    width = (size.width - _GAP * (columns - 1)) / columns
    names = {_factors(view), *(name for each in maps for name in _names(view, each))}
    left = min(width * 0.38, max(map(len, names)) * CHARACTER_PX + 14)
    cell = (width - left) / len(view.columns)
    cell_height = cell_height if cell >= _TWO_LINES else _SMALL_CELL
    placed: list[_Placed] = []
    top = 0.0
    for place, each in enumerate(maps):
        column = place % columns
        if column == 0 and place:
            top = max(one.bottom for one in placed) + _GAP
        placed.append(_Placed(each, column * (width + _GAP) + left, top + _TITLE + _HEAD, cell, cell_height))
    height = max(one.bottom for one in placed)
    frame = _Frame(view, size.width, height)
    layers = [*_cells_layers(placed, frame), *_text_layers(placed, frame, left)]
    return side_by_side([layered(*layers, width=size.width, height=height)], 1, {"row": 0, "column": 0})


@dataclass(frozen=True)
class _Frame:
    view: ComparisonTable
    width: float
    height: float

    def x(self, field: str = "x") -> alt.X:
        return alt.X(f"{field}:Q", axis=None, scale=alt.Scale(domain=[0, self.width], nice=False))

    def y(self, field: str = "y") -> alt.Y:
        return down(self.height, field)


def _names(view: ComparisonTable, of: HeatMap) -> list[str]:
    """Of its rows: where its title says what was measured, their levels alone."""
    alike = _alike(view, of)
    return [" · ".join(row.levels if alike and row.levels else labels(view, row)) for row in of.rows]


def _factors(view: ComparisonTable) -> str:
    """Of which the names of rows are levels."""
    return ", ".join(last_part(factor) for factor in view.others)


def _alike(view: ComparisonTable, of: HeatMap) -> str:
    """What all of its cells are, for the title; empty where rows differ in that."""
    alike = {what(view, row) for row in of.rows}
    return alike.pop() if len(alike) == 1 else ""


def _cells_layers(placed: Sequence[_Placed], frame: _Frame) -> Iterator[alt.Chart]:
    base = alt.Chart(data([row for one in placed for row in _cells(one, frame.view)]))
    yield base.mark_rect(stroke=theme.PAPER, strokeWidth=2, aria=True).encode(
        x=frame.x("left"),
        x2=alt.X2("right:Q"),
        y=frame.y("top"),
        y2=alt.Y2("bottom:Q"),
        color=COLOR,
        description=alt.Description("text:N"),
    )
    large = placed[0].cell_height >= _CELL
    middle = {"x": frame.x(), "y": frame.y()}
    yield base.mark_text(baseline="middle", dy=-7 if large else 0).encode(text=alt.Text("ratio:N"), **middle)
    if large:
        yield base.mark_text(baseline="middle", dy=8, fontSize=11, color=theme.MUTED).encode(
            text=alt.Text("below:N"), **middle
        )


def _text_layers(placed: Sequence[_Placed], frame: _Frame, left: float) -> Iterator[alt.Chart]:
    """Names of rows, of the factors that they are levels of, of columns, and of the maps."""
    rows: Texts = []
    factors: Texts = []
    heads: Texts = []
    titles: Texts = []
    longest = min(_LONGEST, max(6, int((left - 10) / CHARACTER_PX)))
    fitting = max(3, int(placed[0].cell_width / CHARACTER_PX))
    for one in placed:
        over, end = one.top - 6, one.left - 8
        for place, name in enumerate(_names(frame.view, one.of)):
            rows.append({"x": end, "y": one.middle(place), "text": shorten(name, longest)})
        factors.append({"x": end, "y": over, "text": shorten(_factors(frame.view), longest)})
        for place, column in enumerate(frame.view.columns):
            at = one.left + (place + 0.5) * one.cell_width
            heads.append({"x": at, "y": over, "text": shorten(column.level, fitting)})
        name = one.of.name or _alike(frame.view, one.of)
        titles.append({"x": one.left, "y": one.top - _HEAD - 6, "text": name})
    at_pixel, above = (frame.x(), frame.y()), {"field": "text", "baseline": "bottom"}
    yield texts(rows, *at_pixel, field="text", align="right")
    yield texts(factors, *at_pixel, **above, align="right", color=theme.MUTED)
    yield texts(heads, *at_pixel, **above, align="center", fontWeight="bold")
    yield texts(titles, *at_pixel, **above, align="left", fontWeight="bold")


def _cells(one: _Placed, view: ComparisonTable) -> Iterator[dict[str, object]]:
    for place, row in enumerate(one.of.rows):
        for column, cell in enumerate(row.cells):
            text = cell_text(row, cell)
            left, top = one.left + column * one.cell_width, one.top + place * one.cell_height
            yield {
                "left": left,
                "x": left + one.cell_width / 2,
                "right": left + one.cell_width,
                "top": top,
                "y": one.middle(place),
                "bottom": top + one.cell_height,
                "color": fill(row, cell),
                "ratio": "1×" if column == 0 and cell and cell.at else in_cell(row, cell),
                "below": f"{_short(text.mean)}, {text.size}" if cell and cell.at else "",
                "text": f"{view.columns[column].level}, {', '.join(labels(view, row))}: "
                f"{'; '.join(text.lines)}",
            }


def in_cell(row: Row, cell: Cell | None) -> str:
    """`1.24×`; `≈ 1.02×` where there is no difference, `1.02× ?` where the trials do not decide; a dash where
    there is no number, or none to compare it with."""
    speed = None if cell is None else cell.speed(row.metric)
    if cell is None or cell.compared is None or speed is None:
        return MISSING
    times = f"{speed[0]:.2f}×" if speed[0] < 10 else f"{number(speed[0])}×"
    signs = {"no-difference": f"≈ {times}", "not-enough-data": f"{times} ?"}
    return signs.get(cell.compared.outcome, times) + (" ⚠" if cell.compared.less_durable else "")


def fill(row: Row, cell: Cell | None) -> str:
    speed = None if cell is None else cell.speed(row.metric)
    if cell is None or speed is None or cell.compared is None or not cell.compared.shown:
        return theme.BAND
    if speed[0] > 1:
        return theme.FASTER[1] if speed[0] > STEPS[1] else theme.FASTER[0]
    return theme.SLOWER[1] if speed[0] < STEPS[0] else theme.SLOWER[0]


def _short(mean: str) -> str:
    """Without its interval, which is in the table."""
    return mean.partition(" (")[0]
