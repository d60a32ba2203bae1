"""How long calls took, as a small histogram: bins of equal width on a logarithmic axis.

It is a separate SVG, without Vega: a page has dozens of them, which differ in their bars alone. It is as wide
as its box; its axis is text next to it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from mydyno.core.plurals import plural
from mydyno.page.charts import theme
from mydyno.page.format import count
from mydyno.queries.records import Measure
from mydyno.queries.report.words import share, time_text

PER_DECADE = 10
_FIRST, _LAST = 0, 12
"""Powers of ten, in microseconds: the axis never leaves 1 µs to 11 days."""


@dataclass(frozen=True)
class Axis:
    """From 10^`first` to 10^`last` microseconds."""

    first: int
    last: int

    @property
    def bins(self) -> int:
        return (self.last - self.first) * PER_DECADE

    @property
    def ticks(self) -> tuple[int, ...]:
        """The powers of ten on it, in microseconds."""
        return tuple(10**power for power in range(self.first, self.last + 1))

    def edge(self, place: int) -> float:
        """Where the bin of that place begins, in microseconds."""
        return float(10 ** (self.first + place / PER_DECADE))

    def place(self, value: float) -> int:
        """The bin of a value; what lies beyond an end is in the last one there."""
        at = math.floor((math.log10(max(value, 1)) - self.first) * PER_DECADE + 1e-9)
        return min(max(at, 0), self.bins - 1)


def axis(measures: Sequence[Measure]) -> Axis:
    """On which all of them can be drawn, so that they can be compared."""
    bounds = [
        bound
        for each in measures
        if each.histogram
        for bound in (each.min or each.histogram[0][0], each.max or each.histogram[-1][0])
    ]
    if not bounds:
        return Axis(_FIRST, _FIRST + 1)
    first = math.floor(math.log10(max(min(bounds), 1)))
    last = math.floor(math.log10(max(*bounds, 1))) + 1
    return Axis(min(max(first, _FIRST), _LAST - 1), min(max(last, first + 1), _LAST))


def counts(measure: Measure, on: Axis) -> tuple[int, ...]:
    """Of each bin of the axis. A bucket counts where its upper bound is, as far as it was really reached."""
    in_bins = [0] * on.bins
    for bound, calls in measure.histogram:
        in_bins[on.place(min(bound, measure.max) if measure.max is not None else bound)] += calls
    return tuple(in_bins)


@dataclass(frozen=True)
class Times:
    bars: Markup
    ticks: tuple[tuple[float, str], ...]
    """Percent from the left, and the time there."""
    label: str
    """What it shows, in words."""


def times(measure: Measure | None, on: Axis) -> Times | None:
    """None where only sums are known."""
    if measure is None or not measure.histogram:
        return None
    in_bins = counts(measure, on)
    calls = sum(in_bins)

    def label(place: int) -> str:
        number, ends = in_bins[place], [time_text(on.edge(at)) for at in (place, place + 1)]
        return f"{' to '.join(ends)}: {count(number)} {plural(number, 'call')}, {share(number, calls)}"

    decades = len(on.ticks) - 1
    ticks = tuple((place / decades * 100, _tick(each)) for place, each in enumerate(on.ticks))
    return Times(histogram(in_bins, label), ticks, _label(measure, calls))


def _label(measure: Measure, calls: int) -> str:
    ends = f"from {time_text(measure.min)} to {time_text(measure.max)}"
    label = f"Query times of {count(calls)} {plural(calls, 'call')}, {ends}"
    if measure.p50 is None or measure.p95 is None:
        return label
    half, most = time_text(measure.p50), time_text(measure.p95)
    return f"{label}; half of them below {half}, 95 in 100 below {most}"


def _tick(microseconds: int) -> str:
    unit, size = next(each for each in (("s", 10**6), ("ms", 10**3), ("µs", 1)) if microseconds >= each[1])
    return f"{count(microseconds // size)} {unit}"


HEIGHT = 100
_LEAST = 1.5
"""Of HEIGHT: a bar that is there can be seen."""
_WIDTH = 0.9
"""Of a bin."""


def histogram(counts: Sequence[int], label: Callable[[int], str], color: str = theme.SERIES[0]) -> Markup:
    """Bars of `counts`, from 0; `label(place)` is the tooltip of the bar at that place."""
    most = max(counts, default=0)
    bars = []
    for place, calls in enumerate(counts):
        if calls:
            height = max(_LEAST, calls / most * HEIGHT)
            at = f'x="{place}" y="{HEIGHT - height:.1f}" width="{_WIDTH}" height="{height:.1f}"'
            bars.append(f'<rect {at} fill="{color}"><title>{escape(label(place))}</title></rect>')
    box = f'viewBox="0 0 {max(1, len(counts))} {HEIGHT}" preserveAspectRatio="none"'
    return Markup(f'<svg class="bars" {box} aria-hidden="true">{"".join(bars)}</svg>')
