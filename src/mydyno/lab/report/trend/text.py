"""A trend in words, as a table, and for programs."""

import json
from collections.abc import Sequence
from typing import Any

from mydyno.core.plurals import counted
from mydyno.lab.analysis.bootstrap import ends
from mydyno.lab.analysis.trend import SMALLEST_SERIES, Change, Trend
from mydyno.lab.report.quantities import bracketed, writer
from mydyno.page.format import change, interval
from mydyno.page.markup import Printed
from mydyno.page.table import Table


def terminal(trends: Sequence[Trend], width: int) -> str:
    """A sentence and a table for each point."""
    out = Printed(width)
    for trend in trends:
        out.line(headline(trend))
        out.table(table(trend))
    return out.text


def headline(trend: Trend) -> str:
    """`thread_cache_size = 8: changed once in 12 runs: queries per second -7% (...), worse, since oltp-2`"""
    name = f"{trend.title}: " if trend.title else ""
    runs = len(trend.dots)
    if runs < SMALLEST_SERIES:
        return f"{name}{counted(runs, 'run')}, too few: a change needs {SMALLEST_SERIES} or more."
    if not trend.changes:
        return f"{name}no change in {counted(runs, 'run')}."
    times = "once" if len(trend.changes) == 1 else counted(len(trend.changes), "time")
    changes = "; ".join(change_text(trend, each) for each in trend.changes)
    return f"{name}changed {times} in {counted(runs, 'run')}: {changes}."


def change_text(trend: Trend, step: Change) -> str:
    """What one change is."""
    error = bracketed(*ends(step.interval), change)
    way = "better" if step.better else "worse"
    return f"{trend.metric.noun} {change(step.ratio)}{error}, {way}, since {trend.dots[step.dot].run}"


def table(trend: Trend) -> Table:
    """A row for each run, oldest first."""
    since = {each.dot: each for each in trend.changes}
    rows = []
    for place, dot in enumerate(trend.dots):
        error = (
            ""
            if dot.interval is None
            else interval(dot.interval.low, dot.interval.high, writer(trend.metric))
        )
        mark = f"changed: {change(since[place].ratio)}" if place in since else ""
        rows.append((dot.created_at, dot.run, str(dot.n), writer(trend.metric)(dot.mean), error, mark))
    columns = ("when", "run", "n", trend.metric.noun, "95% CI", "")
    return Table(columns, tuple(rows), frozenset({0, 1, 5}))


def as_json(trends: Sequence[Trend]) -> str:
    """Every number."""
    return json.dumps([_trend(trend) for trend in trends], indent=1, ensure_ascii=False) + "\n"


def _trend(trend: Trend) -> dict[str, Any]:
    return {
        "point": trend.title,
        "metric": trend.metric.name,
        "unit": trend.metric.unit,
        "better": trend.metric.better,
        "runs": [
            {
                "run": dot.run,
                "created_at": dot.created_at,
                "n": dot.n,
                "mean": dot.mean,
                "low": dot.interval and dot.interval.low,
                "high": dot.interval and dot.interval.high,
            }
            for dot in trend.dots
        ],
        "changes": [
            {
                "since": trend.dots[each.dot].run,
                "ratio": each.ratio,
                "low": each.interval and each.interval.low,
                "high": each.interval and each.interval.high,
                "better": each.better,
                "p_value": each.p_value,
            }
            for each in trend.changes
        ],
    }
