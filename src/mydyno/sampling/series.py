"""What the raw samples say: totals, restarts. Pure; takes the frames of `frames`."""

from __future__ import annotations

import polars as pl

from mydyno.sampling.catalogue import kind

STATUS = "status."
_WITNESSES = ("status.Uptime", "status.Connections", "status.Queries")
"""Neither FLUSH STATUS nor anything else but a restart sets these back."""


def restarted(samples: pl.DataFrame) -> pl.Series:
    """For each sample, whether the server restarted since the one before (False for the first).

    Seen as Uptime, Connections or Queries going back.
    """
    seen = pl.Series([False] * samples.height, dtype=pl.Boolean)
    for name in filter(samples.columns.__contains__, _WITNESSES):
        # A server on its way down and up may leave samples without an answer in between.
        fell = samples[name].forward_fill().diff() < 0
        seen = seen | fell.fill_null(value=False)
    return seen


def restarts(samples: pl.DataFrame) -> tuple[float, ...]:
    """The `t_s` of every sample that first saw the server restarted."""
    return tuple(samples.filter(restarted(samples))["t_s"])


def totals(samples: pl.DataFrame) -> dict[str, int | float]:
    """Status variables over the whole trial: growth of each counter, last value of everything else.

    A counter across a restart is left out: what it lost cannot be known. So is what has fewer than two
    readings (counters) or none.
    """
    found: dict[str, int | float] = {}
    whole = not restarts(samples)
    for column in (name for name in samples.columns if name.startswith(STATUS)):
        values = samples[column].drop_nulls()
        name = column.removeprefix(STATUS)
        if kind(name) != "counter":
            found[name] = values[-1]
        elif whole and values.len() > 1 and values[-1] >= values[0]:
            found[name] = values[-1] - values[0]
    return found
