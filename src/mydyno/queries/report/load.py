"""The load over time, in steps that a picture can show."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from mydyno.queries.records import Timeline

MOST_STEPS = 240


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
