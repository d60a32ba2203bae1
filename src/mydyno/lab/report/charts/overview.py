"""The rate (right axis) with Threads_created and Max_used_connections (left axis), settings side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt

from mydyno.lab.analysis.words import Words
from mydyno.lab.report.views.overview import CounterLine, Overview, Panel, RateLine, Span
from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, Layer, Layered, data, layered, side_by_side
from mydyno.page.charts.theme import Size
from mydyno.page.format import shorten

_COUNTER_DASH = {0: [1, 0], 1: [5, 3]}
_GAP = 26
_AXES = 62
_TALL = 250
_MANY = 6
"""More panels than this are drawn lower."""
_LABEL = 12
_DIGIT = 6.5


def overview_chart(view: Overview, size: Size, height: int | None = None) -> Chart:
    """One panel a setting on shared scales; next to each other where they fit, else below each other."""
    columns = _columns(len(view.panels), size)
    usual = 130 if len(view.panels) > _MANY else 300 if columns <= 2 else 200
    panel_height = height or (170 if size.narrow else usual)
    # Side by side, the shared axes are drawn at the outer edges only: one in between would widen its column.
    inner = size.width - 2 * _AXES - (columns - 1) * _GAP
    width = inner // columns
    panels = []
    for place, panel in enumerate(view.panels):
        left, right = place % columns == 0, place % columns == columns - 1
        panels.append(_panel(view, panel, width, panel_height, left=left, right=right))
    return side_by_side(panels, columns, {"row": 34, "column": _GAP})


def _columns(panels: int, size: Size) -> int:
    if size.narrow or panels == 1:
        return 1
    most = 2 if size.width < 900 or panels in (2, 4) else 3
    return min(most, panels)


def _panel(view: Overview, panel: Panel, width: int, height: int, *, left: bool, right: bool) -> Layered:
    color = theme.INVALID if panel.invalid else theme.color(panel.setting.slot)
    x = alt.X(
        "s:Q",
        title="elapsed, s",
        scale=alt.Scale(domain=[0, view.longest_s or 1], nice=False),
        axis=alt.Axis(tickCount=max(3, width // 90)),
    )
    rates = [
        _rates(lines, x, view, color, faint=faint, axis=right)
        for lines, faint in ((panel.others, True), ((panel.shown,) if panel.shown else (), False))
        if lines
    ]
    parts: list[Layer] = [_bands(_spans(panel), view.words, x, width / (view.longest_s or 1))]
    counters = _Counters(view, x, width, height) if panel.counters and view.most_counted > 0 else None
    if counters:
        parts.append(counters.lines(panel.counters, axis=left))
    if rates:
        parts.append(layered(*rates))
    if counters:
        # Over the rates, which would make them hard to read.
        parts.append(counters.names(panel.counters))
    title = alt.TitleParams(
        text=shorten(panel.setting.short, max(20, width // 8)),
        subtitle=_subtitle(panel),
        color=color,
        offset=22,
    )
    own_y = alt.Resolve(scale=alt.ScaleResolveMap(y="independent"))
    return layered(*parts, resolve=own_y, width=width, height=height, title=title)


def _spans(panel: Panel) -> tuple[Span, ...]:
    """The phases of the trial that is shown; the last one is as long as in any trial behind it."""
    lines = panel.others if panel.shown is None else (panel.shown, *panel.others)
    ends = [line.steps[-1].to_s for line in lines if line.steps]
    if not panel.spans or not ends:
        return panel.spans
    *before, last = panel.spans
    return (*before, replace(last, to_s=max(last.to_s, *ends)))


def _subtitle(panel: Panel) -> str:
    if panel.shown is None:
        return "no trial was recorded"
    if panel.invalid:
        return f"trial {panel.shown.trial_id}: INVALID, as is every trial of this setting"
    behind, left_out = len(panel.others), panel.not_drawn
    others = f", {behind} of {behind + left_out}" if left_out else f", {behind}"
    return f"trial {panel.shown.trial_id}" + (f"{others} more behind it" if behind else "")


def _rates(
    lines: Sequence[RateLine], x: alt.X, view: Overview, color: str, *, faint: bool, axis: bool
) -> alt.Chart:
    rows = [
        {"s": at, "rate": step.queries_per_second, "stretch": f"{place}/{step.phase}"}
        for place, line in enumerate(lines)
        for step in line.steps
        for at in (step.from_s, step.to_s)
    ]
    y = alt.Y(
        "rate:Q",
        title=view.words.rate_short if axis else None,
        scale=alt.Scale(domain=[0, view.most_queries_per_second or 1], nice=True),
        axis=alt.Axis(
            orient="right",
            grid=False,
            format=",~f",
            tickCount=5,
            labels=axis,
        ),
    )
    width, opacity = (1, theme.FAINT) if faint else (2.2, 1)
    mark = alt.Chart(data(rows)).mark_line(
        color=color, strokeWidth=width, opacity=opacity, strokeJoin="round"
    )
    drawn: alt.Chart = mark.encode(x=x, y=y, detail=alt.Detail("stretch:N"))
    return drawn


@dataclass(frozen=True)
class _Counters:
    """How counters are drawn in a panel: with the same scale of their values everywhere."""

    view: Overview
    x: alt.X
    width: int
    height: int

    def lines(self, counters: Sequence[CounterLine], *, axis: bool) -> Layered:
        top = self._top(counters)
        title = ", ".join(counter.name for counter in counters) if self.height > _TALL else "count"
        labelled = alt.Axis(orient="left", format=",~f", tickCount=min(5, int(top)), labels=axis)
        y = self._y(top, labelled, title if axis else None)
        return layered(
            *(
                alt.Chart(data([{"s": s, "value": value} for s, value in counter.points]))
                .mark_line(
                    color=_ink(place),
                    strokeWidth=1.6,
                    strokeDash=_COUNTER_DASH.get(place, [2, 2]),
                    interpolate="step-after",
                )
                .encode(x=self.x, y=y)
                for place, counter in enumerate(counters)
            )
        )

    def names(self, counters: Sequence[CounterLine]) -> Layered:
        """Each over the end of its line."""
        top = self._top(counters)
        halos, labels = [], []
        for place, rise in _label_rises(counters, self.height / top):
            s, value = counters[place].points[-1]
            base = alt.Chart(data([{"s": s, "value": value, "name": counters[place].name}])).encode(
                x=self.x, y=self._y(top), text=alt.Text("name:N")
            )
            # A short trial among longer ones has no room for the name over its line: it goes on to the right.
            over = s * self.width / (self.view.longest_s or 1) > len(counters[place].name) * _DIGIT
            put: dict[str, Any] = {"align": "right" if over else "left", "dx": -3 if over else 3}
            put |= {"baseline": "bottom", "dy": -rise, "fontSize": 11}
            halos.append(base.mark_text(**put, stroke=theme.BAND, strokeWidth=4, strokeJoin="round"))
            labels.append(base.mark_text(**put, color=_ink(place)))
        return layered(*halos, *labels)

    def _top(self, counters: Sequence[CounterLine]) -> float:
        """The largest value of the scale: there is space for the names above the highest line."""
        return self.view.most_counted * self.height / (self.height - (_LABEL + 2) * len(counters) - 6)

    @staticmethod
    def _y(top: float, axis: alt.Axis | None = None, title: str | None = None) -> alt.Y:
        return alt.Y("value:Q", title=title, scale=alt.Scale(domain=[0, top], nice=False), axis=axis)


def _ink(place: int) -> str:
    return theme.INK if place == 0 else theme.MUTED


def _label_rises(counters: Sequence[CounterLine], px_per_unit: float) -> list[tuple[int, float]]:
    """(counter, pixels of its label above its line's end). A label that another line would run through goes
    above that line too, and labels of near ends are stacked, in the order of their lines."""
    ends = [counter.points[-1][1] * px_per_unit for counter in counters]
    rises = []
    occupied = float("-inf")
    for place in sorted(range(len(ends)), key=lambda place: ends[place]):
        in_the_way = [end for end in ends if ends[place] <= end < ends[place] + _LABEL + 3]
        bottom = max(max(in_the_way) + 3, occupied)
        rises.append((place, bottom - ends[place]))
        occupied = bottom + _LABEL + 2
    return rises


def _bands(spans: Sequence[Span], words: Words, x: alt.X, px_per_s: float) -> Layered:
    """A pale band for each phase and its name above it, as many as there is room for."""
    rows = []
    taken_px = float("-inf")
    for span in spans:
        label = f"{span.place}"
        half_px = len(label) * _DIGIT / 2 + 2
        # A long name over a short phase at the very start would stick out to the left.
        middle = max((span.from_s + span.to_s) / 2, half_px / px_per_s if len(label) > 4 else 0)
        fits = middle * px_per_s - half_px >= taken_px
        if fits:
            taken_px = middle * px_per_s + half_px
        rows.append({"s": span.from_s, "to": span.to_s, "middle": middle, "label": label if fits else ""})
    source = alt.Chart(data(rows))
    named = any(isinstance(span.place, str) for span in spans)
    return layered(
        source.mark_rect(color=theme.BAND, stroke=theme.PAPER, strokeWidth=1).encode(x=x, x2=alt.X2("to:Q")),
        source.mark_text(baseline="bottom", color=theme.MUTED, fontSize=11).encode(
            x=alt.X("middle:Q"), y=alt.YValue(-5), text=alt.Text("label:N")
        ),
        alt.Chart(data([{"text": f"{words.part}s" if named else words.load}]))
        .mark_text(align="left", baseline="bottom", color=theme.MUTED, fontSize=11)
        .encode(x=alt.XValue(0), y=alt.YValue(-18), text=alt.Text("text:N")),
    )
