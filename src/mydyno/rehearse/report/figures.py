"""The chart of a comparison: a forest of the statements with the largest share of the time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, layered, side_by_side
from mydyno.page.charts.labels import CHARACTER_PX
from mydyno.page.charts.marks import down, intervals, points, texts
from mydyno.page.charts.ratio_axis import RatioAxis, no_difference
from mydyno.page.charts.theme import Size
from mydyno.page.drawing import Figure
from mydyno.page.format import change, count, printable, shorten
from mydyno.rehearse.records import Rehearsal, SideComparison, StatementComparison, Times, Timing
from mydyno.rehearse.wording import interval_text

MOST = 15
"""Statements that are drawn."""
_ROW = 44
"""Pixels of a row: a name with the mark below it."""
_MIDDLE = 26
"""Pixels from a row's top to the middle of its mark."""
_HALF = 8
"""Pixels above and below that middle which are the mark's."""
_LEFT, _RIGHT = 10, 10
_LONGEST = 90


@dataclass(frozen=True)
class _Look:
    """A mark of one timing; never a colour alone."""

    shape: str
    fill: str
    edge: str


_LOOKS: dict[Timing, _Look] = {
    "slower": _Look("triangle-right", theme.SERIES[1], theme.SERIES[1]),
    "faster": _Look("triangle-left", theme.SERIES[0], theme.SERIES[0]),
    "same": _Look("circle", theme.INK, theme.INK),
    "unclear": _Look("circle", theme.PAPER, theme.MUTED),
}


@dataclass(frozen=True)
class Row:
    name: str
    times: Times
    share: float | None
    """Of the time, the larger one of both sides; None for the whole trace."""

    @property
    def figures(self) -> str:
        of = "" if self.share is None else f"{self.share * 100:.1f}% of the time, "
        return f"{of}{interval_text(self.times)}"


def forest_rows(comparison: SideComparison) -> tuple[Row, ...]:
    """The statements that were timed, the largest share of the time first, at most `MOST`; last the trace."""
    timed = [each for each in comparison.statements if each.times.ratio is not None]
    first = sorted(timed, key=lambda each: (-_share(each), each.id))[:MOST]
    rows = [Row(printable(each.text), each.times, _share(each)) for each in first]
    if rows and comparison.total.ratio is not None:
        rows.append(Row("whole trace", comparison.total, None))
    return tuple(rows)


def _share(statement: StatementComparison) -> float:
    return max(statement.shares)


def forest(rehearsal: Rehearsal, number: int) -> Figure | None:
    """Of the comparison with that number, from 0; None where no statement was timed."""
    comparison = rehearsal.comparisons[number]
    rows = forest_rows(comparison)
    if not rows:
        return None
    drawn = sum(row.share is not None for row in rows)
    timed = sum(each.times.ratio is not None for each in comparison.statements)
    which = "all statements that were timed"
    if drawn < timed:
        all_of = count(len(comparison.statements))
        which = f"{drawn} of {all_of} statements, those with the largest share of the time on either side"
    title = f"Service times, {printable(comparison.other)} against {printable(comparison.baseline)}"
    caption = (
        f"Change in service time of {which}, and of the whole trace (diamond). Lines are 95% intervals over"
        f" repetitions; the pale band is the margin of {rehearsal.margin * 100:.0f}%. Triangles to the right:"
        " slower; to the left: faster. Dots: the same within the margin. Rings: unclear."
    )
    return Figure(
        name=f"forest-{number + 1}",
        title=title,
        caption=caption,
        draw=lambda size: forest_chart(rows, rehearsal.margin, size),
        picture_title=title,
        picture_subtitle=(caption,),
        colored=False,
    )


def forest_chart(rows: Sequence[Row], margin: float, size: Size) -> Chart:
    """A row for each, its name above its mark: statements are too long to stand left of it."""
    width, height = size.width - _LEFT - _RIGHT, _ROW * len(rows)
    axis = RatioAxis(
        (row.times.ratio for row in rows if row.times.ratio is not None),
        (end for row in rows for end in (row.times.low, row.times.high) if end is not None),
        margin,
        width,
    )
    x, y = axis.x("value", "change in service time"), down(height)
    layers = [axis.margin_band(margin, x), _zero(rows, x, y), *_names(rows, width, y, size)]
    drawn = [_drawn(row, place, axis) for place, row in enumerate(rows)]
    for timing, look in _LOOKS.items():
        for whole in (False, True):
            some = [each for each in drawn if each["timing"] == timing and each["whole"] is whole]
            if not some:
                continue
            if any(each["low"] is not None for each in some):
                line = axis.x("low", "change in service time")
                layers.append(intervals(some, line, y, color=look.edge, strokeWidth=3 if whole else 2))
            shape, area = ("diamond", 170) if whole else (look.shape, 80)
            layers.append(
                points(some, x, y, shape=shape, size=area, fill=look.fill, stroke=look.edge, strokeWidth=1.6)
            )
    return side_by_side([layered(*layers, width=width, height=height)], 1, {"row": 0, "column": 0})


def _zero(rows: Sequence[Row], x: alt.X, y: alt.Y) -> alt.Chart:
    """Behind the marks alone: names can be read where no line crosses them."""
    middles = [place * _ROW + _MIDDLE for place in range(len(rows))]
    parts = [{"value": 1.0, "y": middle - _HALF, "to": middle + _HALF} for middle in middles]
    return no_difference(x, y, alt.Y2("to:Q"), rows=parts)


def _drawn(row: Row, place: int, axis: RatioAxis) -> dict[str, object]:
    times = row.times
    return {
        "y": place * _ROW + _MIDDLE,
        "value": axis.inside_or_none(times.ratio),
        "low": axis.inside_or_none(times.low),
        "high": axis.inside_or_none(times.high),
        "timing": times.timing,
        "whole": row.share is None,
        "text": f"{shorten(row.name, _LONGEST)}: {times.timing}, {row.figures}",
    }


def _names(rows: Sequence[Row], width: int, y: alt.Y, size: Size) -> list[alt.Chart]:
    """Above each mark the name, and at the right its figures; a phone has room for the ratio alone."""
    lines: list[dict[str, object]] = []
    for place, row in enumerate(rows):
        figures = change(row.times.ratio) if size.narrow else row.figures
        room = min(_LONGEST, int(width / CHARACTER_PX) - len(figures) - 4)
        lines.append({"y": place * _ROW, "name": shorten(row.name, room), "figures": figures})
    above: dict[str, Any] = {"baseline": "top", "dy": 3}
    return [
        texts(lines, alt.XValue(0), y, align="left", **above),
        texts(lines, alt.XValue("width"), y, field="figures", align="right", fontWeight="bold", **above),
    ]
