"""The charts of a digest: the load over time, and which statements took the time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC

import altair as alt

from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, Layered, data, layered, side_by_side
from mydyno.page.charts.labels import CHARACTER_PX
from mydyno.page.charts.theme import Size
from mydyno.page.format import number, printable, shorten
from mydyno.page.time_zones import Zone
from mydyno.queries.records import Timeline
from mydyno.queries.report.words import share

MOST_STEPS = 240
_AXIS = 62
"""Pixels left of a panel for its numbers."""
_PANEL = 120
_GAP = 26
_CLOCK = (
    "utcFormat(datum.value, utcseconds(datum.value) ? '%H:%M:%S'"
    " : utchours(datum.value) || utcminutes(datum.value) ? '%H:%M' : '%b %-d')"
)
"""The time of day, or at midnight the day."""
_ROW = 40
"""Pixels of a bar with its name above it."""
_BAR = 13


@dataclass(frozen=True)
class LoadStep:
    start_s: int
    """Since 1970, UTC."""
    length_s: int
    rate: float
    """Entries per second."""
    running: float
    """Seconds of query time per second: as many statements ran at once, on average."""


def load_steps(timeline: Timeline | None) -> tuple[LoadStep, ...]:
    """One after another without a gap, at most MOST_STEPS; neighbours are joined where there are more."""
    if timeline is None or not timeline.steps:
        return ()
    first = min(start for start, _, _ in timeline.steps)
    last = max(start for start, _, _ in timeline.steps)
    steps = (last - first) // timeline.step_s + 1
    length = -(-steps // MOST_STEPS) * timeline.step_s
    entries: Counter[int] = Counter()
    times_us: Counter[int] = Counter()
    for start, count, time_us in timeline.steps:
        place = (start - first) // length
        entries[place] += count
        times_us[place] += time_us
    return tuple(
        LoadStep(
            start_s=first + place * length,
            length_s=length,
            rate=entries[place] / length,
            running=times_us[place] / 1e6 / length,
        )
        for place in range((last - first) // length + 1)
    )


def load_chart(steps: Sequence[LoadStep], zone: Zone, size: Size) -> Chart:
    """Statements per second above, and below how many ran at once."""
    panels = [
        _over_time(steps, "rate", "statements per second", theme.SERIES[0], zone, size),
        _over_time(steps, "running", "running at once, on average", theme.SERIES[1], zone, size),
    ]
    return side_by_side(panels, 1, {"row": _GAP, "column": 0})


def _over_time(
    steps: Sequence[LoadStep], field: str, title: str, color: str, zone: Zone, size: Size
) -> Layered:
    rows = [
        {
            "from": _on_the_wall(step.start_s, zone),
            "to": _on_the_wall(step.start_s + step.length_s, zone),
            "value": getattr(step, field),
            "label": f"{zone.moment(step.start_s * 1_000_000)}, {step.length_s} s: "
            f"{number(step.rate)} statements/s, {number(step.running)} at once",
        }
        for step in steps
    ]
    width = size.width - _AXIS
    x = alt.X(
        "from:T",
        title=zone.name(steps[0].start_s * 1_000_000),
        scale=alt.Scale(type="utc", nice=False),
        axis=alt.Axis(tickCount=max(3, width // 110), labelExpr=_CLOCK, labelOverlap="greedy"),
    )
    y = alt.Y(
        "value:Q",
        title=None,
        scale=alt.Scale(zero=True, nice=True),
        axis=alt.Axis(format=",~f", tickCount=4),
    )
    bars = (
        alt.Chart(data(rows))
        .mark_rect(color=color, aria=True)
        .encode(x=x, x2=alt.X2("to:T"), y=y, y2=alt.Y2Datum(0), description=alt.Description("label:N"))
    )
    return layered(bars, width=width, height=_PANEL, title=alt.TitleParams(text=title, offset=6))


def _on_the_wall(seconds: int, zone: Zone) -> int:
    """Milliseconds for an axis that knows UTC only, so that it shows what a clock in that zone did."""
    try:
        there = zone.at(seconds * 1_000_000)
    except OverflowError:
        return seconds * 1000
    return round(there.replace(tzinfo=UTC).timestamp() * 1000)


@dataclass(frozen=True)
class Bar:
    name: str
    share: float
    """Of the whole."""
    details: str
    """Shown after its share."""


def top_chart(bars: Sequence[Bar], size: Size) -> Chart:
    """The largest first. Behind each bar, paler, is its share and that of all before it together."""
    width = size.width - 20
    rows: list[Mapping[str, object]] = []
    reached = 0.0
    for place, bar in enumerate(bars):
        part, name, details = bar.share, bar.name, bar.details
        reached = min(1.0, reached + part)
        figures = f"{share(part, 1)}{' · ' + details if details and not size.narrow else ''}"
        label = f"{name}: {share(part, 1)}, {details}; with those above {share(reached, 1)}"
        rows.append(
            {
                **_places(place),
                "share": part,
                "reached": reached,
                "name": shorten(printable(name), _characters(width) - len(figures) - 4),
                "figures": figures,
                "label": printable(label),
            }
        )
    height = _ROW * len(bars)
    y, x = _rows_scale(len(bars)), alt.Scale(domain=[0, 1], nice=False)
    base = alt.Chart(data(rows))
    along = alt.Axis(format=".0%", tickCount=5, grid=True)
    top, bottom = alt.Y("bar:Q", scale=y, axis=None), alt.Y2("to_bar:Q")
    together = base.mark_rect(color=theme.GRID).encode(
        x=alt.X("reached:Q", scale=x, axis=along, title=None), x2=alt.X2Datum(0), y=top, y2=bottom
    )
    drawn = base.mark_rect(color=theme.SERIES[0], aria=True).encode(
        x=alt.X("share:Q", scale=x),
        x2=alt.X2Datum(0),
        y=top,
        y2=bottom,
        description=alt.Description("label:N"),
    )
    panel = layered(together, drawn, *_texts(rows, y, "name", "figures"), width=width, height=height)
    return side_by_side([panel], 1, {"row": 0, "column": 0})


def _places(place: int) -> Mapping[str, int]:
    """Pixels of a row's text and of its bar, from the top."""
    return {"place": place * _ROW, "bar": place * _ROW + 18, "to_bar": place * _ROW + 18 + _BAR}


def _rows_scale(rows: int) -> alt.Scale:
    return alt.Scale(domain=[0, _ROW * rows], reverse=True, nice=False)


def _characters(width: int) -> int:
    return int(width / CHARACTER_PX)


def _texts(
    rows: Sequence[Mapping[str, object]], y: alt.Scale, left: str, right: str
) -> tuple[alt.Chart, alt.Chart]:
    """Of the fields `left` and `right`, above each bar."""
    base = alt.Chart(data(rows)).encode(y=alt.Y("place:Q", scale=y, axis=None))
    names = base.mark_text(align="left", baseline="top", dy=2)
    figures = base.mark_text(align="right", baseline="top", dy=2, fontWeight="bold")
    return (
        names.encode(x=alt.XValue(0), text=alt.Text(f"{left}:N")),
        figures.encode(x=alt.XValue("width"), text=alt.Text(f"{right}:N")),
    )


@dataclass(frozen=True)
class Shift:
    """What a statement's load changed by: the part of its times and that of its calls, or the whole where
    there was nothing before or is nothing after."""

    name: str
    details: str
    by_times: float = 0.0
    by_calls: float = 0.0
    whole: float = 0.0

    @property
    def parts(self) -> tuple[float, float, float]:
        return self.by_times, self.by_calls, self.whole


SHIFTS = (("slower or faster calls", 1), ("more or fewer calls", 0), ("new or gone", 3))
"""What the parts of a shift are, each with the slot of its colour."""


def changes_chart(shifts: Sequence[Shift], size: Size) -> Chart:
    """Bars to both sides of 0, the parts of the same sign one after another."""
    rows: list[Mapping[str, object]] = []
    names: list[Mapping[str, object]] = []
    reach = [0.0]
    width = size.width - 20
    for place, shift in enumerate(shifts):
        ends = {1: 0.0, -1: 0.0}
        for part, (kind, slot) in zip(shift.parts, SHIFTS, strict=True):
            if not part:
                continue
            side = 1 if part > 0 else -1
            label = printable(f"{shift.name}: {part:+.3g} for {kind}; {shift.details}")
            extent = {"from": ends[side], "to": ends[side] + part}
            rows.append({**_places(place), **extent, "color": theme.color(slot), "label": label})
            ends[side] += part
        reach += ends.values()
        details = "" if size.narrow else shift.details
        name = shorten(printable(shift.name), _characters(width) - len(details) - 4)
        names.append({**_places(place), "name": name, "details": details})
    y = _rows_scale(len(shifts))
    x = alt.Scale(domain=[min(reach), max(reach)], nice=True)
    bars = (
        alt.Chart(data(rows))
        .mark_rect(aria=True)
        .encode(
            x=alt.X("from:Q", scale=x, title="load", axis=alt.Axis(format="+~g", tickCount=5, grid=True)),
            x2=alt.X2("to:Q"),
            y=alt.Y("bar:Q", scale=y, axis=None),
            y2=alt.Y2("to_bar:Q"),
            color=alt.Color("color:N", scale=None, legend=None),
            description=alt.Description("label:N"),
        )
    )
    from_zero = [
        {"at": 0, "from": place * _ROW + 15, "to": place * _ROW + 21 + _BAR} for place in range(len(shifts))
    ]
    zero = (
        alt.Chart(data(from_zero))
        .mark_rule(color=theme.MUTED)
        .encode(x=alt.X("at:Q", scale=x), y=alt.Y("from:Q", scale=y, axis=None), y2=alt.Y2("to:Q"))
    )
    texts = _texts(names, y, "name", "details")
    panel = layered(bars, zero, *texts, width=width, height=_ROW * len(shifts))
    return side_by_side([panel], 1, {"row": 0, "column": 0})
