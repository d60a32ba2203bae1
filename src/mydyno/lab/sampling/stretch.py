"""How far counters went over stretches of a trial. Pure; takes the frames of `frames`."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from mydyno.lab.sampling.catalogue import kind
from mydyno.lab.sampling.series import STATUS, restarts

Number = int | float

_OF_THE_SERVER = (STATUS, "server.")
_STATES = ("rss_bytes", ".threads")


@dataclass(frozen=True)
class Stretch:
    """What was read between the first and the last sample of a stretch."""

    from_s: float
    to_s: float
    growth: Mapping[str, Number]
    """Column of samples.parquet -> how much it grew; only what counts up and was read at both ends. Nothing
    of the server when it was restarted in between: what it lost cannot be known."""

    @property
    def seconds(self) -> float:
        return self.to_s - self.from_s


def stretch(samples: pl.DataFrame, from_s: float, to_s: float) -> Stretch | None:
    """Between the first and the last sample within [from_s, to_s]; None with fewer than two of them there,
    since nobody knows when between two samples a counter grew."""
    return stretches(samples, [(from_s, to_s)])[0]


def stretches(samples: pl.DataFrame, windows: Sequence[tuple[float, float]]) -> list[Stretch | None]:
    """`stretch` for each of `windows`, the samples ascending in `t_s`."""
    if samples.is_empty() or "t_s" not in samples.columns:
        return [None for _ in windows]
    times: list[float] = samples["t_s"].to_list()
    counting = frozenset(filter(_counts_up, samples.columns))
    lost = restarts(samples)
    return [_between(samples, counting, times, lost, *window) for window in windows]


def _between(
    samples: pl.DataFrame,
    counting: frozenset[str],
    times: list[float],
    lost: Sequence[float],
    from_s: float,
    to_s: float,
) -> Stretch | None:
    first, last = bisect_left(times, from_s), bisect_right(times, to_s) - 1
    if last <= first or times[last] <= times[first]:
        return None
    restarted = any(times[first] < at <= times[last] for at in lost)
    grown = {
        name: value
        for name, value in _growth(samples.row(first, named=True), samples.row(last, named=True))
        if name in counting and not (restarted and name.startswith(_OF_THE_SERVER))
    }
    return Stretch(times[first], times[last], grown)


def _growth(
    earlier: Mapping[str, Number | None], later: Mapping[str, Number | None]
) -> Iterator[tuple[str, Number]]:
    for name, after in later.items():
        before = earlier[name]
        if before is not None and after is not None and after >= before:
            yield name, after - before


def _counts_up(column: str) -> bool:
    """Status variables by their kind; of /proc whatever counts since the process or the machine started."""
    if column.startswith(STATUS):
        return kind(column.removeprefix(STATUS)) == "counter"
    return column.startswith(("host.", "disk.", "server.", "client.")) and not column.endswith(_STATES)
