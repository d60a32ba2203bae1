"""What sysbench 1.0 prints, as typed values. Pure: it sees lines only.

Rates are numbers a second, latencies milliseconds, as printed: two decimals in the report, three in the
histogram. A report is printed at the end of a run and at each --report-checkpoints; it counts from the one
before it. The lines of each second come from another thread and may fall into the middle of a report; that
of the last second is missing when the run was over first.
"""

import math
import re
from dataclasses import dataclass, field, replace

from mydyno.core.errors import EngineError

_NUMBER = r"(-?[\d.]+|-?nan|inf)"
_INTERVAL = re.compile(
    rf"\[ (\d+)s \] thds: (\d+) tps: {_NUMBER} qps: {_NUMBER} \(r/w/o: {_NUMBER}/{_NUMBER}/{_NUMBER}\)"
    rf" lat \(ms,(\d+)%\): {_NUMBER} err/s: {_NUMBER} reconn/s: {_NUMBER}"
)
_QUEUE = re.compile(r"\[ \d+s \] queue length: (\d+), concurrency: (\d+)")
_CHECKPOINT = re.compile(r"\[ \d+s \] Checkpoint report:")
_ERRORS = (
    re.compile(r'FATAL: MySQL error: (\d+) "(.*)"$'),
    re.compile(r"FATAL: error (\d+): (.*)$"),
    re.compile(r"(?:FATAL|ALERT): \w+\(\) returned error (\d+) \((.*)\) for query"),
)
_REPEATED = re.compile(r"\(last message repeated (\d+) times\)")
_FATAL = re.compile(r"FATAL: (.*)")
_BUCKET = re.compile(r"\s*([\d.]+) \|\**\s+(\d+)$")
_FIELDS = (
    *((name, re.compile(rf"\s+{name}:\s+(\d+)$")) for name in ("read", "write", "other", "total")),
    *(
        (name, re.compile(rf"\s+{name}:\s+(\d+)\s+\({_NUMBER} per sec\.\)$"))
        for name in ("transactions", "queries", "ignored errors", "reconnects")
    ),
    ("total_time", re.compile(r"\s+total time:\s+([\d.]+)s$")),
    ("events", re.compile(r"\s+total number of events:\s+(\d+)$")),
    ("min", re.compile(r"\s+min:\s+([\d.]+)$")),
    ("avg", re.compile(rf"\s+avg:\s+{_NUMBER}$")),
    ("max", re.compile(r"\s+max:\s+([\d.]+)$")),
    ("percentile", re.compile(r"\s+(\d+)th percentile:\s+([\d.]+)$")),
    ("sum", re.compile(r"\s+sum:\s+([\d.]+)$")),
    ("fair_events", re.compile(rf"\s+events \(avg/stddev\):\s+{_NUMBER}/{_NUMBER}$")),
    ("fair_time", re.compile(rf"\s+execution time \(avg/stddev\):\s+{_NUMBER}/{_NUMBER}$")),
)
_LOWEST_TELLING_RATE = 50.0
_LAST_FIELD = "fair_time"
_TITLES = ("queries performed:", "General statistics:", "Latency (ms):", "Threads fairness:")


@dataclass(frozen=True)
class Started:
    """All threads have their connections; the clock runs from here."""


@dataclass(frozen=True)
class CheckpointBegins:
    """The counters are set back now; the report that follows is that of the time before."""


@dataclass(frozen=True)
class IntervalLine:
    """The line of one --report-interval, which ended `second` seconds after the start."""

    second: int
    threads: int
    transactions_per_second: float
    queries_per_second: float
    by_class_per_second: tuple[float, float, float]
    """Reads, writes and others."""
    percentile: int
    latency_ms: float
    errors_per_second: float
    reconnects_per_second: float


@dataclass(frozen=True)
class QueueLine:
    """With --rate: events that wait for a thread, and events that are being run."""

    length: int
    concurrency: int


@dataclass(frozen=True)
class ErrorLine:
    """Something fatal; `code` is None when no error of the server is behind the line."""

    code: int | None
    text: str
    times: int = 1
    """sysbench prints the same line of several threads once, and then how often it came again."""


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Of events, in ms; `buckets` are upper bounds with counts, empty in the report of a checkpoint."""

    min_ms: float
    max_ms: float
    sum_ms: float
    buckets: tuple[tuple[float, int], ...]

    def at(self, share: float) -> float | None:
        """The percentile of a share (0.95) in ms by the rule of sysbench 1.0.20: the first bucket up to which
        there are at least so many of all events, rounded down. None without a histogram."""
        total = sum(count for _, count in self.buckets)
        wanted, seen = math.floor(total * (share * 100) / 100), 0
        for bound, count in self.buckets:
            seen += count
            if seen >= wanted:
                return bound
        return None


@dataclass(frozen=True, kw_only=True)
class Report:
    """A full report. `total_time_s` counts from the start; all else from the report before."""

    read: int
    write: int
    other: int
    queries: int
    queries_per_second: float
    ignored_errors: int
    total_time_s: float
    events: int
    latency: Latency

    @property
    def seconds(self) -> float | None:
        """The time that the rates are over; None when they are too low to know it to 1 in 10,000."""
        if self.queries_per_second < _LOWEST_TELLING_RATE:
            return None
        return self.queries / self.queries_per_second


Item = Started | CheckpointBegins | IntervalLine | QueueLine | ErrorLine | Report


@dataclass
class ReportReader:
    """Reads the output of one `sysbench run`, line by line."""

    program: str = "sysbench"
    _number: int = 0
    _last_error: ErrorLine | None = None
    _found: dict[str, tuple[str, ...]] | None = None
    _buckets: list[tuple[float, int]] | None = None
    _histogram: tuple[tuple[float, int], ...] = field(default=())

    def read(self, line: str) -> Item | None:
        """What `line` says; None when it says nothing new. Raises EngineError for one that cannot be read."""
        self._number += 1
        if line.startswith("["):
            return self._bracketed(line)
        if repeated := _REPEATED.fullmatch(line):
            return replace(self._last_error, times=int(repeated[1])) if self._last_error else None
        if line.startswith(("FATAL: ", "ALERT: ", "WARNING: ")):
            self._last_error = _error(line)
            return self._last_error
        if line == "Threads started!":
            return Started()
        if line.startswith("Latency histogram"):
            self._buckets = []
        elif line == "SQL statistics:":
            self._histogram, self._buckets = tuple(self._buckets or ()), None
            self._found = {}
        elif self._buckets is not None:
            self._bucket(line)
        elif self._found is not None:
            return self._field(line, self._found)
        return None

    def _bracketed(self, line: str) -> Item:
        if match := _INTERVAL.fullmatch(line):
            numbers = [float(text) for text in match.groups()]
            return IntervalLine(
                second=int(match[1]),
                threads=int(match[2]),
                transactions_per_second=numbers[2],
                queries_per_second=numbers[3],
                by_class_per_second=(numbers[4], numbers[5], numbers[6]),
                percentile=int(match[8]),
                latency_ms=numbers[8],
                errors_per_second=numbers[9],
                reconnects_per_second=numbers[10],
            )
        if match := _QUEUE.fullmatch(line):
            return QueueLine(int(match[1]), int(match[2]))
        if _CHECKPOINT.fullmatch(line):
            return CheckpointBegins()
        raise self._unreadable(line)

    def _bucket(self, line: str) -> None:
        assert self._buckets is not None
        if match := _BUCKET.fullmatch(line):
            self._buckets.append((float(match[1]), int(match[2])))
        elif line.strip() and line.split()[0] != "value":
            raise self._unreadable(line)

    def _field(self, line: str, found: dict[str, tuple[str, ...]]) -> Report | None:
        if not line.strip() or line.strip() in _TITLES:
            return None
        for name, pattern in _FIELDS:
            if match := pattern.fullmatch(line):
                found[name] = match.groups()
                if name != _LAST_FIELD:
                    return None
                missing = [name for name, _ in _FIELDS if name not in found]
                if missing:
                    raise self._unreadable(line, f"the report ends without {missing[0].replace('_', ' ')}")
                self._found = None
                return _report(found, self._histogram)
        raise self._unreadable(line)

    def _unreadable(self, line: str, why: str = "the line is not known") -> EngineError:
        return EngineError(
            f"the output of {self.program} cannot be read: line {self._number} {line[:200]!r}: {why}",
            "mydyno knows the output of sysbench 1.0",
        )


def _error(line: str) -> ErrorLine | None:
    """FATAL lines, and ALERT lines with an error of the server."""
    for pattern in _ERRORS:
        if match := pattern.match(line):
            return ErrorLine(int(match[1]), match[2])
    fatal = _FATAL.match(line)
    return ErrorLine(None, fatal[1]) if fatal else None


def _report(found: dict[str, tuple[str, ...]], histogram: tuple[tuple[float, int], ...]) -> Report:
    def whole(name: str) -> int:
        return int(found[name][0])

    def number(name: str, index: int = 0) -> float:
        return float(found[name][index])

    return Report(
        read=whole("read"),
        write=whole("write"),
        other=whole("other"),
        queries=whole("queries"),
        queries_per_second=number("queries", 1),
        ignored_errors=whole("ignored errors"),
        total_time_s=number("total_time"),
        events=whole("events"),
        latency=Latency(
            min_ms=number("min"),
            max_ms=number("max"),
            sum_ms=number("sum"),
            buckets=histogram,
        ),
    )
