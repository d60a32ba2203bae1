"""A histogram of times in bins that are equally wide on a logarithmic axis, ten for each power of ten."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mydyno.queries.records import Measure

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
    found = [0] * on.bins
    for bound, count in measure.histogram:
        found[on.place(min(bound, measure.max) if measure.max is not None else bound)] += count
    return tuple(found)
