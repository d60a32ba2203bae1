"""What the server spent on each query or transaction of a phase: growth of its counters over work done. Pure.

A sample does not fall on the edge of a phase. What grew is therefore taken between the first and the last
sample within the phase, and divided by the work of exactly that stretch, from the intervals. A phase that two
samples do not fall into has no costs.

CPU time is of the server's process and counts in ticks of the kernel (10 ms). Instructions and cache misses
are not measured: virtual machines and perf_event_paranoid mostly forbid it.

Sources: proc_pid_stat(5), proc_pid_io(5); MySQL 8.0 Reference Manual, "Server Status Variables".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import polars as pl

from mydyno.lab.analysis import metrics
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.sampling.series import stretch

_COLUMNS: Mapping[Metric, tuple[str, ...]] = {
    metrics.SERVER_CPU: ("server.cpu_user_s", "server.cpu_system_s"),
    metrics.SERVER_CPU_USER: ("server.cpu_user_s",),
    metrics.SERVER_CPU_SYSTEM: ("server.cpu_system_s",),
    metrics.VOLUNTARY_SWITCHES: ("server.voluntary_switches",),
    metrics.INVOLUNTARY_SWITCHES: ("server.involuntary_switches",),
    metrics.DATA_READ: ("server.read_bytes",),
    metrics.DATA_WRITTEN: ("server.write_bytes",),
    # Of all of InnoDB's files, the redo log's among them; the binary log's are not counted by any server.
    metrics.FSYNCS: ("status.Innodb_data_fsyncs",),
    metrics.REDO: ("status.Innodb_os_log_written",),
    metrics.LOCK_WAITS: ("status.Innodb_row_lock_waits",),
}
"""Metric -> the columns of samples whose growth it is the sum of."""
_OF_THREADS = (metrics.VOLUNTARY_SWITCHES, metrics.INVOLUNTARY_SWITCHES)
"""Sums over the threads that there are: what ended threads did is missing from them."""
_NS = 1e9
_THREADS_STARTED = "status.Threads_created"


@dataclass(frozen=True)
class Work:
    """What was done in a stretch of a phase, evenly as far as is known."""

    from_s: float
    to_s: float
    queries: int | None
    transactions: int | None

    def share(self, from_s: float, to_s: float) -> float:
        """How much of it lies between two instants, 0 to 1."""
        within = min(self.to_s, to_s) - max(self.from_s, from_s)
        return max(within, 0.0) / (self.to_s - self.from_s) if self.to_s > self.from_s else 0.0


def costs(samples: pl.DataFrame, work: Sequence[Work]) -> dict[str, float]:
    """Name of the metric -> its value over `work`, the stretches of one phase in their order. What was not
    read, or was lost in a restart of the server, is left out."""
    seen = stretch(samples, work[0].from_s, work[-1].to_s) if work else None
    if seen is None:
        return {}
    shares = [(one, one.share(seen.from_s, seen.to_s)) for one in work]
    queries = sum((one.queries or 0) * share for one, share in shares)
    transactions = sum((one.transactions or 0) * share for one, share in shares)
    found: dict[str, float] = {}
    for metric, columns in _COLUMNS.items():
        events = queries if metric.name.endswith("_per_query") else transactions
        grown = [seen.growth[column] for column in columns if column in seen.growth]
        if not events or len(grown) < len(columns):
            continue
        if metric in _OF_THREADS and (seen.growth.get(_THREADS_STARTED) or _fewer_threads(samples, work)):
            continue
        unit = _NS if metric.unit == "ns" else 1
        found[metric.name] = sum(grown) * unit / events
    return found


def _fewer_threads(samples: pl.DataFrame, work: Sequence[Work]) -> bool:
    """Whether some thread ended: the sum over all threads went back between two samples."""
    within = samples.filter(pl.col("t_s").is_between(work[0].from_s, work[-1].to_s))
    values = within["server.voluntary_switches"].drop_nulls().to_list()
    return any(later < earlier for earlier, later in pairwise(values))
