"""What was recorded over time in one trial, thinned out for a page: no spike is lost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mydyno.lab.report.evidence import Evidence
from mydyno.lab.results.records import TrialRecord

Points = tuple[tuple[float, float], ...]
"""(seconds since the first phase began, value)"""
Numbers = NDArray[np.float64]
Line = tuple[Numbers, Numbers]
"""The same as two arrays, before it is thinned."""
_NOTHING: Line = (np.array([]), np.array([]))


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
    read = {name: _numbers(samples[name]) for name in samples.columns} if "t_s" in samples.columns else {}
    times = read["t_s"] - start if read else np.array([])
    disks = {
        name.removeprefix(_DISK).removesuffix(_BUSY): _rates(times, values)
        for name, values in read.items()
        if name.startswith(_DISK) and name.endswith(_BUSY)
    }
    busiest = sorted(((line[1].max(), name) for name, line in disks.items() if len(line[1])), reverse=True)
    counters = {counter.title: _line(counter, times, read) for counter in COUNTERS}
    return TrialSeries(
        intervals=_intervals(evidence, trial, start, most),
        counters={title: thinned(line, most) for title, line in counters.items() if line[1].any()},
        cpu={mode: thinned(line, most) for mode, line in _cpu(times, read).items()},
        disks={
            name: thinned(disks[name], most) for share, name in busiest[:MOST_DISKS] if share >= IDLE_DISK
        },
    )


def _numbers(column: pl.Series) -> Numbers:
    """NaN where there is no reading."""
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _intervals(evidence: Evidence, trial: TrialRecord, start: float, most: int) -> tuple[Interval, ...]:
    """Thinned by rate and p99 together; a phase keeps its first and its last."""
    frame = evidence.series_of(trial).intervals(*MEASURED)
    if frame.is_empty():
        return ()
    phase, begin, end, queries, p99 = (_numbers(frame[name]) for name in MEASURED)
    there = end > begin
    phase, begin, end, queries, p99 = (each[there] for each in (phase, begin, end, queries, p99))
    if not len(phase):
        return ()
    rate, middle, tail = queries / (end - begin), (begin + end) / 2 - start, p99 / 1e6
    kept = kept_of_phases(phase, [rate, np.nan_to_num(tail)], most)
    return tuple(
        Interval(
            int(phase[at]),
            float(middle[at]),
            float(rate[at]),
            None if np.isnan(tail[at]) else float(tail[at]),
        )
        for at in kept
    )


def _line(counter: Counter, times: Numbers, read: Mapping[str, Numbers]) -> Line:
    values = read.get(f"status.{counter.name}")
    if values is None:
        return _NOTHING
    if counter.rate:
        return _rates(times, values)
    there = ~np.isnan(values)
    return times[there], values[there]


def _rates(times: Numbers, values: Numbers) -> Line:
    """Growth per second since the reading before, at the later one; none where it fell (a restart). A reading
    that follows its last one at once is left out: the rate of a sliver is noise."""
    there = ~np.isnan(values)
    kept = _apart(times[there], _least(times))
    t, value = times[there][kept], values[there][kept]
    between, grown = np.diff(t), np.diff(value)
    sound = (between > 0) & (grown >= 0)
    return t[1:][sound], grown[sound] / between[sound]


def _apart(times: Numbers, least: float) -> NDArray[np.intp]:
    """The places of those that lie `least` seconds or more behind the one kept before."""
    if not (np.diff(times) < least).any():
        return np.arange(len(times))
    kept: list[int] = []
    for place, t in enumerate(times):
        if not kept or t - times[kept[-1]] >= least:
            kept.append(place)
    return np.array(kept, dtype=np.intp)


def _least(times: Numbers) -> float:
    """Half of what usually lies between two samples."""
    return float(np.median(np.diff(times))) / 2 if len(times) > 1 else 0.0


def _cpu(times: Numbers, read: Mapping[str, Numbers]) -> dict[str, Line]:
    """Shares of what all modes grew by between two samples; none where the machine was not seen."""
    grown = {
        mode: np.nan_to_num(np.diff(read[name])) for mode in _ALL_MODES if (name := _CPU.format(mode)) in read
    }
    if not grown:
        return {}
    total = np.sum(list(grown.values()), axis=0)
    sound = (np.diff(times) >= _least(times)) & (total > 0)
    if not sound.any():
        return {}
    nothing = np.zeros_like(total)
    return {
        name: (
            times[1:][sound],
            np.maximum(0.0, np.sum([grown.get(mode, nothing) for mode in modes], axis=0)[sound])
            / total[sound],
        )
        for name, modes in CPU_MODES.items()
    }


def thinned(line: Line, most: int) -> Points:
    """At most `most` of its points, in their order: of each stretch its least and its largest, so that every
    spike stays as high as it was."""
    times, values = line
    return tuple((float(times[at]), float(values[at])) for at in _kept([values], most))


def kept_of_phases(phase: Numbers, lines: Sequence[Numbers], most: int) -> list[int]:
    """The places to keep of lines of equal length, at most `most` and the first and last of each phase."""
    new = np.flatnonzero(np.diff(phase)) + 1
    edges = {0, len(phase) - 1, *new.tolist(), *(new - 1).tolist()}
    return sorted(edges.union(_kept(lines, most)))


def _kept(lines: Sequence[Numbers], most: int) -> list[int]:
    """The places to keep of lines of equal length."""
    length = len(lines[0])
    if length <= most:
        return list(range(length))
    stretches = max(1, most // (2 * len(lines)))
    kept: set[int] = set()
    for stretch in range(stretches):
        first, end = stretch * length // stretches, (stretch + 1) * length // stretches
        for line in lines:
            part = line[first:end]
            kept |= {first + int(part.argmin()), first + int(part.argmax())}
    return sorted(kept)
