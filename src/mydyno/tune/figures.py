"""The charts of a search's report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt

from mydyno.page.charts import draw, theme
from mydyno.page.charts.draw import Chart
from mydyno.page.charts.theme import Size
from mydyno.page.drawing import Figure
from mydyno.tune import views
from mydyno.tune.result import Found
from mydyno.tune.scores import times
from mydyno.tune.views import Rows

_HEIGHT, _PANEL, _ROW = 260, 150, 26
_MARGIN, _NAMES = 70, 230
"""Pixels left of a chart's box: for an axis with numbers, and for one with the names of settings."""


def figures(found: Found) -> Iterator[Figure]:
    """Those for which there is something to draw."""
    name = found.objectives[0]
    gain = f"{name}, {times(name)}"
    if rows := views.progress_rows(found):
        yield _figure(
            "progress",
            "Progress",
            f"Each trial's {gain}, with its 95% interval; the line is the best so far that keeps all "
            "constraints.",
            lambda size, rows=rows: _progress(rows, gain, size),
        )
    if rows := views.gain_rows(found):
        yield _figure(
            "gain",
            "Confirmed gain",
            "The winner over each reference on other data, with 95% intervals. 1 means equal.",
            lambda size, rows=rows: _intervals(rows, "the winner, times as good", size),
        )
    if rows := views.worth_rows(found):
        yield _figure(
            "worth",
            "What each setting is worth",
            "All settings of the winner over all but one, with 95% intervals.",
            lambda size, rows=rows: _intervals(rows, "times as good with it", size),
        )
    if shares := views.importance(found):
        yield _figure(
            "importance",
            "Importance",
            "Share of the variance of all trials that the values of a setting explain, corrected for their "
            "number. Settings that were varied together share what they explain.",
            lambda size: _importance(shares, size),
        )
    if slices := views.slice_rows(found):
        yield _figure(
            "slices",
            "Slices",
            f"Each trial's {gain}, over the values of each setting; all other settings vary, too.",
            lambda size: _slices(slices, gain, size),
        )
    if len(found.space) > 1 and (rows := views.parallel_rows(found)):
        yield _figure(
            "parallel",
            "Parallel coordinates",
            "A line for each trial, over its settings from the least value to the largest; the darker, the "
            "better.",
            lambda size, rows=rows: _parallel(rows, size),
        )
    if len(found.objectives) > 1 and (rows := views.pareto_rows(found)):
        second = found.objectives[1]
        yield _figure(
            "pareto",
            "Pareto front",
            f"Each trial's {gain}, and its {second}, both times as good; on the front lie those than which "
            "none is better in every objective.",
            lambda size, rows=rows: _pareto(rows, name, second, size),
        )


def _figure(name: str, title: str, caption: str, drawn: object) -> Figure:
    assert callable(drawn)
    return Figure(name, title, caption, drawn, title, (caption,), colored=False)


def _ratio(field: str, title: str) -> alt.Y:
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(zero=False))


def _progress(rows: Rows, title: str, size: Size) -> Chart:
    base = alt.Chart(draw.data(rows)).encode(
        x=alt.X("trial:Q", title="trial", axis=alt.Axis(tickMinStep=1, format="d"))
    )
    bars = base.mark_rule(color=theme.MUTED).encode(y=_ratio("low", title), y2="high:Q")
    dots = base.mark_point(filled=True, size=45, color=theme.color(0)).encode(
        y=_ratio("ratio", title),
        opacity=alt.condition(
            alt.datum.kept == "keeps all constraints", alt.value(1), alt.value(theme.FAINT)
        ),
    )
    best = base.mark_line(interpolate="step-after", color=theme.color(1)).encode(y=_ratio("best", title))
    return draw.layered(bars, best, dots, width=size.width - _MARGIN, height=_HEIGHT)


def _intervals(rows: Rows, title: str, size: Size) -> Chart:
    names = [row["name"] for row in rows]
    y = alt.Y("name:N", sort=names, title=None, axis=alt.Axis(labelLimit=_NAMES - 40))
    base = alt.Chart(draw.data(rows)).encode(y=y)
    x = alt.Scale(zero=False)
    bars = base.mark_rule(color=theme.MUTED).encode(x=alt.X("low:Q", title=title, scale=x), x2="high:Q")
    dots = base.mark_point(filled=True, size=60, color=theme.color(0)).encode(x=alt.X("ratio:Q", scale=x))
    one = alt.Chart(draw.data([{"one": 1}])).mark_rule(color=theme.INK, strokeDash=[3, 3]).encode(x="one:Q")
    return draw.layered(one, bars, dots, width=_beside_names(size), height=max(2, len(rows)) * _ROW)


def _importance(shares: Sequence[tuple[str, float]], size: Size) -> Chart:
    rows = [{"name": name, "share": share} for name, share in shares]
    y = alt.Y("name:N", sort=[name for name, _ in shares], title=None, axis=alt.Axis(labelLimit=_NAMES - 40))
    bars = (
        alt.Chart(draw.data(rows))
        .mark_bar(color=theme.color(0))
        .encode(y=y, x=alt.X("share:Q", title="share of the variance", axis=alt.Axis(format="%")))
    )
    return draw.layered(bars, width=_beside_names(size), height=max(2, len(rows)) * _ROW)


def _beside_names(size: Size) -> int:
    return max(90, size.width - _NAMES)


def _slices(slices: dict[str, Rows], title: str, size: Size) -> Chart:
    columns = 1 if size.narrow else 3
    width = (size.width - _MARGIN * columns) // columns
    panels: list[draw.Layered] = []
    for name, rows in slices.items():
        order = list(dict.fromkeys(row["value"] for row in rows))
        x = alt.X("value:N", sort=order, title=name, axis=alt.Axis(labelAngle=-60, labelOverlap=True))
        dots = (
            alt.Chart(draw.data(rows))
            .mark_point(filled=True, size=35, opacity=0.7, color=theme.color(0))
            .encode(x=x, y=_ratio("ratio", title if len(panels) % columns == 0 else ""))
        )
        panels.append(draw.layered(dots, width=width, height=_PANEL))
    return draw.side_by_side(panels, columns, {"row": 20, "column": 20})


def _parallel(rows: Rows, size: Size) -> Chart:
    order = list(dict.fromkeys(row["path"] for row in rows))
    ratios = [row["ratio"] for row in rows]
    x = alt.X("path:N", sort=order, title=None, axis=alt.Axis(labelAngle=-60, labelLimit=140))
    shade = alt.Opacity(
        "ratio:Q", scale=alt.Scale(domain=[min(ratios), max(ratios)], range=[0.08, 1]), legend=None
    )
    lines = (
        alt.Chart(draw.data(rows))
        .mark_line(color=theme.color(0))
        .encode(
            x=x,
            y=alt.Y("place:Q", title="least to largest value", axis=alt.Axis(labels=False)),
            detail="trial:N",
            opacity=shade,
        )
    )
    return draw.layered(lines, width=size.width - _MARGIN, height=_HEIGHT)


def _pareto(rows: Rows, first: str, second: str, size: Size) -> Chart:
    dots = (
        alt.Chart(draw.data(rows))
        .mark_point(filled=True, size=55, color=theme.color(0))
        .encode(
            x=alt.X("x:Q", title=f"{first}, times as good", scale=alt.Scale(zero=False)),
            y=_ratio("y", f"{second}, times as good"),
            opacity=alt.condition(alt.datum.front, alt.value(1), alt.value(theme.FAINT)),
        )
    )
    line = (
        alt.Chart(draw.data([row for row in rows if row["front"]]))
        .mark_line(color=theme.color(1))
        .encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), order="x:Q")
    )
    return draw.layered(line, dots, width=size.width - _MARGIN, height=_HEIGHT)
