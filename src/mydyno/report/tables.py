"""The views' numbers as tables of text, for the page, Markdown and the terminal alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mydyno.report.format import MISSING, change, count, duration, interval, latency, ratio
from mydyno.report.views.curves import CurvePoint, Curves
from mydyno.report.views.key_numbers import KeyNumber
from mydyno.report.views.settings import SettingsView, Value
from mydyno.report.views.trials import TrialRow, TrialTable
from mydyno.report.views.verdicts import RatioRow, Ratios

_FEW = 4


@dataclass(frozen=True)
class Table:
    """`text_columns` are those that are read, not compared: they are set to the left."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: frozenset[int] = frozenset()


def curves_table(views: Sequence[Curves]) -> Table:
    """Connections down; each setting's mean, interval and n across, for each metric."""
    connections = sorted({found for view in views for found in view.connections})
    several = len(views) > 1
    columns = [
        f"{curve.setting.title}: {view.metric.noun}" if several else curve.setting.title
        for view in views
        for curve in view.curves
    ]
    rows = [
        (count(each), *(_told(view, curve.at(each)) for view in views for curve in view.curves))
        for each in connections
    ]
    return Table(("connections", *columns), tuple(rows))


def _told(view: Curves, point: CurvePoint | None) -> str:
    if point is None:
        return MISSING
    write = latency if view.metric.unit == "ns" else count
    error = "" if point.low is None else f" ({interval(point.low, point.high, write)})"
    return f"{write(point.value)}{error}, n={point.n}"


def ratios_table(view: Ratios) -> Table:
    columns = ("connections", "ratio", "change", "95 % interval", "n", "verdict")
    return Table(columns, tuple(_ratio_row(row) for row in view.rows), frozenset({5}))


def _ratio_row(row: RatioRow) -> tuple[str, ...]:
    return (
        "overall" if row.connections is None else count(row.connections),
        ratio(row.value),
        change(row.value),
        interval(row.low, row.high, change),
        f"{row.n[0]} vs {row.n[1]}",
        row.outcome.replace("-", " "),
    )


def key_numbers_table(numbers: Sequence[KeyNumber]) -> Table:
    """One row a number and one column a setting; the other way round where settings are many."""
    settings = [setting for setting, _, _ in numbers[0].values] if numbers else []
    names = [f"{number.name} {number.how}" for number in numbers]
    across = [[key_value(number, place) for place in range(len(settings))] for number in numbers]
    if len(settings) <= _FEW:
        rows = tuple((name, *values) for name, values in zip(names, across, strict=True))
        return Table(("", *(setting.title for setting in settings)), rows, frozenset({0}))
    down = tuple(
        (setting.title, *(values[place] for values in across)) for place, setting in enumerate(settings)
    )
    return Table(("setting", *names), down, frozenset({0}))


def key_value(number: KeyNumber, place: int) -> str:
    value = number.values[place][1]
    return latency(value) if number.kind == "latency" else count(value)


def trials_table(view: TrialTable) -> Table:
    columns = ("order", "trial", "block", "setting", "queries/s", "of its median", "errors")
    return Table(
        (*columns, *view.counter_names, "took", "status"),
        tuple(_trial_row(row) for row in view.rows),
        frozenset({1, 3, 8 + len(view.counter_names)}),
    )


def _trial_row(row: TrialRow) -> tuple[str, ...]:
    return (
        str(row.order),
        row.label,
        str(row.block),
        row.setting.title,
        count(row.queries_per_second),
        change(row.against_its_own),
        count(row.errors),
        *(count(value) for value in row.counters),
        duration(row.seconds),
        "valid" if row.valid else "INVALID",
    )


def settings_table(view: SettingsView) -> Table:
    rows = [(row.name, *(_value(value) for value in row.values)) for row in view.rows]
    rows.append(("durability", *(label or MISSING for label in view.durability)))
    columns = ("variable", *(setting.title for setting in view.settings))
    return Table(columns, tuple(rows), frozenset(range(len(columns))))


def _value(value: Value) -> str:
    """`268435456 (asked 256M)`"""
    shown = MISSING if value.in_force is None else value.in_force or "(empty)"
    asked = value.asked
    return shown if asked is None or asked == value.in_force else f"{shown} (asked {asked})"
