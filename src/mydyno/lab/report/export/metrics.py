"""What a column of the samples or intervals is called among Prometheus' metrics.

Names follow Prometheus, "Metric and label naming": a prefix, base units (seconds, bytes) at the end, `_total`
for what only counts up, and what differs between siblings (a device, a mode) as a label. Status variables of
the server keep their own unit, which only its manual knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mydyno.lab.results.records import Work
from mydyno.lab.sampling.catalogue import kind
from mydyno.lab.sampling.series import STATUS

Type = Literal["counter", "gauge", "unknown"]


@dataclass(frozen=True)
class Metric:
    """A family of metrics; `name` is without the `_total` that its samples have where it is a counter."""

    name: str
    type: Type
    help: str
    unit: str = ""
    """Base unit, at the end of the name."""


@dataclass(frozen=True)
class Source:
    """A column whose values are of a metric, times `scale`."""

    metric: Metric
    labels: Mapping[str, str] = field(default_factory=dict)
    scale: float = 1.0


_PROCESSES = {"server": "the server's process", "client": "the load engine's process"}
_OF_PROCESS = {
    "cpu_user_s": ("cpu_seconds", "counter", "CPU time of {}", "seconds", {"mode": "user"}),
    "cpu_system_s": ("cpu_seconds", "counter", "CPU time of {}", "seconds", {"mode": "system"}),
    "rss_bytes": ("resident_memory_bytes", "gauge", "Resident memory of {}", "bytes", {}),
    "threads": ("threads", "gauge", "Threads of {}", "", {}),
    "voluntary_switches": (
        "context_switches",
        "counter",
        "Context switches of {}",
        "",
        {"kind": "voluntary"},
    ),
    "involuntary_switches": (
        *("context_switches", "counter", "Context switches of {}", ""),
        {"kind": "involuntary"},
    ),
    "read_bytes": ("read_bytes", "counter", "Bytes that {} had fetched from disks", "bytes", {}),
    "write_bytes": ("written_bytes", "counter", "Bytes that {} had sent to disks", "bytes", {}),
}
_OF_DISK = {
    "reads": Metric("mydyno_disk_reads", "counter", "Reads that a block device finished"),
    "read_bytes": Metric("mydyno_disk_read_bytes", "counter", "Bytes read from a block device", "bytes"),
    "writes": Metric("mydyno_disk_writes", "counter", "Writes that a block device finished"),
    "write_bytes": Metric("mydyno_disk_written_bytes", "counter", "Bytes written to a block device", "bytes"),
    "busy_s": Metric(
        "mydyno_disk_busy_seconds", "counter", "Time with at least one request at a block device", "seconds"
    ),
}
_HOST_CPU = Metric(
    "mydyno_host_cpu_seconds", "counter", "CPU time of the whole machine since boot, all CPUs", "seconds"
)
_SWITCHES = Metric("mydyno_host_context_switches", "counter", "Context switches of the machine since boot")

_OF_INTERVAL = {
    "transactions_per_second": "Rate of transactions over an interval",
    "connections": "Connections at the end of an interval",
    "errors": "Errors in an interval",
}
_LATENCY = Metric(
    "mydyno_interval_latency_seconds", "gauge", "Latency of what finished in an interval", "seconds"
)
_QUANTILES = {"p50_ns": "0.5", "p95_ns": "0.95", "p99_ns": "0.99", "max_ns": "1"}


def of_sample(column: str) -> Source | None:
    """The metric of a column of samples.parquet; None for the columns that say when."""
    if column.startswith(STATUS):
        return _of_status(column.removeprefix(STATUS))
    group, _, name = column.partition(".")
    if group in _PROCESSES and name in _OF_PROCESS:
        last, kind_, description, unit, labels = _OF_PROCESS[name]
        metric = Metric(f"mydyno_{group}_{last}", _type(kind_), description.format(_PROCESSES[group]), unit)
        return Source(metric, labels)
    if group == "disk":
        device, _, what = name.rpartition(".")
        return Source(_OF_DISK[what], {"device": device}) if what in _OF_DISK else None
    if column == "host.context_switches":
        return Source(_SWITCHES)
    if mode := re.fullmatch(r"host\.cpu\.(\w+)_s", column):
        return Source(_HOST_CPU, {"mode": mode[1]})
    return None


def of_interval(column: str, work: Work) -> Source | None:
    """The metric of a column of intervals.parquet; None for those that say when."""
    if column == "queries_per_second":
        counted, noun = ("ios", "I/Os") if work == "ios" else ("queries", "queries")
        rate = f"Rate of {noun} over an interval"
        return Source(Metric(f"mydyno_interval_{counted}_per_second", "gauge", rate))
    if column in _OF_INTERVAL:
        return Source(Metric(f"mydyno_interval_{column}", "gauge", _OF_INTERVAL[column]))
    if column in _QUANTILES:
        return Source(_LATENCY, {"quantile": _QUANTILES[column]}, 1e-9)
    return None


def _of_status(name: str) -> Source:
    plain = re.sub(r"[^a-z0-9_]", "_", name.lower())
    found: Type = _type({"high-water": "gauge"}.get(kind(name), kind(name)))
    if found != "counter":
        # The suffix is a counter's alone.
        plain = re.sub(r"_total$", "_in_all", plain)
    return Source(Metric(f"mydyno_status_{plain.removesuffix('_total')}", found, f"Status variable {name}"))


def _type(name: str) -> Type:
    return "counter" if name == "counter" else "gauge" if name == "gauge" else "unknown"
