"""How long the calls of a statement took, as a small histogram."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from mydyno.core.plurals import plural
from mydyno.page.charts.histogram import histogram
from mydyno.page.format import count
from mydyno.queries.records import Measure
from mydyno.queries.report import time_bins
from mydyno.queries.report.words import amount, share


@dataclass(frozen=True)
class Times:
    bars: Markup
    ticks: tuple[tuple[float, str], ...]
    """Percent from the left, and the time there."""
    label: str
    """What it shows, in words."""


def times(measure: Measure | None, on: time_bins.Axis) -> Times | None:
    """None where only sums are known."""
    if measure is None or not measure.histogram:
        return None
    counts = time_bins.counts(measure, on)
    calls = sum(counts)

    def label(place: int) -> str:
        ends = f"{amount(on.edge(place), 'us')} to {amount(on.edge(place + 1), 'us')}"
        return (
            f"{ends}: {count(counts[place])} {plural(counts[place], 'call')}, {share(counts[place], calls)}"
        )

    decades = len(on.ticks) - 1
    ticks = tuple((place / decades * 100, _tick(each)) for place, each in enumerate(on.ticks))
    return Times(histogram(counts, label), ticks, _label(measure, calls))


def _label(measure: Measure, calls: int) -> str:
    ends = f"from {amount(measure.min, 'us')} to {amount(measure.max, 'us')}"
    label = f"Query times of {count(calls)} {plural(calls, 'call')}, {ends}"
    if measure.p50 is None or measure.p95 is None:
        return label
    half, most = amount(measure.p50, "us"), amount(measure.p95, "us")
    return f"{label}; half of them below {half}, 95 in 100 below {most}"


def _tick(microseconds: int) -> str:
    unit, size = next(each for each in (("s", 10**6), ("ms", 10**3), ("µs", 1)) if microseconds >= each[1])
    return f"{count(microseconds // size)} {unit}"
