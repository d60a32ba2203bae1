"""Bars and histograms of block characters, for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

_PARTS = "▏▎▍▌▋▊▉█"
_HEIGHTS = "▁▂▃▄▅▆▇█"


def bar(share: float, width: int) -> str:
    """A bar of `share` (0 to 1) of `width` characters, to an eighth of one; never quite nothing."""
    eighths = max(1, round(min(share, 1.0) * width * 8)) if share > 0 else 0
    whole, part = divmod(eighths, 8)
    return (_PARTS[-1] * whole + (_PARTS[part - 1] if part else "")).ljust(width)


def heights(counts: Sequence[float]) -> str:
    """A column a count; those above 0 are seen however low they are, and 0 is a gap."""
    top = max(counts, default=0)
    return "".join(_HEIGHTS[max(0, math.ceil(each / top * 8) - 1)] if each > 0 else " " for each in counts)


def on_log_scale(histogram: Sequence[tuple[int, int]], columns: int) -> list[int]:
    """The counts of a histogram (upper bounds, counts), put into so many steps of equal ratio.

    The first step begins at the lowest bound, the last ends at the highest. One bound alone is one step.
    """
    low, high = (math.log(max(histogram[place][0], 1)) for place in (0, -1))
    if high == low:
        return [sum(count for _, count in histogram)]
    found = [0] * columns
    for bound, count in histogram:
        place = (math.log(max(bound, 1)) - low) / (high - low) * columns
        found[min(int(place), columns - 1)] += count
    return found
