"""What was recorded over time in one trial, thinned out for a page: no spike is lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import polars as pl

from mydyno.report.evidence import Evidence
from mydyno.results.records import TrialRecord

Points = tuple[tuple[float, float], ...]
"""(seconds since the first phase began, value)"""


@dataclass(frozen=True)
class Counter:
    """A status variable that is worth a look over time."""

    name: str
    title: str
    rate: bool
    """Shown as growth per second; otherwise as read."""


COUNTERS = (
    Counter("Threads_running", "threads running", rate=False),
    Counter("Innodb_row_lock_waits", "row lock waits/s", rate=True),
    Counter("Innodb_data_fsyncs", "InnoDB fsyncs/s", rate=True),
    Counter("Innodb_buffer_pool_reads", "pages read from disk/s", rate=True),
    Counter("Innodb_buffer_pool_pages_dirty", "dirty pages", rate=False),
    Counter("Innodb_checkpoint_age", "checkpoint age, bytes", rate=False),
)
CPU_MODES: Mapping[str, tuple[str, ...]] = {
    "user": ("user", "nice"),
    "system": ("system", "irq", "softirq"),
    "iowait": ("iowait",),
    "steal": ("steal",),
}
_ALL_MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_CPU = "host.cpu.{}_s"
_DISK, _BUSY = "disk.", ".busy_s"
DISKS = f"{_DISK}*{_BUSY}"

SAMPLED = (
    "t_s",
    *(f"status.{counter.name}" for counter in COUNTERS),
    *(_CPU.format(mode) for mode in _ALL_MODES),
    DISKS,
)
"""The columns of samples.parquet that are drawn."""
MEASURED = ("phase", "from_s", "to_s", "queries", "p99_ns")
"""The same of intervals.parquet."""

IDLE_DISK = 0.01
"""A disk that was never busier is not drawn."""
MOST_DISKS = 6
FEWEST_POINTS = 24
MOST_POINTS = 160
ALL_POINTS = 4_800
"""Of one line in all trials together."""


@dataclass(frozen=True)
class Interval:
    """One interval of the load engine."""

    phase: int
    at_s: float
    """Its middle, since the first phase began."""
    rate: float
    """Queries/s or IOPS."""
    p99_ms: float | None


@dataclass(frozen=True)
class TrialSeries:
    intervals: tuple[Interval, ...]
    counters: Mapping[str, Points]
    """Title of a counter -> its line; only what was sampled and was not always 0."""
    cpu: Mapping[str, Points]
    """Mode -> share of all CPU time, 0 to 1."""
    disks: Mapping[str, Points]
    """Device -> share of the time in which it was busy."""

    @property
    def empty(self) -> bool:
        return not (self.intervals or self.counters or self.cpu or self.disks)


def points_for(trials: int) -> int:
    """How many points a line may have on a page with so many trials."""
    return min(MOST_POINTS, max(FEWEST_POINTS, ALL_POINTS // max(1, trials)))


def trial_series(evidence: Evidence, trial: TrialRecord, samples: pl.DataFrame, most: int) -> TrialSeries:
    """At most `most` points a line. `samples`: the columns `SAMPLED`, as far as the lab has them."""
    start = trial.phases[0].started_s if trial.phases else 0.0
    read = samples.to_dict(as_series=False) if "t_s" in samples.columns else {}
    times = [t - start for t in read.get("t_s", ())]
    disks = {
        name.removeprefix(_DISK).removesuffix(_BUSY): tuple(_rates(times, values))
        for name, values in read.items()
        if name.startswith(_DISK) and name.endswith(_BUSY)
    }
    busiest = sorted(
        ((max(share for _, share in line), name) for name, line in disks.items() if line), reverse=True
    )
    return TrialSeries(
        intervals=thinned_intervals(_intervals(evidence, trial, start), most),
        counters={
            title: thinned(line, most) for title, line in _counters(times, read) if any(v for _, v in line)
        },
        cpu={mode: thinned(line, most) for mode, line in _cpu(times, read).items()},
        disks={
            name: thinned(disks[name], most) for share, name in busiest[:MOST_DISKS] if share >= IDLE_DISK
        },
    )


def _intervals(evidence: Evidence, trial: TrialRecord, start: float) -> Iterator[Interval]:
    frame = evidence.series_of(trial).intervals(*MEASURED)
    if frame.is_empty():
        return
    for phase, begin, end, queries, p99 in zip(*(frame[name].to_list() for name in MEASURED), strict=True):
        if end > begin:
            middle = (begin + end) / 2 - start
            yield Interval(phase, middle, queries / (end - begin), None if p99 is None else p99 / 1e6)


def _counters(
    times: Sequence[float], read: Mapping[str, Sequence[float | None]]
) -> Iterator[tuple[str, Points]]:
    for counter in COUNTERS:
        yield counter.title, tuple(_line(counter, times, read))


def _line(
    counter: Counter, times: Sequence[float], read: Mapping[str, Sequence[float | None]]
) -> Iterator[tuple[float, float]]:
    values = read.get(f"status.{counter.name}")
    if values is None:
        return
    if counter.rate:
        yield from _rates(times, values)
    else:
        yield from ((t, value) for t, value in zip(times, values, strict=True) if value is not None)


def _rates(times: Sequence[float], values: Sequence[float | None]) -> Iterator[tuple[float, float]]:
    """Growth per second since the reading before, at the later one; none where it fell (a restart). A reading
    that follows its last one at once is left out: the rate of a sliver is noise."""
    before: tuple[float, float] | None = None
    least = _least(times)
    for t, value in zip(times, values, strict=True):
        if value is None or (before is not None and t - before[0] < least):
            continue
        if before is not None and t > before[0] and value >= before[1]:
            yield t, (value - before[1]) / (t - before[0])
        before = t, value


def _least(times: Sequence[float]) -> float:
    """Half of what usually lies between two samples."""
    between = [later - earlier for earlier, later in pairwise(times)]
    return median(between) / 2 if between else 0.0


def _cpu(
    times: Sequence[float], read: Mapping[str, Sequence[float | None]]
) -> dict[str, tuple[tuple[float, float], ...]]:
    """Shares of what all modes grew by between two samples; none where the machine was not seen."""
    known = {mode: read[name] for mode in _ALL_MODES if (name := _CPU.format(mode)) in read}
    shares: dict[str, list[tuple[float, float]]] = {mode: [] for mode in CPU_MODES}
    least = _least(times)
    for at in range(1, len(times) if known else 0):
        if times[at] - times[at - 1] < least:
            continue
        grown = {
            mode: now - before
            for mode, values in known.items()
            if (now := values[at]) is not None and (before := values[at - 1]) is not None
        }
        total = sum(grown.values())
        if total > 0:
            for name, modes in CPU_MODES.items():
                shares[name].append(
                    (times[at], max(0.0, sum(grown.get(mode, 0.0) for mode in modes)) / total)
                )
    return {mode: tuple(line) for mode, line in shares.items() if line}


def thinned(line: Sequence[tuple[float, float]], most: int) -> Points:
    """At most `most` of its points, in their order: of each stretch its least and its largest, so that every
    spike stays as high as it was."""
    return tuple(line[at] for at in _kept([[value for _, value in line]], most))


def thinned_intervals(intervals: Iterable[Interval], most: int) -> tuple[Interval, ...]:
    """The same for rate and p99 together; a phase keeps its first and its last."""
    whole = list(intervals)
    edges = {
        at
        for at in range(len(whole))
        if at in (0, len(whole) - 1) or len({each.phase for each in whole[at - 1 : at + 2]}) > 1
    }
    lines = [[each.rate for each in whole], [each.p99_ms or 0.0 for each in whole]]
    return tuple(whole[at] for at in sorted(edges.union(_kept(lines, most))))


def _kept(lines: Sequence[Sequence[float]], most: int) -> list[int]:
    """The places to keep of lines of equal length."""
    length = len(lines[0])
    if length <= most:
        return list(range(length))
    stretches = max(1, most // (2 * len(lines)))
    found = set()
    for stretch in range(stretches):
        places = range(stretch * length // stretches, (stretch + 1) * length // stretches)
        for line in lines:
            found |= {min(places, key=line.__getitem__), max(places, key=line.__getitem__)}
    return sorted(found)
