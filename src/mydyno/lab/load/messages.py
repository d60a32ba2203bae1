"""What the engine says, one JSON object a line, as typed values.

`t_ns` and every `*_ns` instant count from the engine's start on its monotonic clock.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from mydyno.core.record import Record
from mydyno.core.synthetic import SYNTHETIC
from mydyno.machine.proc import DiskCounters, ProcessCounters


class _Message(Record):
    t_ns: int


class _OfServer(_Message):
    server: int = 0
    """Number of the server that it is about; 0 where the job has one."""


class Histogram(Record):
    """A latency distribution; `histogram` is base64 of an HdrHistogram in V2 deflate form."""

    count: int
    min_ns: int | None
    mean_ns: float | None
    max_ns: int | None
    p50_ns: int | None
    p75_ns: int | None
    p90_ns: int | None
    p95_ns: int | None
    p99_ns: int | None
    p999_ns: int | None
    histogram: str | None


PERCENTILES = {
    "p50_ns": 0.5, "p75_ns": 0.75, "p90_ns": 0.9, "p95_ns": 0.95, "p99_ns": 0.99, "p999_ns": 0.999,
}  # fmt: skip
"""Field of a histogram -> the share of latencies that it is of."""
NOT_TIMED = Histogram(
    count=0, min_ns=None, mean_ns=None, max_ns=None, **dict.fromkeys(PERCENTILES), histogram=None
)
"""Latencies that an external program does not report."""


class Statement(Record):
    """One kind of statement; an external program may not report its errors and rows."""

    count: int
    errors: int | None
    rows: int | None
    latency: Histogram


class Timed(Record):
    """How often, and how long each time."""

    count: int
    latency: Histogram


class QueryClasses(Record):
    """Statements by what they do, as sysbench counts them."""

    read: int
    write: int
    other: int


class Fairness(Record):
    """How evenly the connections shared the events: means and standard deviations over the connections."""

    connections: int
    events_mean: float
    events_stddev: float
    busy_mean_s: float
    """Of the sum of a connection's event latencies."""
    busy_stddev_s: float


class CpuSeconds(Record):
    user_s: float
    system_s: float


class Table(Record):
    name: str
    rows: int


class HostCounters(Record):
    cpu: dict[str, float]
    context_switches: int
    disks: dict[str, DiskCounters]


class Hello(_OfServer):
    type: Literal["hello"] = "hello"
    protocol: int
    engine_version: str
    seed: int
    started_unix_ns: int
    reactors: int
    pinned: bool
    cpus: list[int]
    server_version: str | None
    """None when no server is driven."""
    server_pid: int | None
    """Over a unix socket the process that listens there; else None."""

    @property
    def capacity(self) -> int:
        """How many CPUs its threads can fill."""
        return min(self.reactors, len(self.cpus)) if self.cpus else self.reactors


class Alive(_Message):
    """Nothing else was to be said for some seconds."""

    type: Literal["alive"] = "alive"


class Progress(_Message):
    type: Literal["progress"] = "progress"
    stage: str
    done: int
    of: int
    unit: Literal["rows"] | None = None
    """What is counted; None from other programs, whose stage says it."""


class Prepared(_Message):
    type: Literal["prepared"] = "prepared"
    tables: list[Table]
    loaded: int | None = None
    """Rows; those of tables that were there are not in it. None when a foreign program made the tables."""
    statements: int | None
    """None when a foreign program made the tables."""


class PhaseStart(_OfServer):
    """`label` is the name of the test program in a run of sql-bench, else None."""

    type: Literal["phase_start"] = "phase_start"
    phase: int
    connections: int
    label: str | None
    """sql-bench: the name of the test program."""


class Connected(_OfServer):
    type: Literal["connected"] = "connected"
    phase: int
    reached: int
    failed: int
    errors: dict[str, int]


class Measuring(_OfServer):
    type: Literal["measuring"] = "measuring"
    phase: int


class _Stretch(_Message):
    """What was finished within one stretch of a phase; percentiles are None when nothing was."""

    phase: int
    from_ns: int
    to_ns: int
    queries: int
    transactions: int
    errors: int
    connections: int
    p50_ns: int | None
    p95_ns: int | None
    p99_ns: int | None
    max_ns: int | None
    warmup: bool
    histogram: str | None
    """As of a `Histogram`; None when nothing was finished."""


class Interval(_Stretch):
    """A stretch of the phase's only server."""

    type: Literal["interval"] = "interval"
    histogram: str | None = None
    """None from foreign programs, too."""
    reconnects: int | None = None
    """None from programs that do not report them."""
    queries_by_class: QueryClasses | None = None
    """None for sql-bench, and from programs that do not report them."""
    transaction_p95_ns: int | None = None
    """Of the events; the percentiles above are of statements (sysbench's own: of events too). None when no
    event ended, and from programs that do not report it."""
    transaction_percentile_ns: int | None = None
    """The same at the job's percentile."""


class SliceUsage(Record):
    """What one server's process used while a slice ran."""

    cpu_s: float
    """By its CPU clock, exact; the other two count in clock ticks."""
    cpu_user_s: float
    cpu_system_s: float
    read_bytes: int | None
    write_bytes: int | None


class Slice(_Stretch, _OfServer):
    """What was finished on one server in one slice of a phase."""

    type: Literal["slice"] = "slice"
    round: int
    """Counted through the warm-up and the measured rounds."""
    position: int
    after: int | None
    """The server of the slice before; None for the first of a phase."""
    drained_ns: int
    """When the last event under way at the end had ended."""
    drained_queries: int
    """Those that ended after `to_ns`; they are not among `queries`."""
    parts: tuple[int, ...]
    """Queries that ended in each tenth of the slice."""
    usage: tuple[SliceUsage | None, ...]
    """Of the process of every server, up to `drained_ns`; None for one that cannot be read."""


class Sample(_Message):
    type: Literal["sample"] = "sample"
    server_number: int = 0
    """Number of the server in the job; `server` is its process."""
    status: dict[str, str] | None
    server: ProcessCounters | None
    client: ProcessCounters
    host: HostCounters


class Operation(_Message):
    """A timed operation of sql-bench: `tests` as the suite reports them, `statements` as really sent.

    `elapsed_ns` and the CPU times are extrapolated when `estimated`. `original_elapsed_ns` is what the suite
    would have shown where its timer includes earlier work.
    """

    type: Literal["operation"] = "operation"
    phase: int
    program: str
    name: str
    tests: int
    statements: int
    rows: int
    failed: int
    elapsed_ns: int
    original_elapsed_ns: int | None
    client_cpu: CpuSeconds
    server_cpu: CpuSeconds | None
    estimated: bool
    warning: str | None
    in_totals: bool


class OfFingerprint(Record):
    """Statements of one fingerprint that were replayed; times in microseconds.

    `compared` of them have a duration in the trace: `compared_service_us` is their time now.
    """

    id: str
    text: str
    replayed: int
    errors: int
    service_us: int
    compared: int
    compared_service_us: int
    trace_service_us: int


class Replay(_OfServer):
    """What the replay of a trace came to (docs/reference/replay-results.md)."""

    type: Literal["replay"] = "replay"
    trace: str
    source: str
    speed: float | None
    """None: as fast as possible."""
    reads_only: bool
    statements: int
    """That the replay has reached."""
    replayed: int
    skipped: dict[str, int]
    lost: int
    late: int | None
    failed_newly: int
    failed_again: int
    failed_unknown: int
    failed_no_more: int
    rows_compared: int
    rows_differ: int
    warnings: int
    lateness: Histogram | None
    latency: Histogram
    service: Histogram
    trace_service: Histogram
    elapsed_us: int
    trace_elapsed_us: int
    fingerprint_count: int
    fingerprints: tuple[OfFingerprint, ...]
    problem: str | None

    @property
    def synthetic(self) -> bool:
        return self.source == SYNTHETIC

    @property
    def fidelity(self) -> str:
        """`1,000 of 1,200 statements replayed, 3 late by more than 5 ms, ...`; of a synthetic trace without
        what only a recording knows."""
        late = "" if self.late is None else f", {self.late:,} late by more than 5 ms"
        if self.synthetic:
            failed = self.failed_newly + self.failed_again + self.failed_unknown
            return (
                f"{self.replayed:,} of {self.statements:,} statements of a synthetic trace sent{late}, "
                f"{failed:,} failed"
            )
        return (
            f"{self.replayed:,} of {self.statements:,} statements replayed{late}, "
            f"{self.failed_newly:,} failed that had not failed, {self.rows_differ:,} of "
            f"{self.rows_compared:,} returned another number of rows"
        )


class PhaseEnd(_OfServer):
    type: Literal["phase_end"] = "phase_end"
    phase: int
    connections_asked: int
    connections_reached: int
    started_ns: int
    measured_from_ns: int | None
    measured_to_ns: int | None
    measured_s: float | None = None
    """The sum of the slices where there are any; None also from other programs."""
    ended_ns: int
    interrupted: bool
    aborted: str | None
    latency_kind: Literal["service", "response"]
    queries: Timed
    queries_by_class: QueryClasses | None = None
    statements: dict[str, Statement]
    transactions: Timed
    transactions_by_name: dict[str, Timed] = Field(default_factory=dict)
    fairness: Fairness | None = None
    connects: Timed
    errors: dict[str, int]
    error_examples: dict[str, str]
    retries: int
    reconnects: int
    unanswered: int
    client_cpu: CpuSeconds
    machine_busy: float | None = None
    """Share of the CPU time of the engine's machine that was busy; None from other programs."""
    backlog_max: int | None
    wall_clock_step_ns: int | None = None
    """How far the wall clock was set, forward or (negative) back; None from other programs."""


class Check(_OfServer):
    """A condition of the workload, looked at after the last phase."""

    type: Literal["check"] = "check"
    name: str
    holds: bool
    detail: str | None


class Remark(Record):
    """Something that a reader of a phase's numbers must know, and that does not spoil them. The engine says
    none: drivers of foreign programs do."""

    type: Literal["remark"] = "remark"
    t_ns: int
    phase: int
    check: str
    message: str


class Share(_Message):
    """What one of several engines did of a phase, before its PhaseEnd, which is about all of them. The
    engine says none: `trial.generators` does."""

    type: Literal["share"] = "share"
    phase: int
    host: str
    connections: int
    queries: int
    transactions: int
    threads: int
    """That drove connections."""
    cpu_s: float
    machine_busy: float | None
    """None also on the server's own machine, which its load keeps busy."""
    measured_s: float | None
    late_s: float | None
    """How long after the common start its load began; None when it did not."""
    short_s: float | None
    """How much less than planned it measured; None where the work ends a phase."""
    clock_error_s: float
    """How well its clock is known, and so the common start."""


class Done(_Message):
    type: Literal["done"] = "done"
    exit: Literal["ok", "interrupted", "aborted"]
    client_cpu: CpuSeconds
    peak_rss_bytes: int | None


class Fatal(_Message):
    type: Literal["fatal"] = "fatal"
    code: str
    message: str
    hint: str | None


Message = Annotated[
    Hello
    | Alive
    | Progress
    | Prepared
    | PhaseStart
    | Connected
    | Measuring
    | Interval
    | Slice
    | Sample
    | Operation
    | Replay
    | PhaseEnd
    | Check
    | Remark
    | Share
    | Done
    | Fatal,
    Field(discriminator="type"),
]

_ADAPTER: TypeAdapter[Message] = TypeAdapter(Message)
_UNTIMED = Timed(count=0, latency=NOT_TIMED)


def foreign_interval(**known: Any) -> Interval:
    """An interval of an external program: percentiles that it does not report are None."""
    unknown: dict[str, Any] = dict.fromkeys(("p50_ns", "p95_ns", "p99_ns", "max_ns"))
    return Interval(**{"errors": 0, "warmup": False, **unknown, **known})


def foreign_end(**known: Any) -> PhaseEnd:
    """The end of a phase of an external program, which times no connects and knows no reconnects."""
    unknown: dict[str, Any] = dict.fromkeys(("retries", "reconnects", "unanswered"), 0)
    return PhaseEnd(**{"connects": _UNTIMED, **unknown, "backlog_max": None, **known})


def foreign_done(cpu_s: tuple[float, float], t_ns: int, *, interrupted: bool, aborted: bool) -> Done:
    """The last message of an external program; `cpu_s`: its user and system seconds."""
    return Done(
        exit="interrupted" if interrupted else "aborted" if aborted else "ok",
        client_cpu=CpuSeconds(user_s=cpu_s[0], system_s=cpu_s[1]),
        peak_rss_bytes=None,
        t_ns=t_ns,
    )


def server_of(message: Message) -> int:
    """The number of the server that a message is about; 0 for what concerns all of a job's servers."""
    if isinstance(message, Sample):
        return message.server_number
    return message.server if isinstance(message, _OfServer) else 0


def parse(line: str | bytes) -> Message:
    """One line of the engine's output. Raises pydantic.ValidationError for anything else."""
    return _ADAPTER.validate_json(line)
