"""What each factor explains: a bar for each effect's share of the variance, and the largest interaction."""

import altair as alt

from mydyno.core.plurals import counted
from mydyno.lab.analysis.bootstrap import Interval, ends
from mydyno.lab.analysis.effects.effects import Interaction
from mydyno.lab.analysis.effects.levels import CellMean
from mydyno.lab.analysis.effects.sentence import percent, short
from mydyno.lab.report.charts.curve_axes import axis_title
from mydyno.lab.report.effects_tables import label, share_text
from mydyno.lab.report.quantities import bracketed, writer
from mydyno.lab.report.views.effects import EffectsView
from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, Layered, data, layered, side_by_side
from mydyno.page.charts.labels import CHARACTER_PX, legend
from mydyno.page.charts.marks import COLOR, down, intervals, names, one_two_five, points, texts
from mydyno.page.charts.theme import Size
from mydyno.page.format import shorten

_ROW = 30
_BAR = 16
_MOST = 10
"""Effects that have a separate bar."""
_HEIGHT = 240
_NS_PER_MS = 1e6
_LEFT_AXIS = 66
_RIGHT = 50


def effects_chart(view: EffectsView, size: Size) -> Chart:
    """The bars, and below them the lines where there is an interaction to be drawn."""
    of, rows = view.of.interaction, share_rows(view)
    longest = int(size.width * 0.45 / CHARACTER_PX)
    rows = [row | {"name": shorten(str(row["name"]), longest)} for row in rows]
    left = max(int(max(len(str(row["name"])) for row in rows) * CHARACTER_PX) + 16, _LEFT_AXIS)
    panels = [_shares(rows, size.width - left - _RIGHT)]
    if of is not None:
        # Panels are set flush by their axes.
        panels.append(_means(view, of, size.width - left - _RIGHT))
    return side_by_side(panels, 1, {"row": 30, "column": 0})


def share_rows(view: EffectsView) -> list[dict[str, object]]:
    """What the bars show, from the top: the largest effects, the others together, the noise."""
    of = view.of
    named, others = of.found[:_MOST], of.found[_MOST:]
    rows = [_share(label(effect), effect.share, effect.interval, shown=effect.shown) for effect in named]
    if others:
        share = sum(effect.share for effect in others)
        rows.append(
            _share(
                "another effect" if len(others) == 1 else counted(len(others), "other effect"),
                share,
                None,
                shown=False,
            )
        )
    if of.noise is not None:
        rows.append(_share("noise", of.noise, of.noise_interval, shown=False) | {"color": theme.MUTED})
    return rows


def _share(name: str, share: float, error: Interval | None, *, shown: bool) -> dict[str, object]:
    doubt = "" if shown or name == "noise" else ", not distinguished from noise"
    return {
        "name": name,
        "share": 100 * share,
        "low": None if error is None else 100 * error.low,
        "high": None if error is None else 100 * error.high,
        "color": theme.color(0),
        "opacity": 1.0 if shown else theme.FAINT,
        "text": percent(share),
        "hover": f"{name}: {share_text(share, error)}{doubt}",
    }


def _shares(named: list[dict[str, object]], width: int) -> Layered:
    rows = [
        row
        | {
            "y": (place + 0.5) * _ROW,
            "top": (place + 0.5) * _ROW - _BAR / 2,
            "bottom": (place + 0.5) * _ROW + _BAR / 2,
            "end": row["share"] if row["high"] is None else row["high"],
        }
        for place, row in enumerate(named)
    ]
    height = _ROW * len(rows)
    x = alt.X(
        "share:Q",
        title="share of the variance, %",
        scale=alt.Scale(domain=[0, 100], nice=False),
        axis=alt.Axis(grid=True, tickCount=5, format=".0f"),
    )
    y = down(height)
    layers: list[alt.Chart] = [
        alt.Chart(data(rows))
        .mark_rect(aria=True)
        .encode(
            x=x,
            x2=alt.X2Datum(0),
            y=down(height, "top"),
            y2=alt.Y2("bottom:Q"),
            color=COLOR,
            opacity=alt.Opacity("opacity:Q", scale=None, legend=None),
            description=alt.Description("hover:N"),
        ),
        intervals(rows, alt.X("low:Q"), y, color=theme.INK, strokeWidth=1.6),
        names(rows, y),
        texts(rows, alt.X("end:Q"), y, field="text", align="left", dx=7, fontWeight="bold"),
    ]
    return layered(*layers, width=width, height=height)


def _means(view: EffectsView, of: Interaction, width: int) -> Layered:
    lines = list(dict.fromkeys(cell.level for cell in of.cells))
    across = list(dict.fromkeys(str(cell.at) for cell in of.cells))
    per = _NS_PER_MS if view.of.metric.unit == "ns" else 1.0
    ends = [
        end / per
        for cell in of.cells
        for end in (cell.value, *(() if cell.interval is None else (cell.interval.low, cell.interval.high)))
    ]
    low, high = min(ends) / 1.08, max(ends) * 1.08
    ticks = one_two_five(low, high)
    y = alt.Y(
        "value:Q",
        title=f"{axis_title(view.of.metric, view.words)} (logarithmic)",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(format=",~f", values=ticks) if len(ticks) > 1 else alt.Axis(format=",~f", tickCount=5),
    )
    x = alt.X(
        "at:N",
        title=short(of.across),
        scale=alt.Scale(domain=across, type="point", padding=0.4),
        axis=alt.Axis(labelAngle=0, labelOverlap="greedy", labelLimit=120),
    )
    layers: list[alt.Chart] = []
    for slot, line in enumerate(lines):
        cells = [cell for cell in of.cells if cell.level == line]
        dodge = (slot - (len(lines) - 1) / 2) * min(5, 18 / len(lines))
        layers += _line(view, of, cells, slot, (x, y), per, dodge)
    layers += legend([(line, slot) for slot, line in enumerate(lines)], width)
    title = alt.TitleParams(shorten(f"{short(of.lines)} by {short(of.across)}", int(width / 8)), offset=16)
    return layered(*layers, width=width, height=_HEIGHT, title=title)


def _line(
    view: EffectsView,
    of: Interaction,
    cells: list[CellMean],
    slot: int,
    axes: tuple[alt.X, alt.Y],
    per: float,
    dodge: float,
) -> list[alt.Chart]:
    x, y = axes
    color = theme.color(slot)
    rows = [
        {
            "at": str(cell.at),
            "value": cell.value / per,
            "low": None if cell.interval is None else cell.interval.low / per,
            "high": None if cell.interval is None else cell.interval.high / per,
            "text": f"{short(of.lines)} {cell.level}, {short(of.across)} {cell.at}: {mean_text(view, cell)}",
        }
        for cell in cells
    ]
    line = alt.Chart(data(rows)).mark_line(color=color, strokeWidth=2, xOffset=dodge)
    return [
        line.encode(x=x, y=y, order=alt.OrderValue(0)),
        intervals(rows, alt.Y("low:Q"), x, color=color, opacity=0.75, xOffset=dodge),
        points(rows, x, y, shape=theme.shape(slot), size=58, color=color, xOffset=dodge),
    ]


def mean_text(view: EffectsView, cell: CellMean) -> str:
    """`1,234 (1,200 to 1,270), n=5`"""
    write = writer(view.of.metric)
    error = bracketed(*ends(cell.interval), write)
    return f"{write(cell.value)}{error}, n={cell.n}"
