"""Raw messages -> the wide tables that the lab keeps as Parquet (docs/reference/lab-format.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from mydyno.lab.results.records import PhaseRecord
from mydyno.lab.sampling.catalogue import number
from mydyno.lab.sampling.histograms import packed
from mydyno.lab.sampling.readings import DiskReading, IntervalReading, ProcessReading, SampleReading

Value = int | float | None

_NS = 1e9
_PROCESS = (
    "cpu_user_s",
    "cpu_system_s",
    "rss_bytes",
    "threads",
    "voluntary_switches",
    "involuntary_switches",
    "read_bytes",
    "write_bytes",
)
_DISK = ("reads", "read_bytes", "writes", "write_bytes", "busy_s")
_INTERVAL: dict[str, type[pl.DataType]] = {
    "phase": pl.Int32,
    "from_s": pl.Float64,
    "to_s": pl.Float64,
    "warmup": pl.Boolean,
    "connections": pl.Int64,
    "queries": pl.Int64,
    "transactions": pl.Int64,
    "errors": pl.Int64,
    "queries_per_second": pl.Float64,
    "transactions_per_second": pl.Float64,
    "p50_ns": pl.Int64,
    "p95_ns": pl.Int64,
    "p99_ns": pl.Int64,
    "max_ns": pl.Int64,
    "histogram": pl.Binary,
}


def sample_frame(samples: Sequence[SampleReading], phases: Sequence[PhaseRecord] = ()) -> pl.DataFrame:
    """One row a sample, ascending in `t_s`; values as read, nothing derived.

    `phase` is the phase that was under way (None between phases). A status variable that is never a number
    has no column. With no samples the frame has only `t_s` and `phase`, and no rows.
    """
    readings = sorted(samples, key=lambda sample: sample.t_ns)
    rows = [_flat(sample) for sample in readings]
    times = [sample.t_ns / _NS for sample in readings]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = [
        pl.Series("t_s", times, dtype=pl.Float64),
        pl.Series("phase", [_phase_at(t, phases) for t in times], dtype=pl.Int32),
    ]
    for name in names:
        values = [row.get(name) for row in rows]
        if any(value is not None for value in values):
            whole = all(value is None or isinstance(value, int) for value in values)
            columns.append(pl.Series(name, values, dtype=pl.Int64 if whole else pl.Float64, strict=False))
    return pl.DataFrame(columns)


def interval_frame(intervals: Sequence[IntervalReading]) -> pl.DataFrame:
    """One row an interval, ascending in time; the columns are there even when there is no row."""
    rows = [
        {
            "phase": one.phase,
            "from_s": one.from_ns / _NS,
            "to_s": one.to_ns / _NS,
            "warmup": one.warmup,
            "connections": one.connections,
            "queries": one.queries,
            "transactions": one.transactions,
            "errors": one.errors,
            "queries_per_second": _per_second(one.queries, one),
            "transactions_per_second": _per_second(one.transactions, one),
            "p50_ns": one.p50_ns,
            "p95_ns": one.p95_ns,
            "p99_ns": one.p99_ns,
            "max_ns": one.max_ns,
            "histogram": packed(one.histogram),
        }
        for one in sorted(intervals, key=lambda one: one.from_ns)
    ]
    return pl.DataFrame(rows, schema=_INTERVAL)


def _flat(sample: SampleReading) -> dict[str, Value]:
    row: dict[str, Value] = {f"status.{name}": number(text) for name, text in (sample.status or {}).items()}
    row |= _process("client", sample.client)
    if sample.server is not None:
        row |= _process("server", sample.server)
    row |= {f"host.cpu.{mode}_s": seconds for mode, seconds in sample.host.cpu.items()}
    row["host.context_switches"] = sample.host.context_switches
    return row | _disks(sample.host.disks)


def _process(prefix: str, process: ProcessReading) -> dict[str, Value]:
    return {f"{prefix}.{name}": getattr(process, name) for name in _PROCESS}


def _disks(disks: Mapping[str, DiskReading]) -> dict[str, Value]:
    return {f"disk.{disk}.{name}": getattr(found, name) for disk, found in disks.items() for name in _DISK}


def _phase_at(t_s: float, phases: Sequence[PhaseRecord]) -> int | None:
    return next((phase.index for phase in phases if phase.started_s <= t_s <= phase.ended_s), None)


def _per_second(count: int, interval: IntervalReading) -> float | None:
    nanoseconds = interval.to_ns - interval.from_ns
    return count * _NS / nanoseconds if nanoseconds > 0 else None
