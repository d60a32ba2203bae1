"""The charts of one trial. They are drawn for every trial from one specification each, over data sets that
they only name (`lab/report/trial_data.py` fills them).

Where the time went is an icicle (Kruskal and Landwehr, "Icicle Plots: Better Displays for Hierarchical
Clustering", The American Statistician 37, 1983), as a flame graph is one (Gregg, "The Flame Graph",
Communications of the ACM 59, 2016): the parts of a bar are drawn below it, as wide as their shares.
"""

import json
from collections.abc import Callable, Mapping, Sequence

import altair as alt

from mydyno.lab.analysis.time_spent import Key
from mydyno.lab.analysis.words import Words
from mydyno.lab.report.views.trial_pages import FORMULA, KEYS, LABEL
from mydyno.lab.report.views.trial_series import CPU_MODES
from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, Layered, layered, side_by_side
from mydyno.page.charts.labels import CHARACTER_PX
from mydyno.page.charts.theme import Size

_ROW = 21
_PANEL = 118
_GAP = 30
_AXIS = 62
"""Pixels left of a panel for its numbers."""
_TINT = 0.32
"""Of a bar with words on it: ink is read on every colour, in the light and in the dark."""

_POINT = {"size": 9, "filled": True}
"""A spike of one reading is a dot where its line is too thin."""
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3]]
"""Colour is never the only difference."""
_FROM_ZERO = alt.Scale(zero=True, nice=True)
_LEGEND = alt.Legend(
    title=None, orient="bottom", direction="horizontal", symbolType="stroke", labelColor=theme.INK
)

_COLORS: dict[Key, str] = {
    "all": theme.GRID,
    "statements": theme.SERIES[7],
    "cpu-user": theme.SERIES[0],
    "cpu-system": theme.SERIES[4],
    "row-locks": theme.SERIES[1],
    "commit": theme.SERIES[3],
    "between": theme.SERIES[5],
    "unknown": theme.GRID,
    "connecting": theme.SERIES[2],
    "client": theme.GRID,
    "read": theme.SERIES[0],
    "write": theme.SERIES[1],
    "fsync": theme.SERIES[3],
}


def time_chart(size: Size) -> Chart:
    """Data set `time`: `row` from the top, `from` and `to` (shares), `key` (its place in KEYS), `seconds` of
    `of` seconds, `name` of what fills a whole row."""
    y = alt.Y("row:O", axis=None, scale=alt.Scale(paddingInner=0.08, paddingOuter=0))
    scale = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(format=".0%", tickCount=5, grid=False)
    x = alt.X("from:Q", title="share of the connections' time", scale=scale, axis=axis)
    base = (
        alt.Chart(alt.NamedData("time"))
        .transform_calculate(share="datum.to - datum.from")
        .transform_calculate(label=f"datum.name || {_list(LABEL)}[datum.key]")
        .transform_calculate(
            text="datum.label + ': ' + format(datum.share, '.1%') + ', ' + format(datum.seconds, ',.3~g')"
            f" + ' s of ' + format(datum.of, ',.3~g') + ' s. ' + {_list(FORMULA)}[datum.key]",
            middle="(datum.from + datum.to) / 2",
        )
    )
    colors = alt.Scale(domain=list(range(len(KEYS))), range=[_COLORS[key] for key in KEYS])
    bars = base.mark_rect(fillOpacity=_TINT, strokeWidth=1, aria=True).encode(
        x=x,
        x2=alt.X2("to:Q"),
        y=y,
        description=alt.Description("text:N"),
        fill=alt.Fill("key:N", scale=colors, legend=None),
        stroke=alt.Stroke("key:N", scale=colors, legend=None),
    )
    words = (
        base.transform_filter(f"datum.share * {size.width} > length(datum.label) * {CHARACTER_PX} + 6")
        .mark_text(baseline="middle", clip=True)
        .encode(x=alt.X("middle:Q", scale=scale), y=y, text=alt.Text("label:N"))
    )
    panel = layered(bars, words, width=size.width - 16, height=alt.Step(_ROW))
    return side_by_side([panel], 1, {"row": 0, "column": 0})


def _list(of: Mapping[Key, str]) -> str:
    """The texts of all keys as a Vega expression, to be indexed by a key's number."""
    return json.dumps([of[key] for key in KEYS])


def speed_chart(words: Words) -> Callable[[Size], Chart]:
    """Data sets `phases` and `intervals`: `phase`, `s`, `rate`, `p99` (ms)."""

    def line(field: str, title: str, size: Size, *, named: bool) -> Layered:
        drawn = (
            alt.Chart(alt.NamedData("intervals"))
            .transform_calculate(
                text=f"format(datum.s, '.1f') + ' s: ' + format(datum.{field}, ',.3~r') + ' {title}'"
            )
            .mark_line(point=_POINT, strokeWidth=1.6, color=theme.SERIES[0], aria=True)
            .encode(
                x=_time(),
                y=_quantity(field),
                detail=alt.Detail("phase:N"),
                description=alt.Description("text:N"),
                order=alt.Order("s:Q"),
            )
        )
        return _panel(size, title, [drawn], named=named, columns=1)

    def draw(size: Size) -> Chart:
        panels = [
            line("rate", words.rate_short, size, named=True),
            line("p99", "p99 latency, ms", size, named=False),
        ]
        return side_by_side(panels, 1, {"row": _GAP, "column": 0})

    return draw


def counters_chart(titles: Sequence[str]) -> Callable[[Size], Chart]:
    """Data sets `phases` and `counters`: `k` (place in `titles`), `s`, `v`. A panel for each of `titles`."""

    def panel(number: int, size: Size, columns: int) -> Layered:
        text = f"format(datum.s, '.1f') + ' s: ' + format(datum.v, ',.3~r') + ' {titles[number]}'"
        drawn = (
            alt.Chart(alt.NamedData("counters"))
            .transform_filter(f"datum.k === {number}")
            .transform_calculate(text=text)
            .mark_line(point=_POINT, strokeWidth=1.6, color=theme.SERIES[1], aria=True)
            .encode(
                x=_time(), y=_quantity("v"), description=alt.Description("text:N"), order=alt.Order("s:Q")
            )
        )
        return _panel(size, titles[number], [drawn], named=False, columns=columns)

    def draw(size: Size) -> Chart:
        columns = 1 if size.narrow else min(len(titles), 3 if size.width > 900 else 2)
        panels = [panel(number, size, columns) for number in range(len(titles))]
        return side_by_side(panels, columns, {"row": _GAP, "column": _GAP})

    return draw


def machine_chart(size: Size) -> Chart:
    """Data sets `phases`; `cpu`: `k` (place in CPU_MODES), `s`, `v` (a share); `disks`: `name`, `s`, `v`."""
    columns = 1 if size.narrow else 2
    modes = list(CPU_MODES)
    cpu = _shares("cpu", f"{json.dumps(modes)}[datum.k]", alt.Scale(domain=modes, range=theme.SERIES[:4]))
    disks = _shares("disks", "datum.name", alt.Scale(range=theme.SERIES))
    panels = [
        _panel(size, "CPU time of the machine", [cpu], named=False, columns=columns),
        _panel(size, "disks busy", [disks], named=False, columns=columns),
    ]
    drawn = side_by_side(panels, columns, {"row": _GAP, "column": _GAP})
    drawn["resolve"]["scale"] |= {"color": "independent", "strokeDash": "independent"}
    return drawn


def _shares(name: str, line: str, scale: alt.Scale) -> alt.Chart:
    text = "format(datum.s, '.1f') + ' s: ' + datum.line + ' ' + format(datum.v, '.0%')"
    dashes = alt.Scale(domain=scale.domain, range=_DASHES)
    y = alt.Y("v:Q", title=None, scale=_FROM_ZERO, axis=alt.Axis(format=".0%", tickCount=4))
    drawn: alt.Chart = (
        alt.Chart(alt.NamedData(name))
        .transform_calculate(line=line)
        .transform_calculate(text=text)
        .mark_line(point=_POINT, strokeWidth=1.6, aria=True)
        .encode(
            x=_time(),
            y=y,
            color=alt.Color("line:N", scale=scale, legend=_LEGEND),
            strokeDash=alt.StrokeDash("line:N", scale=dashes, legend=_LEGEND),
            description=alt.Description("text:N"),
            order=alt.Order("s:Q"),
        )
    )
    return drawn


def _panel(size: Size, title: str, lines: list[alt.Chart], *, named: bool, columns: int) -> Layered:
    """`lines` over the bands of the phases; with their names where `named`."""
    width = (size.width - (columns - 1) * _GAP) // columns - _AXIS
    phases = alt.Chart(alt.NamedData("phases"))
    band = phases.mark_rect(color=theme.BAND).encode(
        x=alt.X("from_s:Q", title="seconds", axis=alt.Axis(tickCount=max(3, width // 90))),
        x2=alt.X2("to_s:Q"),
    )
    begins = phases.mark_rule(color=theme.GRID).encode(x=alt.X("from_s:Q"))
    names = (
        phases.transform_calculate(middle="(datum.from_s + datum.to_s) / 2")
        .mark_text(baseline="bottom", dy=-3, color=theme.MUTED)
        .encode(x=alt.X("middle:Q"), y=alt.YValue(0), text=alt.Text("name:N"))
    )
    above = alt.TitleParams(text=title, offset=16 if named else 6)
    return layered(band, begins, *lines, *([names] if named else []), width=width, height=_PANEL, title=above)


def _time() -> alt.X:
    return alt.X("s:Q")


def _quantity(field: str) -> alt.Y:
    axis = alt.Axis(format="~s", tickCount=4)
    return alt.Y(f"{field}:Q", title=None, scale=_FROM_ZERO, axis=axis)
