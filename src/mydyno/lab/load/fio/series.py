"""I/Os over time, from fio's `iops` log. Pure: it takes the log's text.

A line is `ms, I/Os per second, direction, size, offset[, priority]` (fio's manual, "Log File Formats"): the
rate of one job in one direction since the reading before, which a busy machine may delay. The jobs follow one
another. fio writes no line for a time in which nothing was done, and often none for the last window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

LATE = 1.5
"""A reading this many windows after the one before is of one window only: there were none in between."""


@dataclass(frozen=True)
class Window:
    """What was done from `from_s` to `to_s` of the measured time, reads and writes together."""

    from_s: float
    to_s: float
    ios: int


@dataclass(frozen=True)
class _Rate:
    from_s: float
    to_s: float
    per_second: float


def windows(log: str, window_s: float, ios: int, seconds: float) -> tuple[Window, ...]:
    """The measured `seconds` in windows, with what is in no line of the log, of all `ios`, in the last."""
    # A rest of less than half a window belongs to the window before it.
    count = max(1, round(seconds / window_s))
    edges = [number * window_s for number in range(count)] + [seconds]
    done = [0.0] * count
    for rate in _rates(log, window_s):
        for number in range(count):
            shared = min(rate.to_s, edges[number + 1]) - max(rate.from_s, edges[number])
            if shared > 0:
                done[number] += shared * rate.per_second
    counts = [round(each) for each in done]
    counts[-1] = max(0, ios - sum(counts[:-1]))
    if seconds <= 0:
        return ()
    return tuple(Window(edges[number], edges[number + 1], counts[number]) for number in range(count))


def _rates(log: str, window_s: float) -> Iterator[_Rate]:
    before_s, at_s = 0.0, 0.0
    directions: set[int] = set()
    for line in log.splitlines():
        ms, rate, direction, *_ = (int(word) for word in line.split(","))
        t_s = ms / 1000
        if t_s < at_s or (t_s == at_s and direction in directions):
            before_s, at_s, directions = 0.0, t_s, set()
        elif t_s > at_s:
            before_s, at_s, directions = at_s, t_s, set()
        directions.add(direction)
        from_s = before_s if at_s - before_s < LATE * window_s else at_s - window_s
        yield _Rate(from_s, at_s, rate)
