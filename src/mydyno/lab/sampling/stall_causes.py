"""What the server did while it stalled, from the samples. Pure.

A cause is probable, no more: it came with the stalls and not between them. Meanings of the counters: MariaDB
documentation, "InnoDB Status Variables"; MySQL 8.0 Reference Manual, "Server Status Variables".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

import polars as pl

BURST = 2.0
"""A counter that grows at least so many times as fast in stalls as between them came with them."""
FULL = 0.75
"""Share of the largest checkpoint age from which InnoDB flushes without regard for its users; MariaDB and
MySQL begin that "synchronous" flushing between 3/4 and 7/8 of the redo log's capacity."""
_MOST_CAUSES = 2
_LEAST_STEPS = 2
"""Steps between samples within stalls, and as many outside."""

_COUNTERS = (
    ("status.Innodb_log_waits", "waits for space in the log buffer"),
    ("status.Innodb_buffer_pool_wait_free", "waits for free pages in the buffer pool"),
    ("status.Innodb_buffer_pool_pages_flushed", "bursts of page flushing"),
    ("status.Innodb_data_fsyncs", "bursts of fsync"),
    ("status.Innodb_os_log_fsyncs", "bursts of fsync of the log"),
)
_DIRTY = "status.Innodb_buffer_pool_pages_dirty"
_AGE = "status.Innodb_checkpoint_age"
_MOST_AGE = "status.Innodb_checkpoint_max_age"

Span = tuple[float, float]


@dataclass(frozen=True)
class _Steps:
    """The time between two samples, each as (first row, second row), by whether the server stalled then."""

    stalled: list[int]
    quiet: list[int]


def stall_causes(samples: pl.DataFrame, spans: Sequence[Span], within: Span) -> tuple[str, ...]:
    """What came with the stalls, likeliest first, as `bursts of page flushing`; at most two.

    Nothing where samples are too far apart to distinguish stalls from what is between them, or show nothing.
    """
    if "t_s" not in samples.columns:
        return ()
    inside = samples.filter(pl.col("t_s").is_between(*within)).sort("t_s")
    steps = _steps(inside["t_s"].to_list(), spans)
    if min(len(steps.stalled), len(steps.quiet)) < _LEAST_STEPS:
        return ()
    return tuple(dict.fromkeys(_causes(inside, steps)))[:_MOST_CAUSES]


def _steps(times: list[float], spans: Sequence[Span]) -> _Steps:
    steps = _Steps([], [])
    for index, (start, end) in enumerate(pairwise(times)):
        stalled = any(start < to_s and from_s < end for from_s, to_s in spans)
        (steps.stalled if stalled else steps.quiet).append(index)
    return steps


def _causes(samples: pl.DataFrame, steps: _Steps) -> Iterator[str]:
    if age := _full_checkpoint(samples, steps):
        yield age
    for column, words in _COUNTERS:
        stalled, quiet = (_growth(samples, column, which) for which in (steps.stalled, steps.quiet))
        if stalled is not None and quiet is not None and stalled > 0 and stalled >= BURST * quiet:
            yield words
    stalled, quiet = (_growth(samples, _DIRTY, which) for which in (steps.stalled, steps.quiet))
    if stalled is not None and quiet is not None and stalled < 0 < quiet:
        yield "bursts of page flushing"


def _full_checkpoint(samples: pl.DataFrame, steps: _Steps) -> str | None:
    if _AGE not in samples.columns or _MOST_AGE not in samples.columns:
        return None
    share = (samples[_AGE] / samples[_MOST_AGE]).to_list()
    at = [share[index] for index in steps.stalled if share[index] is not None]
    if not at or fmean(at) < FULL:
        return None
    return f"the checkpoint age at {fmean(at):.0%} of its limit"


def _growth(samples: pl.DataFrame, column: str, steps: list[int]) -> float | None:
    """Mean growth a second over the steps; None when the column was not read in all of them."""
    if column not in samples.columns:
        return None
    values, times = samples[column].to_list(), samples["t_s"].to_list()
    grown, seconds = 0.0, 0.0
    for index in steps:
        before, after = values[index], values[index + 1]
        if before is None or after is None:
            return None
        grown += after - before
        seconds += times[index + 1] - times[index]
    return grown / seconds if seconds > 0 else None
