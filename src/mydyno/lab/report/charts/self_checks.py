"""Self-checks of the disks: each trial's IOPS as a dot, theory as a line with its tolerance around it."""

import altair as alt

from mydyno.lab.report.evidence import Setting
from mydyno.lab.report.views.ground import OPERATIONS, CheckRow, GroundView
from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, Layered, data, layered, side_by_side
from mydyno.page.charts.labels import CHARACTER_PX
from mydyno.page.charts.marks import bands, down, names, points, texts
from mydyno.page.charts.theme import Size
from mydyno.page.format import count, shorten

_ROW = 26
_LONGEST = 36
_NUMBERS = 112
"""Pixels for the figures right of a panel."""
_GAP = 26
_BOLD = 1.1
"""A bold character is wider by that."""


def self_checks_chart(view: GroundView, size: Size) -> Chart:
    """A panel for writes and one for reads, next to each other where they fit; a row a volume."""
    operations = tuple(name for name in OPERATIONS if any(row.operation == name for row in view.checks))
    places = tuple(dict.fromkeys((row.setting, row.volume) for row in view.checks))
    titles = [_name(view, setting, volume, _LONGEST) for setting, volume in places]
    columns = 1 if size.width < 900 else len(operations)
    left = min(int(size.width * 0.4), int(max(map(len, titles)) * CHARACTER_PX * _BOLD) + 16)
    fitting = int((left - 16) / (CHARACTER_PX * _BOLD))
    titles = [_name(view, setting, volume, fitting) for setting, volume in places]
    numbers = 0 if size.narrow else _NUMBERS
    # Next to another panel, only the first panel names the rows.
    width = (size.width - left - (columns - 1) * _GAP) // columns - numbers - 6
    most = max([*(value for row in view.checks for value in _extent(row)), 1.0]) * 1.06
    panels = [
        _panel(
            [row for row in view.checks if row.operation == operation],
            places,
            titles if number % columns == 0 else [],
            operation,
            width=width,
            most=most,
            numbered=numbers > 0,
        )
        for number, operation in enumerate(operations)
    ]
    return side_by_side(panels, columns, {"row": _GAP, "column": _GAP})


def _panel(
    rows: list[CheckRow],
    places: tuple[tuple[Setting, str], ...],
    titles: list[str],
    operation: str,
    *,
    width: int,
    most: float,
    numbered: bool,
) -> Layered:
    height = _ROW * len(places)
    y = down(height)
    x = alt.X(
        "value:Q",
        title="I/Os per second",
        scale=alt.Scale(domain=[0, most], nice=False),
        axis=alt.Axis(format=",~f", tickCount=max(3, width // 80), grid=True),
    )
    at = {row: _ROW * (places.index((row.setting, row.volume)) + 0.5) for row in rows}
    layers = [_allowed(at, x, y), _theory(at, x, y)]
    for row, middle in at.items():
        layers.append(_dots(row, middle, x, y))
    if numbered:
        numbers = [{"y": middle, "name": short_text(row)} for row, middle in at.items()]
        layers.append(texts(numbers, alt.XValue("width"), y, align="left", dx=10))
    for place, (name, (setting, _)) in enumerate(zip(titles, places, strict=False)):
        row_of = {"y": _ROW * (place + 0.5), "name": name}
        layers.append(names([row_of], y, fontWeight="bold", color=theme.color(setting.slot)))
    title = f"{_block(rows)} {OPERATIONS[operation]}"
    return layered(*layers, width=width, height=height, title=title)


def _block(rows: list[CheckRow]) -> str:
    return "/".join(f"{size // 1024}K" for size in sorted({row.block_bytes for row in rows}))


def _name(view: GroundView, setting: Setting, volume: str, most: int) -> str:
    several = f", {volume}" if len(view.volumes) > 1 else ""
    return shorten(setting.short, most - len(several)) + several


def _extent(row: CheckRow) -> list[float]:
    theory = [] if row.expected_iops is None else [row.expected_iops * (1 + (row.tolerance or 0))]
    return [*row.measured_iops, *theory]


def _allowed(at: dict[CheckRow, float], x: alt.X, y: alt.Y) -> alt.Chart:
    """What needs no remark, pale."""
    rows = [
        {
            "y": middle - _ROW * 0.36,
            "to": middle + _ROW * 0.36,
            "value": row.expected_iops * (1 - row.tolerance),
            "to_x": row.expected_iops * (1 + row.tolerance),
        }
        for row, middle in at.items()
        if row.expected_iops is not None and row.tolerance is not None
    ]
    return bands(rows, y, x, alt.X2("to_x:Q"), color=theme.GRID)


def _theory(at: dict[CheckRow, float], x: alt.X, y: alt.Y) -> alt.Chart:
    rows = [
        {"y": middle - _ROW * 0.42, "to_y": middle + _ROW * 0.42, "value": row.expected_iops}
        for row, middle in at.items()
        if row.expected_iops is not None
    ]
    drawn: alt.Chart = (
        alt.Chart(data(rows)).mark_rule(color=theme.INK, strokeWidth=2).encode(x=x, y=y, y2=alt.Y2("to_y:Q"))
    )
    return drawn


def _dots(row: CheckRow, middle: float, x: alt.X, y: alt.Y) -> alt.Chart:
    rows = [{"y": middle, "value": value, "text": check_text(row)} for value in row.measured_iops]
    look = {"shape": theme.shape(row.setting.slot), "color": theme.color(row.setting.slot)}
    return points(rows, x, y, **look, size=46, strokeWidth=0.8, opacity=0.85)


def short_text(row: CheckRow) -> str:
    """`381 of 400 (95%)`, or the measured alone where nothing is expected."""
    if row.ratio is None:
        return count(row.mean_iops)
    return f"{count(row.mean_iops)} of {count(row.expected_iops)} ({row.ratio * 100:.0f}%)"


def check_text(row: CheckRow) -> str:
    what = f"{row.setting.title}, {row.volume}, {OPERATIONS[row.operation]}"
    return f"{what}: {short_text(row)}, n={len(row.measured_iops)}"
