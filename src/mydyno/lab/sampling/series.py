"""What the raw samples say: totals, restarts, growth over a stretch. Pure; takes the frames of `frames`."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from mydyno.lab.sampling.catalogue import kind

STATUS = "status."
WITNESSES = ("status.Uptime", "status.Connections", "status.Queries")
"""Neither FLUSH STATUS nor anything else but a restart sets these back."""


Number = int | float
_OF_THE_SERVER = (STATUS, "server.")
_STATES = ("rss_bytes", ".threads")


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
    since it is unknown when between two samples a counter grew."""
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
