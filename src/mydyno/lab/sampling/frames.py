"""Raw messages -> the wide tables that the lab keeps as Parquet (docs/reference/lab-format.md)."""

from collections.abc import Sequence

import polars as pl

from mydyno.lab.load.messages import Interval, Sample
from mydyno.lab.results.records import PhaseRecord
from mydyno.lab.sampling.catalogue import number
from mydyno.lab.sampling.histograms import packed
from mydyno.machine.proc import DiskCounters, ProcessCounters

Value = int | float | None

_NS = 1e9
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
_AS_READ = _INTERVAL.keys() & Interval.model_fields.keys() - {"histogram"}


def sample_frame(samples: Sequence[Sample], phases: Sequence[PhaseRecord] = ()) -> pl.DataFrame:
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


def interval_frame(intervals: Sequence[Interval]) -> pl.DataFrame:
    """One row an interval, ascending in time; the columns are there even when there is no row."""
    rows = [
        {
            **one.model_dump(include=_AS_READ),
            "from_s": one.from_ns / _NS,
            "to_s": one.to_ns / _NS,
            "queries_per_second": _per_second(one.queries, one),
            "transactions_per_second": _per_second(one.transactions, one),
            "histogram": packed(one.histogram),
        }
        for one in sorted(intervals, key=lambda one: one.from_ns)
    ]
    return pl.DataFrame(rows, schema=_INTERVAL)


def _flat(sample: Sample) -> dict[str, Value]:
    row: dict[str, Value] = {f"status.{name}": number(text) for name, text in (sample.status or {}).items()}
    row |= _named("client", sample.client)
    if sample.server is not None:
        row |= _named("server", sample.server)
    row |= {f"host.cpu.{mode}_s": seconds for mode, seconds in sample.host.cpu.items()}
    row["host.context_switches"] = sample.host.context_switches
    for name, disk in sample.host.disks.items():
        row |= _named(f"disk.{name}", disk)
    return row


def _named(prefix: str, reading: ProcessCounters | DiskCounters) -> dict[str, Value]:
    return {f"{prefix}.{name}": value for name, value in reading}


def _phase_at(t_s: float, phases: Sequence[PhaseRecord]) -> int | None:
    return next((phase.index for phase in phases if phase.started_s <= t_s <= phase.ended_s), None)


def _per_second(count: int, interval: Interval) -> float | None:
    nanoseconds = interval.to_ns - interval.from_ns
    return count * _NS / nanoseconds if nanoseconds > 0 else None
