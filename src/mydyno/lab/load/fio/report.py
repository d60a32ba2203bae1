"""fio's report (`--output-format=json+`) as numbers. Pure: it takes the text that fio printed.

Latency is fio's `lat`: from the moment at which fio has the I/O to hand over, to its completion. `clat`,
which fio prints by default, leaves out the time in which the kernel makes the caller of io_submit(2) wait
for a place in the device's queue, and so would hide the queue that is measured here.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mydyno.core.errors import EngineError
from mydyno.lab.load import messages

LATE = 1.5
"""A reading this many windows after the one before is of one window only: there were none in between."""


@dataclass(frozen=True)
class Latencies:
    """`bins`: latency in ns -> how many. fio's bins are 1/64 of their power of two wide, so that a percentile
    is off by at most 0.8% (stat.h, FIO_IO_U_PLAT_BITS)."""

    bins: Mapping[int, int]
    min_ns: int
    max_ns: int
    mean_ns: float
    count: int


@dataclass(frozen=True)
class Kind:
    """What was done of one kind: reads, writes or fsyncs. `dropped` were never done, `short` not wholly."""

    count: int
    seconds: float
    latencies: Latencies | None
    short: int
    dropped: int


@dataclass(frozen=True)
class Report:
    """All jobs of one run of fio together."""

    version: str
    kinds: Mapping[str, Kind]
    """`read`, `write`, `fsync`: those that were done."""
    error: int
    """The first errno that ended a job; 0: none."""
    cpu_user_s: float
    cpu_system_s: float
    steady: bool | None
    """Whether fio found it steady; None when it was not to look."""

    @property
    def ios(self) -> int:
        """Reads and writes."""
        return sum(kind.count for name, kind in self.kinds.items() if name != "fsync")

    @property
    def seconds(self) -> float:
        """The time over which fio takes its rates: to the last completion, without the warm-up."""
        return max((kind.seconds for kind in self.kinds.values()), default=0.0)


def parse(text: str) -> Report:
    """The report in what fio printed, which may have notes before it. Raises EngineError without one."""
    begin = 0 if text.startswith("{") else text.find("\n{") + 1
    try:
        document = json.loads(text[begin:])
        jobs: list[dict[str, Any]] = document["jobs"]
        return _report(str(document["fio version"]), jobs)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise EngineError(
            f"fio's report cannot be read: {type(error).__name__} {error}",
            "mydyno knows the json+ output of fio 3; docs/how-to/fio.md names the versions that were tried",
        ) from None


def _report(version: str, jobs: Sequence[Mapping[str, Any]]) -> Report:
    fsync = _merged([_kind(job["sync"], 0) for job in jobs])
    kinds = {
        name: kind
        for name in ("read", "write")
        if (kind := _merged([_kind(job[name], int(job[name]["runtime"])) for job in jobs])) is not None
    }
    if fsync is not None:
        # fio 3.33 counts each queued fsync as a short read as well, since none of its bytes are transferred.
        kinds = {name: replace(kind, short=max(0, kind.short - fsync.count)) for name, kind in kinds.items()}
        kinds["fsync"] = fsync
    found = [job["steadystate"]["attained"] for job in jobs if "steadystate" in job]
    return Report(
        version=version,
        kinds=kinds,
        error=next((int(job["error"]) for job in jobs if job["error"]), 0),
        cpu_user_s=sum(job["usr_cpu"] / 100 * job["job_runtime"] / 1000 for job in jobs),
        cpu_system_s=sum(job["sys_cpu"] / 100 * job["job_runtime"] / 1000 for job in jobs),
        steady=all(found) if found else None,
    )


def _kind(document: Mapping[str, Any], runtime_ms: int) -> Kind:
    lat = document["lat_ns"]
    latencies = Latencies(
        bins={int(ns): int(count) for ns, count in lat.get("bins", {}).items()},
        min_ns=int(lat["min"]),
        max_ns=int(lat["max"]),
        mean_ns=float(lat["mean"]),
        count=int(lat["N"]),
    )
    return Kind(
        # Queued fsyncs (libaio) are in no other count than that of their latencies.
        count=int(document["total_ios"]) or latencies.count,
        seconds=runtime_ms / 1000,
        latencies=latencies if latencies.count else None,
        short=int(document.get("short_ios", 0)),
        dropped=int(document.get("drop_ios", 0)),
    )


def _merged(kinds: Sequence[Kind]) -> Kind | None:
    """Of several jobs as one; None when no I/O of the kind was done."""
    if not any(kind.count or kind.dropped for kind in kinds):
        return None
    timed = [kind.latencies for kind in kinds if kind.latencies is not None]
    return Kind(
        count=sum(kind.count for kind in kinds),
        seconds=max(kind.seconds for kind in kinds),
        latencies=together(timed) if timed else None,
        short=sum(kind.short for kind in kinds),
        dropped=sum(kind.dropped for kind in kinds),
    )


def together(parts: Sequence[Latencies]) -> Latencies:
    """Several distributions as one; at least one is given, and none is empty."""
    bins: dict[int, int] = {}
    for part in parts:
        for ns, count in part.bins.items():
            bins[ns] = bins.get(ns, 0) + count
    count = sum(part.count for part in parts)
    return Latencies(
        bins=dict(sorted(bins.items())),
        min_ns=min(part.min_ns for part in parts),
        max_ns=max(part.max_ns for part in parts),
        mean_ns=math.fsum(part.mean_ns * part.count for part in parts) / count,
        count=count,
    )


def histogram(latencies: Latencies | None) -> messages.Histogram:
    """The figures of a distribution: a percentile is the first bin up to which that share has come."""
    if latencies is None:
        return messages.NOT_TIMED
    ordered = sorted(latencies.bins.items())
    total = sum(count for _, count in ordered)

    def percentile(share: float) -> int | None:
        wanted, seen = math.ceil(total * share), 0
        for ns, count in ordered:
            seen += count
            if seen >= wanted:
                return min(max(ns, latencies.min_ns), latencies.max_ns)
        return None

    return messages.Histogram(
        count=latencies.count,
        min_ns=latencies.min_ns,
        mean_ns=latencies.mean_ns,
        max_ns=latencies.max_ns,
        **{name: percentile(share) for name, share in messages.PERCENTILES.items()},
        histogram=None,
    )


@dataclass(frozen=True)
class Window:
    """What was done from `from_s` to `to_s` of the measured time, reads and writes together."""

    from_s: float
    to_s: float
    ios: int


def windows(log: str, window_s: float, ios: int, seconds: float) -> tuple[Window, ...]:
    """The measured `seconds` in windows, with what is in no line of the log, of all `ios`, in the last."""
    # A rest of less than half a window belongs to the window before it.
    count = max(1, round(seconds / window_s))
    edges = [number * window_s for number in range(count)] + [seconds]
    done = [0.0] * count
    for from_s, to_s, per_second in _rates(log, window_s):
        for number in range(count):
            shared = min(to_s, edges[number + 1]) - max(from_s, edges[number])
            if shared > 0:
                done[number] += shared * per_second
    counts = [round(each) for each in done]
    counts[-1] = max(0, ios - sum(counts[:-1]))
    if seconds <= 0:
        return ()
    return tuple(Window(edges[number], edges[number + 1], counts[number]) for number in range(count))


def _rates(log: str, window_s: float) -> Iterator[tuple[float, float, float]]:
    """From when to when, in seconds, and how many I/Os a second."""
    before_s, at_s = 0.0, 0.0
    directions: set[int] = set()
    for line in log.splitlines():
        ms, rate, direction, *_ = (int(word) for word in line.split(","))
        t_s = ms / 1000
        if t_s < at_s or (t_s == at_s and direction in directions):
            before_s, at_s, directions = 0.0, t_s, set()
        elif t_s > at_s:
            before_s, at_s, directions = at_s, t_s, set()
        directions.add(direction)
        from_s = before_s if at_s - before_s < LATE * window_s else at_s - window_s
        yield from_s, at_s, rate
