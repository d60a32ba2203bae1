"""Bars and histograms of block characters, for a terminal."""

import math
from collections.abc import Sequence

_PARTS = "▏▎▍▌▋▊▉█"
_HEIGHTS = "▁▂▃▄▅▆▇█"
_BUCKETS_OF_DOUBLING = 8
"""Of the histograms that the engine reports (docs/reference/digest-format.md)."""


def bar(share: float, width: int) -> str:
    """A bar of `share` (0 to 1) of `width` characters, to an eighth of one; never quite nothing."""
    eighths = max(1, round(min(share, 1.0) * width * 8)) if share > 0 else 0
    whole, part = divmod(eighths, 8)
    return (_PARTS[-1] * whole + (_PARTS[part - 1] if part else "")).ljust(width)


def heights(counts: Sequence[float]) -> str:
    """A column a count; those above 0 are seen however low they are, and 0 is a gap."""
    top = max(counts, default=0)
    return "".join(_HEIGHTS[max(0, math.ceil(each / top * 8) - 1)] if each > 0 else " " for each in counts)


def on_log_scale(histogram: Sequence[tuple[int, int]], most: int) -> list[int]:
    """The counts of a histogram (upper bounds, counts), put into at most `most` steps of equal ratio.

    A step is one of the engine's buckets, or the same number of them: with steps of another width some would
    hold two buckets and some one, and the picture would have teeth that the times have not.
    """
    places = [round(math.log2(max(bound, 1)) * _BUCKETS_OF_DOUBLING) for bound, _ in histogram]
    span = places[-1] - places[0] + 1
    together = math.ceil(span / most)
    columns = [0] * math.ceil(span / together)
    for place, (_, count) in zip(places, histogram, strict=True):
        columns[(place - places[0]) // together] += count
    return columns
