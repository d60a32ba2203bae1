"""Meaning and unit of each column of the exported tables (docs/reference/lab-format.md), and what a column of
the samples or intervals is called among Prometheus' metrics.

Names follow Prometheus, "Metric and label naming": a prefix, base units (seconds, bytes) at the end, `_total`
for what only counts up, and what differs between siblings (a device, a mode) as a label. Status variables of
the server keep their own unit, which only its manual knows.
"""

import re
from collections.abc import Iterable, Mapping
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
    "cpu_s": ("cpu_clock_seconds", "counter", "User and system time of {} by its CPU clock", "seconds", {}),
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
    "instructions": ("instructions", "counter", "Instructions in user space of {}", "", {}),
    "cache_misses": ("cache_misses", "counter", "Cache misses in user space of {}", "", {}),
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


_UNITS = {"_ns": "ns", "_s": "s", "_bytes": "bytes", "_per_second": "1/s", "_iops": "1/s"}
_UNIT_OF = {
    "seconds": "s",
    "idle": "share, 0 to 1",
    "cached_bytes": "bytes",
    "created_at": "ISO 8601, UTC",
    "started_at": "ISO 8601, UTC",
}

_EVERYWHERE = {
    "trial_id": "the trial",
    "attempt": "1, or more when an invalid attempt at the same trial was repeated",
    "point_id": "the point: one combination of factor levels",
    "position": "position in its order",
    "phase": "0-based index of the phase in its trial; empty: the trial as a whole, or between two phases",
    "factor": "dotted path of what varies, or its name",
    "level": "one value of a factor",
    "name": "what it is, by name",
    "kind": "kind of statement, of latency or of environment",
    "count": "how many",
    "errors": "how many failed; empty: not known",
    "rows": "rows returned or changed; empty: not known",
    "queries": "that ended without error (I/Os where fio drove a volume)",
    "transactions": "that ended without error",
    "queries_per_second": "rate of queries (or I/Os) while it was measured",
    "transactions_per_second": "rate of transactions while it was measured",
    "client_cpu_user_s": "CPU time of the load generator, in user mode",
    "client_cpu_system_s": "CPU time of the load generator, in the kernel",
    "p50_ns": "median latency",
    "p75_ns": "75th percentile of latency",
    "p90_ns": "90th percentile of latency",
    "p95_ns": "95th percentile of latency",
    "p99_ns": "99th percentile of latency",
    "p999_ns": "99.9th percentile of latency",
    "min_ns": "shortest latency",
    "mean_ns": "mean latency",
    "max_ns": "longest latency",
    "check_name": "name of the check",
    "message": "its message",
    "volume": "name of the volume",
    "value": "as it was read",
    "seconds": "how long it took",
    "started_at": "when it began",
    "t_s": "when, since the load engine of the trial started",
}
_OF_TABLE = {
    "runs": {
        "experiment": "its name",
        "size": "the overlay that was chosen",
        "question": "question of the experiment",
        "source": "where the question comes from",
        "spec_file": "name of the experiment file",
        "spec_text": "the experiment file, verbatim",
        "plan_fingerprint": "hex digest of the plan: same plan, same digest",
        "seed": "of the order and of the trials' seeds; decimal",
        "planned_trials": "how many trials were planned",
        "created_at": "when it was planned",
        "mydyno_version": "version that planned it",
        "work": "what rates count: queries, or ios",
        "design": "which points, how often, in what order: JSON",
        "imported": "1: measured elsewhere",
        "claims": "what the source of imported numbers concluded: JSON",
    },
    "factor_levels": {
        "factor_position": "place of the factor in the experiment file",
        "level_position": "place of the level in its factor",
    },
    "points": {"title": "for people", "control_of": "the point that this one measures a second time"},
    "environments": {"start": "1 for the first start of the run, more when it was resumed"},
    "trials": {
        "block": "repetition k of every point is in block k; -1: the A/A over the hosts of a fleet",
        "host": "the host of the fleet that it ran on; empty without a fleet",
        "seed": "of the load; decimal",
        "status": "valid or invalid",
        "server_version": "as the server reports it",
        "durability": "what a crash may cost under the settings in force",
        "position": "0-based place in the planned order",
        "networks": "the generators and their network to the server: JSON; []: one machine",
    },
    "settings": {
        "asked": "as configured by the experiment; empty: not configured",
        "in_force": "as read back from the running server",
    },
    "translations": {
        "value": "as the experiment wrote it",
        "became": "the equivalent settings on this server: JSON",
        "why": "the reason",
    },
    "counters": {
        "value": "growth of a counter over the trial, last value of anything else",
        "name": "status variable",
    },
    "totals": {"metric": "name of the metric", "value": "over all phases, as imported"},
    "checks": {"holds": "1 or 0", "detail": "what was found when it does not hold"},
    "phases": {
        "connections_asked": "number of connections (or queue depth) that was configured",
        "connections_reached": "number that was reached",
        "started_s": "start, since the load engine started",
        "measured_from_s": "end of the warm-up; empty: measuring was not reached",
        "measured_to_s": "end of measuring",
        "steady_from_s": "where the steady part begins; empty: not judged, or never steady",
        "shares": "what each generator did: JSON; []: the load came from one machine",
        "slices": "how it was measured in slices, and the rate of each: JSON; empty: in one piece",
        "ended_s": "end",
        "costs": "what the server spent on each query or transaction, by metric: JSON",
        "latency_kind": "service: from sending; response: from the intended start",
        "aborted": "why it ended early",
        "backlog_max": "open loop: the most transactions that were due and not started",
        "label": "the test program, where the number of connections does not distinguish phases",
        "retries": "retried transactions",
        "reconnects": "lost connections that were opened again",
    },
    "latencies": {"scope": "queries, connects, transactions or one kind of statement"},
    "transactions_by_name": {"name": "name of the transaction in the workload"},
    "phase_errors": {"code": "of the server or the client", "example": "the first message that came with it"},
    "operations": {
        "tests": "as the original suite counts them",
        "statements": "as actually sent",
        "failed": "statements that failed",
        "elapsed_ns": "time of the operation",
        "original_elapsed_ns": "what the original would show, where its timer includes earlier work",
        "server_cpu_user_s": "CPU time of the server, in user mode",
        "server_cpu_system_s": "CPU time of the server, in the kernel",
        "estimated": "1: cut off by the time limit and extrapolated",
        "warning": "a warning about it",
        "in_totals": "0: the original's totals miss it",
    },
    "operation_totals": {
        "name": "the operation; TOTALS: all of them, as the file gives it",
        "tests": "as the suite counts them",
        "elapsed_s": "wall-clock seconds",
        "client_cpu_s": "CPU time of the load generator, as the file gives it",
        "estimated": "1: cut off by the time limit and extrapolated",
        "warned": "1: something was wrong with its results",
    },
    "grounds": {
        "kernel": "its release",
        "cpus": "number of CPUs",
        "memory_bytes": "memory of the environment",
        "budget": "whether a disk's limit counts reads and writes jointly or separately",
        "disk_model": "what a disk of this environment is",
    },
    "self_checks": {
        "operation": "randread or randwrite",
        "block_bytes": "size of an I/O",
        "queue_depth": "I/Os in flight",
        "measured_iops": "by fio; empty: it failed",
        "expected_iops": "by theory; empty: no limit is configured, or there is no theory",
        "idle": "of the CPU time, idle or waiting for I/O",
        "error": "message of fio when it failed",
    },
    "trial_data": {
        "dataset": "fingerprint of the frozen dataset",
        "clone": "reflink, copy or overlay",
        "clone_seconds": "how long cloning took",
        "cache": "as configured: as-cloned, cold, scan or dump",
        "file_bytes": "of the clone",
        "cached_bytes": "of those, in the page cache when the server started",
        "warm_seconds": "how long it was warmed",
        "pool_pages": "pages of data in the buffer pool before the first phase",
        "pool_pages_total": "pages of the buffer pool",
        "page_bytes": "size of a page",
    },
    "intervals": {
        "from_s": "start of the interval, since the load engine started",
        "to_s": "its end",
        "warmup": "true: before measuring",
        "connections": "at its end",
        "queries": "that finished in it (I/Os where fio drove a volume)",
        "transactions": "that finished in it",
        "histogram": "latencies of its queries: base64 of an HdrHistogram (V2, deflated), in ns",
    },
}


def describe(table: str, columns: Iterable[str]) -> list[dict[str, str | None]]:
    """A row of the dictionary for each column; `is` is None for one that has no explanation."""
    return [
        {"table": table, "column": column, "unit": _unit(table, column), "is": _meaning(table, column)}
        for column in columns
    ]


def _meaning(table: str, column: str) -> str | None:
    known = _OF_TABLE.get(table, {}).get(column) or _EVERYWHERE.get(column)
    if known is None and table == "samples" and (source := of_sample(column)) is not None:
        labels = ", ".join(source.labels.values())
        return f"{source.metric.help} ({labels})" if labels else source.metric.help
    return known


def _unit(table: str, column: str) -> str | None:
    if table == "samples" and column.startswith("status."):
        return None
    if column in _UNIT_OF:
        return _UNIT_OF[column]
    return next((unit for end, unit in _UNITS.items() if column.endswith(end)), None)
