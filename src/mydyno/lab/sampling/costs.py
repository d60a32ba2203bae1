"""What the server spent on each query or transaction of a phase: growth of its counters over work done. Pure.

A sample does not fall on the edge of a phase. What grew is therefore taken between the first and the last
sample within the phase, and divided by the work of exactly that stretch, from the intervals. A phase that two
samples do not fall into has no costs.

CPU time is of the server's process by its CPU clock, which is exact; user and system time share it as the
ticks of the kernel (10 ms) of the same stretch do. Instructions and cache misses are of user space, where
the machine has such counters and perf may be used.

Sources: clock_getcpuclockid(3), proc_pid_stat(5), proc_pid_io(5), perf_event_open(2);
MySQL 8.0 Reference Manual, "Server Status Variables".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import polars as pl

from mydyno.lab.analysis import metrics
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.sampling.series import stretch

_COLUMNS: Mapping[Metric, tuple[str, ...]] = {
    metrics.INSTRUCTIONS: ("server.instructions",),
    metrics.CACHE_MISSES: ("server.cache_misses",),
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
    all_s, user_s, system_s = (
        seen.growth.get(f"server.{name}") for name in ("cpu_s", "cpu_user_s", "cpu_system_s")
    )
    found = cpu_costs(all_s, user_s, system_s, queries) if queries else {}
    for metric, columns in _COLUMNS.items():
        events = queries if metric.name.endswith("_per_query") else transactions
        grown = [seen.growth[column] for column in columns if column in seen.growth]
        if not events or len(grown) < len(columns):
            continue
        if metric in _OF_THREADS and (seen.growth.get(_THREADS_STARTED) or _fewer_threads(samples, work)):
            continue
        found[metric.name] = sum(grown) / events
    return found


def cpu_costs(
    all_s: float | None, user_s: float | None, system_s: float | None, queries: float
) -> dict[str, float]:
    """CPU per query in ns: `all_s` in all, shared out as the ticks of user and system time are; the sum of
    the ticks where nothing better was read, and nothing where they were not read either."""
    if user_s is None or system_s is None:
        return {}
    ticks = user_s + system_s
    spent = (ticks if all_s is None else all_s) * _NS / queries
    found = {metrics.SERVER_CPU.name: spent}
    if ticks or not spent:
        found[metrics.SERVER_CPU_USER.name] = spent * user_s / (ticks or 1)
        found[metrics.SERVER_CPU_SYSTEM.name] = spent * system_s / (ticks or 1)
    return found


def _fewer_threads(samples: pl.DataFrame, work: Sequence[Work]) -> bool:
    """Whether some thread ended: the sum over all threads went back between two samples."""
    within = samples.filter(pl.col("t_s").is_between(work[0].from_s, work[-1].to_s))
    values = within["server.voluntary_switches"].drop_nulls().to_list()
    return any(later < earlier for earlier, later in pairwise(values))
