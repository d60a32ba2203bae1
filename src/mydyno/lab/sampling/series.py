"""What the raw samples say: totals, restarts. Pure; takes the frames of `frames`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from mydyno.lab.sampling.catalogue import kind

STATUS = "status."
WITNESSES = ("status.Uptime", "status.Connections", "status.Queries")
"""Neither FLUSH STATUS nor anything else but a restart sets these back."""


def restarts(samples: pl.DataFrame) -> tuple[float, ...]:
    """The `t_s` of every sample that first saw the server restarted: Uptime, Connections or Queries went
    back."""
    times = samples["t_s"].to_list() if "t_s" in samples.columns else []
    seen = {
        at for name in WITNESSES if name in samples.columns for at in _falls(times, samples[name].to_list())
    }
    return tuple(sorted(seen))


def _falls(times: Sequence[float], values: Sequence[int | float | None]) -> Iterator[float]:
    """A server on its way down and up may leave samples without an answer in between."""
    before: int | float | None = None
    for at, value in zip(times, values, strict=True):
        if value is None:
            continue
        if before is not None and value < before:
            yield at
        before = value


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
