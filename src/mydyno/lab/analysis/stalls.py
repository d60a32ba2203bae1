"""Stalls that recur with a period, as checkpoints and flushing cause them. Pure.

A mean hides them: a server that stops for a second in ten loses a tenth of its rate, and its users
wait that second. What is looked for is regularity; single stalls are noise, which the percentiles already
show.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

SLOW = 0.5
"""Share of the median rate below which an interval is stalled."""
LONG = 3.0
"""So many times the median p99 and above: its queries waited, even if others made up for them."""
LEAST_QUERIES = 100
"""In an interval, below which its p99 is its slowest query, which chance makes long."""
LEAST_STALLS = 4
"""Three gaps: two equal ones are not a rhythm."""
MOST_IRREGULAR = 0.25
"""How far each gap may be from a whole number of periods, in periods."""
MOST_MISSED = 2
"""A gap of so many periods is let pass: a stall between was too short to be seen."""
MOST_STALLED = 1 / 3
"""Share of the intervals; more of them are not stalls but how it runs."""


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """One interval: when, how fast, and how long its slowest queries took (None: unknown)."""

    from_s: float
    to_s: float
    rate: float | None
    p99_ns: float | None
    queries: int


@dataclass(frozen=True)
class Stalls:
    period_s: float
    spans: tuple[tuple[float, float], ...]
    """From and to of each stall, on the clock of the intervals."""


def stalls(stretches: Sequence[Stretch]) -> Stalls | None:
    """The stalls of a phase's intervals, in order; None unless they recur with a period."""
    if any(one.rate is None or not math.isfinite(one.rate) for one in stretches):
        return None
    spans = _spans(stretches)
    if len(spans) < LEAST_STALLS:
        return None
    starts = [start for start, _ in spans]
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    usual = median(gaps)
    if any(not _regular(gap / usual) for gap in gaps):
        return None
    # The period over all of them is known better than any one gap.
    return Stalls(sum(gaps) / sum(round(gap / usual) for gap in gaps), tuple(spans))


def _regular(periods: float) -> bool:
    return 1 <= round(periods) <= MOST_MISSED and abs(periods - round(periods)) <= MOST_IRREGULAR


def _spans(stretches: Sequence[Stretch]) -> list[tuple[float, float]]:
    """The runs of stalled intervals; none where that is how the phase runs."""
    rates = [one.rate or 0.0 for one in stretches]
    tails = [one.p99_ns for one in stretches if one.p99_ns is not None]
    if not rates or median(rates) <= 0:
        return []
    slow = SLOW * median(rates)
    measurable = median(one.queries for one in stretches) >= LEAST_QUERIES and bool(tails)
    long = LONG * median(tails) if measurable else math.inf
    stalled = [rate < slow or (one.p99_ns or 0.0) > long for rate, one in zip(rates, stretches, strict=True)]
    if sum(stalled) > MOST_STALLED * len(stalled):
        return []
    spans: list[tuple[float, float]] = []
    before = False
    for one, now in zip(stretches, stalled, strict=True):
        if now and before:
            spans[-1] = (spans[-1][0], one.to_s)
        elif now:
            spans.append((one.from_s, one.to_s))
        before = now
    return spans
