"""Seconds of each test program: a mark a setting with its interval, the trials as dots, the total below."""

import altair as alt

from mydyno.lab.report.charts.curve_axes import BarAxis
from mydyno.lab.report.evidence import Setting
from mydyno.lab.report.quantities import bracketed
from mydyno.lab.report.views.curves import Measured
from mydyno.lab.report.views.operations import ProgramRow, Programs
from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, data, layered, side_by_side
from mydyno.page.charts.labels import CHARACTER_PX, legend
from mydyno.page.charts.marks import bands, down, intervals, names, points
from mydyno.page.charts.theme import Size
from mydyno.page.format import seconds, shorten

_LINE = 11
"""Pixels for each setting within a row."""
_BETWEEN = 12
_RIGHT = 12
_LONGEST = 22


def programs_chart(view: Programs, size: Size) -> Chart:
    """One row a test program, and the total of all apart from them."""
    left = max(60, int(max(len(_name(row)) for row in view.rows) * CHARACTER_PX) + 16)
    width = size.width - left - _RIGHT
    row_height = _LINE * len(view.settings) + _BETWEEN
    height = row_height * len(view.rows) + _BETWEEN
    x = _axis(view, width)
    y = down(height)
    tops = [
        place * row_height + (_BETWEEN if row.program is None else 0) for place, row in enumerate(view.rows)
    ]
    # Every second row is pale, so that the eye keeps to it; so is the total.
    layers = [bands([{"y": top, "to": top + row_height} for top in tops[::2]], y)]
    for place, setting in enumerate(view.settings):
        cells = [
            (top + _BETWEEN / 2 + _LINE * (place + 0.5), row, row.seconds[place])
            for top, row in zip(tops, view.rows, strict=True)
        ]
        layers += _setting(setting, [(at, row, cell) for at, row, cell in cells if cell is not None], x, y)
    for total, weight in ((False, "normal"), (True, "bold")):
        titles = [
            {"y": top + row_height / 2, "name": _name(row)}
            for top, row in zip(tops, view.rows, strict=True)
            if (row.program is None) is total
        ]
        layers.append(names(titles, y, fontWeight=weight))
    if not size.narrow and len(view.settings) > 1:
        layers += legend([(setting.short, setting.slot) for setting in view.settings], width)
    return side_by_side([layered(*layers, width=width, height=height)], 1, {"row": 0, "column": 0})


def _axis(view: Programs, width: int) -> BarAxis:
    """Logarithmic where the shortest would vanish next to the total."""
    least, most = view.least_positive, view.most or 1.0
    if not view.spreads or least is None:
        return BarAxis("running time, s", None, most * 1.05, width)
    return BarAxis("running time, s", least / 1.4, most * 1.15, width)


def _setting(
    setting: Setting, cells: list[tuple[float, ProgramRow, Measured]], x: BarAxis, y: alt.Y
) -> list[alt.Chart]:
    color = theme.color(setting.slot)
    trials = [
        {"y": at, "value": x.value(value)} for at, _, cell in cells if cell.n > 1 for value in cell.trials
    ]
    bars = [
        {"y": at, "low": x.value_or_none(cell.low), "high": x.value_or_none(cell.high)}
        for at, _, cell in cells
        if cell.low is not None
    ]
    layers = [
        alt.Chart(data(trials))
        .mark_circle(color=color, size=24, opacity=theme.FAINT)
        .encode(x=x.encoding(), y=y)
    ]
    if bars:
        layers.append(intervals(bars, x.encoding("low"), y, color=color))
    for total in (False, True):
        rows = [
            {"y": at, "value": x.value(cell.value), "text": _cell_text(setting, row, cell)}
            for at, row, cell in cells
            if (row.program is None) is total
        ]
        size = 84 if total else 52
        layers.append(points(rows, x.encoding(), y, shape=theme.shape(setting.slot), size=size, color=color))
    return layers


def _cell_text(setting: Setting, row: ProgramRow, cell: Measured) -> str:
    error = bracketed(cell.low, cell.high)
    return f"{setting.title}, {row.program or 'total'}: {seconds(cell.value)}{error}, n={cell.n}"


def _name(row: ProgramRow) -> str:
    return "total" if row.program is None else shorten(row.program, _LONGEST)
