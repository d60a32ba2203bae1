"""How far counters went over one stretch of a trial. Pure; takes the frames of `frames`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from mydyno.sampling.catalogue import kind
from mydyno.sampling.series import STATUS, restarted

Number = int | float

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
    if "t_s" not in samples.columns:
        return None
    inside = samples.filter(pl.col("t_s").is_between(from_s, to_s))
    if inside.height < 2:
        return None
    earlier, later = inside.row(0, named=True), inside.row(-1, named=True)
    whole = not restarted(inside).any()
    found = {
        name: grown
        for name, grown in _growth(earlier, later)
        if whole or not name.startswith((STATUS, "server."))
    }
    return Stretch(earlier["t_s"], later["t_s"], found)


def _growth(
    earlier: Mapping[str, Number | None], later: Mapping[str, Number | None]
) -> Iterator[tuple[str, Number]]:
    for name, after in later.items():
        before = earlier[name]
        if before is not None and after is not None and after >= before and _counts_up(name):
            yield name, after - before


def _counts_up(column: str) -> bool:
    """Status variables by their kind; of /proc whatever counts since the process or the machine started."""
    if column.startswith(STATUS):
        return kind(column.removeprefix(STATUS)) == "counter"
    return column.startswith(("host.", "disk.", "server.", "client.")) and not column.endswith(_STATES)
