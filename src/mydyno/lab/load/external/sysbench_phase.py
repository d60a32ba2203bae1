"""From the output of one `sysbench run` to the messages of a phase. Pure but for the child's CPU time.

sysbench counts statements as read, write and other and times whole events. Where every event was one
statement, the time of an event is that of the statement. A run that was cut off leaves no report; then
the counts are summed from the lines of each second, whose rates have two decimals.
"""

from collections import Counter
from collections.abc import Iterator

from mydyno.lab.load import messages
from mydyno.lab.load.external.foreign import Cut, Start
from mydyno.lab.load.external.program import Ended, Line
from mydyno.lab.load.external.sysbench_report import (
    CheckpointBegins,
    ErrorLine,
    IntervalLine,
    QueueLine,
    Report,
    ReportReader,
    Started,
)

_NS = 1_000_000_000
_MS = 1_000_000
_GRACE_NS = 10 * _NS


class SysbenchPhase:
    """Hears one run of sysbench."""

    def __init__(self, start: Start, program: str, ignored: str) -> None:
        """`ignored`: the codes that sysbench ignores, as one key, since it counts them together."""
        self._start = start
        self._ignored = ignored
        self._program = program
        self._reader = ReportReader(program)
        self._work = start.phase.work
        self._warmup_s = int(self._work.get("warmup_s", 0))
        self._started_ns = start.clock.now()
        self._running_ns: int | None = None
        self._measuring_ns: int | None = None
        self._cpu_before = (0.0, 0.0)
        self._intervals: list[messages.Interval] = []
        self._report: Report | None = None
        self._warm_report: Report | None = None
        self._errors: Counter[str] = Counter()
        self._examples: dict[str, str] = {}
        self._fatal: str | None = None
        self._backlog_max = 0
        self._last_line = ""

    @property
    def latest_end_ns(self) -> int | None:
        if self._running_ns is None or self._work["kind"] != "timed":
            return None
        return self._running_ns + int((self._warmup_s + self._work["measure_s"]) * _NS) + _GRACE_NS

    def hear(self, line: Line) -> Iterator[messages.Message]:
        now = self._start.clock.at(line.at_ns)
        if line.text.strip():
            self._last_line = line.text.strip()
        match self._reader.read(line.text):
            case Started():
                self._running_ns = now
                # sysbench starts with all connections or not at all.
                reached = self._start.phase.connections
                yield messages.Connected(
                    phase=self._start.index, reached=reached, failed=0, errors={}, t_ns=now
                )
                if not self._warmup_s:
                    yield self._measuring(now)
            case CheckpointBegins():
                yield self._measuring(now)
            case IntervalLine() as interval:
                yield self._interval(interval, now)
            case QueueLine(length=length):
                self._backlog_max = max(self._backlog_max, length)
            case ErrorLine() as error:
                self._count(error)
            case Report() as report if self._warmup_s and self._warm_report is None:
                self._warm_report = report
            case Report() as report:
                self._report = report
            case None:
                pass

    def _measuring(self, now: int) -> messages.Measuring:
        self._measuring_ns = now
        self._cpu_before = self._start.cpu_s()
        return messages.Measuring(phase=self._start.index, t_ns=now)

    def _interval(self, line: IntervalLine, now: int) -> messages.Interval:
        assert self._running_ns is not None, "sysbench prints no interval before its threads have started"
        before = self._intervals[-1].to_ns if self._intervals else self._running_ns
        to_ns = self._running_ns + line.second * _NS
        seconds = (to_ns - before) / _NS
        # 0.00 is printed without an event, and in the second of a checkpoint.
        at = {line.percentile: round(line.latency_ms * _MS)} if line.latency_ms else {}
        interval = messages.foreign_interval(
            phase=self._start.index,
            from_ns=before,
            to_ns=to_ns,
            queries=round(line.queries_per_second * seconds),
            transactions=round(line.transactions_per_second * seconds),
            errors=round(line.errors_per_second * seconds),
            reconnects=round(line.reconnects_per_second * seconds),
            queries_by_class=_classes(*(round(rate * seconds) for rate in line.by_class_per_second)),
            connections=line.threads,
            p50_ns=at.get(50),
            p95_ns=at.get(95),
            p99_ns=at.get(99),
            transaction_p95_ns=at.get(95),
            transaction_percentile_ns=at.get(line.percentile),
            warmup=line.second <= self._warmup_s,
            t_ns=now,
        )
        self._intervals.append(interval)
        return interval

    def _count(self, error: ErrorLine) -> None:
        self._fatal = self._fatal or error.text
        if error.code is not None:
            self._errors[str(error.code)] += error.times
            self._examples.setdefault(str(error.code), error.text)

    def end(self, ended: Ended, cut: Cut) -> Iterator[messages.Message]:
        report = self._report
        aborted = cut.why
        if report is None and not cut.interrupted and aborted is None:
            said = next(iter(self._examples.values()), self._fatal or self._last_line)
            aborted = f"{self._program} ended with exit code {ended.exit_code} and no report: {said}"
        ignored = report.ignored_errors if report else sum(one.errors for one in self._measured_intervals())
        if ignored:
            self._errors[self._ignored] += ignored
            self._examples[self._ignored] = f"{self._program} counts the errors that it ignores together"
        queries, events = self._counts()
        from_ns, to_ns = self._window()
        timed = _histogram(report) if report else messages.NOT_TIMED
        yield messages.foreign_end(
            phase=self._start.index,
            connections_asked=self._start.phase.connections,
            connections_reached=0 if self._running_ns is None else self._start.phase.connections,
            started_ns=self._started_ns,
            measured_from_ns=from_ns,
            measured_to_ns=to_ns,
            ended_ns=self._start.clock.now(),
            interrupted=cut.interrupted,
            aborted=aborted,
            latency_kind="response" if "rate" in self._start.phase.arrival else "service",
            queries=messages.Timed(count=queries, latency=timed if queries == events else messages.NOT_TIMED),
            queries_by_class=_classes(report.read, report.write, report.other) if report else None,
            statements=_statements(report) if report else {},
            transactions=messages.Timed(count=events, latency=timed),
            errors=dict(self._errors),
            error_examples=self._examples,
            retries=ignored,
            client_cpu=messages.CpuSeconds(
                user_s=max(0.0, ended.user_s - self._cpu_before[0]),
                system_s=max(0.0, ended.system_s - self._cpu_before[1]),
            ),
            backlog_max=self._backlog_max if "rate" in self._start.phase.arrival else None,
            t_ns=self._start.clock.now(),
        )

    def _measured_intervals(self) -> list[messages.Interval]:
        return [one for one in self._intervals if not one.warmup]

    def _counts(self) -> tuple[int, int]:
        """Statements and events of the measured time."""
        if self._report:
            return self._report.queries, self._report.events
        measured = self._measured_intervals()
        return sum(one.queries for one in measured), sum(one.transactions for one in measured)

    def _window(self) -> tuple[int | None, int | None]:
        """The measured time. Its length is the one that sysbench's own rates are over."""
        if self._measuring_ns is None:
            return None, None
        if self._report:
            before = self._warm_report.total_time_s if self._warm_report else 0.0
            seconds = self._report.seconds or self._report.total_time_s - before
            return self._measuring_ns, self._measuring_ns + round(seconds * _NS)
        measured = self._measured_intervals()
        return (measured[0].from_ns, measured[-1].to_ns) if measured else (None, None)


def _classes(read: int, write: int, other: int) -> messages.QueryClasses:
    return messages.QueryClasses(read=read, write=write, other=other)


def _statements(report: Report) -> dict[str, messages.Statement]:
    """Counts by sysbench's own kinds; it reports neither their rows nor errors nor times."""
    counts = {"read": report.read, "write": report.write, "other": report.other}
    return {
        kind: messages.Statement(count=count, errors=None, rows=None, latency=messages.NOT_TIMED)
        for kind, count in counts.items()
        if count
    }


def _histogram(report: Report) -> messages.Histogram:
    """The latencies of events, from the report and its histogram."""
    if not report.events:
        return messages.NOT_TIMED
    latency = report.latency
    at = {name: latency.at(share) for name, share in messages.PERCENTILES.items()}
    return messages.Histogram(
        count=report.events,
        min_ns=round(latency.min_ms * _MS),
        mean_ns=latency.sum_ms * _MS / report.events,
        max_ns=round(latency.max_ms * _MS),
        **{name: None if value is None else round(value * _MS) for name, value in at.items()},
        histogram=None,
    )
