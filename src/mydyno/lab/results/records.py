"""What a lab knows, as plain frozen values.

Analysis and report see these and nothing else, so both can be rebuilt anywhere from the lab alone.

Conventions, everywhere below:

* Missing is ``None``, never 0. A 0 was measured.
* ``*_ns`` are nanoseconds. ``*_s`` are seconds; an instant is on the engine's monotonic clock, counted from
  the engine's start, the same clock as ``t_s`` in the series, so the two can be laid over each other.
* Wall-clock instants are ISO 8601 text in UTC (``2026-01-31T12:00:00Z``).
* Mappings are to be read, never changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

TrialStatus = Literal["valid", "invalid"]
CONTROL_BLOCK = -1
"""Block of the A/A over hosts: the first point on every host of a fleet, before block 1."""

Work = Literal["queries", "ios"]
"""What the load is made of, and so what its rates count: queries to a server, or I/Os to a volume (fio)."""

FAILED = "failed"
"""Check of a trial that could not be measured: a layer could not be built, or the load ended by itself."""
SKIPPED = "skipped"
"""Check of a trial that was not tried, since others of its point had failed in the same step."""
NOT_MEASURED = (FAILED, SKIPPED)

Budget = Literal["joint", "separate"]
"""How the limit of a disk counts: reads and writes together, as on cloud disks, or each alone."""

DesignPoints = Literal["all", "one-at-a-time", "plackett-burman", "fraction"]
"""Which of the combinations of levels an experiment measures."""

LatencyKind = Literal["service", "response"]
"""``service``: from sending the query. ``response``: from its intended start (open loop), so that a stall of
the server counts against every query that was due meanwhile."""

Environment = Mapping[str, str | int | float | None]
"""Facts of the machine and its software, by dotted name (``cpu.model``, ``kernel.release``); open-ended."""

EXTERNAL_SERVER = "server.external"
"""Address of the server when it is not mydyno's own."""
UNSEEN_SERVER = "server.unseen"
"""Address of such a server when its process, and so its machine, could not be seen: there are no counters of
either."""

SYNTHETIC_TRACE = "synthetic trace"
"""The check of the remark on a trial whose trace was put together from digests."""
LOAD_AVERAGE = "os.load_average"
"""The one fact that is about a moment, not about the machine: it differs at every start."""
SERVER_HOST = "machine.host"
"""The fact that names the host of hosts.yaml whose facts an environment has; this machine has none."""
OF_HOST = "hosts."
"""How the names of facts begin, before the host's, where servers ran on several machines."""


@dataclass(frozen=True, kw_only=True)
class Latency:
    """A latency distribution in a few numbers. All but ``count`` are ``None`` when ``count`` is 0."""

    count: int
    min_ns: int | None = None
    mean_ns: float | None = None
    max_ns: int | None = None
    p50_ns: int | None = None
    p75_ns: int | None = None
    p90_ns: int | None = None
    p95_ns: int | None = None
    p99_ns: int | None = None
    p999_ns: int | None = None


NO_LATENCY = Latency(count=0)


@dataclass(frozen=True, kw_only=True)
class StatementRecord:
    """One kind of statement (``point_select``, ``commit``) within a phase's measured window."""

    kind: str
    count: int
    """Statements that the server answered without error."""
    errors: int | None
    rows: int | None
    """Rows returned or changed, as the server reports them; ``None`` when an external program does not."""
    latency: Latency


@dataclass(frozen=True, kw_only=True)
class OperationRecord:
    """One timed operation of sql-bench, within its test program."""

    name: str
    tests: int
    """As the original counts them."""
    statements: int
    """As really sent."""
    rows: int
    failed: int
    elapsed_ns: int
    original_elapsed_ns: int | None
    """What the original would show, where its timer includes earlier work; else ``None``."""
    client_cpu_user_s: float
    client_cpu_system_s: float
    server_cpu_user_s: float | None
    server_cpu_system_s: float | None
    estimated: bool
    """Cut off by the time limit: time and tests were extrapolated, as in the original."""
    warning: str | None
    in_totals: bool
    """Whether the totals of the original's report take it in."""


ALL_OPERATIONS = "TOTALS"
"""The name of the row of a RUN file that sums all others."""


@dataclass(frozen=True, kw_only=True)
class OperationTotal:
    """A row of the totals per operation of a RUN file: operations of one name, over all test programs."""

    name: str
    tests: int
    elapsed_s: float
    client_cpu_user_s: float
    client_cpu_system_s: float
    client_cpu_s: float
    """The file's column `cpu`, which is not always the sum of the two: suites of 2000 print 0 in it."""
    estimated: bool
    """Marked `+`: extrapolated after the time limit."""
    warned: bool
    """Marked `?`: something was wrong with its results."""


@dataclass(frozen=True, kw_only=True)
class CheckRecord:
    """A condition of the workload, looked at after the load."""

    name: str
    holds: bool
    detail: str | None
    """What was found when it does not hold."""


@dataclass(frozen=True, kw_only=True)
class SlicesRecord:
    """How a phase was measured in slices, in turn with the other points of its block.

    Rates are those of the slices without the first `cut_s` seconds of each.
    """

    seconds: float
    """Length of a slice."""
    cut_s: float
    rounds: tuple[int, ...]
    """The round of each measured slice, in order of time. The points of a block share rounds."""
    queries_per_second: tuple[float, ...]
    """Of each slice."""
    error: float | None
    """Standard error of the logarithm of the phase's rate, from its slices alone; None when not known."""
    autocorrelation: float | None
    """Of the slices of the block, from one round to the next."""
    idle_cpu: float | None
    """CPUs that this server kept busy while the other ones were measured; None when not seen."""
    idle_write_bytes_per_second: float | None


@dataclass(frozen=True, kw_only=True)
class NetworkRecord:
    """A generator of a load from several machines, and the network between it and the server before the
    load."""

    host: str
    """Its name in hosts.yaml."""
    cpus: int
    """That the engine may use there."""
    beside_server: bool
    """It is the server's own machine, whose CPUs both share."""
    round_trip_ns: int | None
    """Median of 100 statements without work (``DO 0``)."""
    bytes_per_second: float | None
    """From the server, over four connections for 0.3 s; ``None`` when nothing came in that time."""
    clock_error_s: float
    """How well its clock was known."""


@dataclass(frozen=True, kw_only=True)
class ShareRecord:
    """What one generator did of a phase."""

    host: str
    connections: int
    queries: int
    transactions: int
    threads: int
    """That drove connections."""
    cpu_s: float
    """CPU time of the engine over the measured window."""
    machine_busy: float | None
    """Share of its machine's CPU time that was busy, 0 to 1; ``None`` on the server's own machine."""
    measured_s: float | None
    late_s: float | None
    """How long after the common start its load began; ``None`` when it did not."""
    short_s: float | None
    """How much less than planned it measured; ``None`` where the work ends a phase."""
    clock_error_s: float


@dataclass(frozen=True, kw_only=True)
class PhaseRecord:
    """One stretch of load at one number of connections, or one test program."""

    index: int
    """0-based position in its trial."""
    connections_asked: int
    connections_reached: int
    started_s: float
    measured_from_s: float | None
    """End of the warm-up; ``None`` when the phase never came to measuring."""
    measured_to_s: float | None
    ended_s: float
    queries: int | None
    """``None``, as `transactions`, where the source of imported numbers does not report them."""
    transactions: int | None
    queries_per_second: float | None
    """``None`` when no time was measured."""
    transactions_per_second: float | None
    latency: Latency
    """All kinds of statement merged."""
    connect: Latency
    """Time to open a connection, authentication included."""
    statements: tuple[StatementRecord, ...]
    errors: Mapping[str, int]
    """Server or client error code -> how often."""
    client_cpu_user_s: float | None
    client_cpu_system_s: float | None
    latency_kind: LatencyKind
    aborted: str | None = None
    """Why the phase ended early; ``None`` when it ran to its end."""
    transaction_latency: Latency = NO_LATENCY
    transactions_by_name: Mapping[str, Latency] = field(default_factory=dict)
    """Name of a transaction -> how many of them there were, and their latency. Empty where the load has no
    transactions, or where it is not known: older labs, external programs."""
    error_examples: Mapping[str, str] = field(default_factory=dict)
    """Error code -> the first message that came with it."""
    backlog_max: int | None = None
    """Open loop only: the most transactions that were due but not yet started."""
    label: str | None = None
    """Name of the test program; ``None`` when the number of connections distinguishes phases."""
    retries: int | None = None
    """Transactions started again after an error for which the workload requests that (deadlocks)."""
    reconnects: int | None = None
    """Lost connections that were opened again."""
    operations: tuple[OperationRecord, ...] = ()
    """sql-bench only, in the order in which they ran."""
    steady_from_s: float | None = None
    """Where the steady part of the measured window begins. Rates and `latency` are of that part; counts, CPU
    time and the other distributions are of the whole window. ``None`` when it was not judged, or when the
    phase never became steady: then all are of the whole window."""
    costs: Mapping[str, float] = field(default_factory=dict)
    """Metric -> what the server spent on each query or transaction of the steady part, from the samples
    (`sampling.costs`). What could not be measured is not there."""
    slices: SlicesRecord | None = None
    """``None`` when the phase was measured in one piece. Else the rates are those of the fit over all slices
    of its block (`analysis.slices`), and the window goes from its first slice to its last."""
    shares: tuple[ShareRecord, ...] = ()
    """What each generator did, where the load came from several machines; else empty."""


@dataclass(frozen=True, kw_only=True)
class Invalidity:
    """One reason why a trial must not count."""

    check: str
    """Name of the check that failed, such as ``settings-in-force`` or ``connections-reached``."""
    message: str
    phase: int | None = None
    """The phase in which it was seen; ``None`` for the trial as a whole."""


@dataclass(frozen=True, kw_only=True)
class Remark:
    """Something to know when reading a trial. It marks the trial and does not spoil it."""

    check: str
    """Name of the check that made it, such as ``self-check``."""
    message: str
    phase: int | None = None
    """The phase in which it was seen; ``None`` for the trial as a whole."""


@dataclass(frozen=True, kw_only=True)
class VolumeRecord:
    """One volume as it was under the load."""

    name: str
    """``data``, ``log``, ``binlog``, ``undo`` or ``tmp``."""
    facts: Mapping[str, str]
    """Read back from the environment, by name in the order in which they are shown: devices, limits, array
    level and chunk, file system, mount options, scheduler..."""


@dataclass(frozen=True, kw_only=True)
class GroundRecord:
    """The environment that a trial's storage was built in. A figure of a disk means nothing without it."""

    kind: str
    """``local``, ``uml``, ``vm`` or ``ssh``."""
    kernel: str
    """Release of the kernel, as uname(1) shows it."""
    cpus: int
    memory_bytes: int | None
    budget: Budget
    disk_model: str
    """A description of the environment's disks: what limits them and how the limit counts."""
    volumes: tuple[VolumeRecord, ...]


@dataclass(frozen=True, kw_only=True)
class SelfCheckRecord:
    """A short fio run on a volume before the load, against what theory expects of its disks."""

    volume: str
    operation: Literal["randread", "randwrite"]
    block_bytes: int
    queue_depth: int
    """I/Os in flight, all jobs together."""
    seconds: float
    """Length of the measured run."""
    measured_iops: float | None
    """``None`` when fio failed; ``error`` says why."""
    expected_iops: float | None
    """``None`` when no limit was configured, or when there is no theory for this stack."""
    idle: float | None
    """Share of the environment's CPU time, 0 to 1, that was idle or waited for I/O; ``None`` when unknown."""
    error: str | None = None

    @property
    def ratio(self) -> float | None:
        """Measured over expected IOPS; ``None`` unless both are known."""
        if self.measured_iops is None or self.expected_iops is None:
            return None
        return self.measured_iops / self.expected_iops


@dataclass(frozen=True, kw_only=True)
class DataRecord:
    """The data under a trial: how it was cloned, and how warm it was when the load began."""

    dataset: str
    """Fingerprint of the frozen dataset."""
    clone: str
    """``reflink`` (blocks shared), ``copy``, or ``overlay`` (of disks that hold a copy)."""
    clone_seconds: float
    cache: str
    """As configured: ``as-cloned``, ``cold``, ``scan`` or ``dump``."""
    file_bytes: int | None
    """Bytes of the clone's files; ``None`` when unknown."""
    cached_bytes: int | None
    """Those of them that the page cache held when the server started."""
    warm_seconds: float | None
    """Length of the scan, or of loading the list of pages; no phase counts it."""
    pool_pages: int | None
    """Pages of data in InnoDB's buffer pool before the first phase."""
    pool_pages_total: int | None
    page_bytes: int | None


@dataclass(frozen=True, kw_only=True)
class SettingTranslation:
    """A setting that was written for another release than the trial's server is of."""

    name: str
    value: str
    """As configured."""
    became: Mapping[str, str]
    """The settings that replace it on this server; empty when it was left out."""
    why: str


@dataclass(frozen=True, kw_only=True)
class TrialRecord:
    """One repetition of one point: what was configured, what was in force, what was measured."""

    trial_id: str
    index: int
    """0-based position in the planned order."""
    block: int
    point_id: str
    levels: Mapping[str, str]
    """Factor -> level of this trial's point."""
    seed: int
    status: TrialStatus
    invalidities: tuple[Invalidity, ...]
    started_at: str
    """ISO 8601, UTC."""
    seconds: float
    """Wall-clock length of the whole trial, set-up included."""
    server_version: str | None
    durability: str | None
    """``durable``, ``loses up to 1 s on OS crash``, ``loses up to 1 s on server crash`` or ``unsafe``."""
    settings_asked: Mapping[str, str]
    """Under the names of this server; `translations` has those that were written otherwise."""
    settings_in_force: Mapping[str, str]
    """Read back from the running server."""
    counters: Mapping[str, int | float]
    """Over the whole trial: the growth of a counter (``Threads_created``), the last value of a gauge or a
    high-water mark (``Max_used_connections``)."""
    phases: tuple[PhaseRecord, ...]
    checks: tuple[CheckRecord, ...] = ()
    ground: GroundRecord | None = None
    """``None`` when the experiment configures no environment: the server ran on this machine as it is."""
    self_checks: tuple[SelfCheckRecord, ...] = ()
    """In the order in which they were made."""
    remarks: tuple[Remark, ...] = ()
    data: DataRecord | None = None
    """``None`` where no server ran on a clone of a dataset."""
    translations: tuple[SettingTranslation, ...] = ()
    totals: Mapping[str, float] = field(default_factory=dict)
    """Metric -> its value over all phases, where the source of imported numbers states one."""
    networks: tuple[NetworkRecord, ...] = ()
    """The generators, where the load came from other machines (`load.hosts`); else empty."""
    operation_totals: tuple[OperationTotal, ...] = ()
    """Of imported RUN files only, in their order. Trials of mydyno's have operations in their phases."""
    host: str | None = None
    """The host of the fleet that it ran on, as hosts.yaml names it; ``None`` without a fleet."""
    attempt: int = 1
    """1, or more when an earlier, invalid attempt at the same trial was repeated. The lab gives it."""

    @property
    def block_and_host(self) -> tuple[int, str]:
        """Equal for trials that ran side by side: of one block on one host. A block whose host was lost has
        trials on two."""
        return self.block, self.host or ""

    @property
    def measured(self) -> bool:
        """False for a trial that failed or was skipped: `mydyno run` tries it again."""
        return not any(reason.check in NOT_MEASURED for reason in self.invalidities)


@dataclass(frozen=True, kw_only=True)
class ClaimRecord:
    """What was concluded elsewhere from the same numbers: the levels of a factor, best first."""

    factor: str
    order: tuple[str, ...]
    where: Mapping[str, str]
    """Factor -> the level to which the claim is limited; empty: it is about all points."""
    said: str
    """In the source's words."""


@dataclass(frozen=True, kw_only=True)
class PointRecord:
    """One combination of factor levels."""

    point_id: str
    levels: Mapping[str, str]
    """Factor -> level. A nested factor is missing where it does not apply."""
    title: str
    """For people, as ``thread_cache_size = 8``."""
    control_of: str | None = None
    """The point that this one measures a second time (an A/A control); ``None`` for all others."""


@dataclass(frozen=True, kw_only=True)
class DesignRecord:
    """Which points an experiment measures, how often, and what its order keeps together."""

    points: DesignPoints = "all"
    aliases: tuple[str, ...] = ()
    """Of a fraction or a Plackett-Burman design: effects that cannot be separated, as ``A = B×C + D×E`` with
    the names of the factors."""
    defining: tuple[str, ...] = ()
    """Of a fraction: its defining relation, as ``I = A×B×C×D``, every word of it."""
    resolution: int | None = None
    """Of a fraction, or of a Plackett-Burman design, the length of the shortest word of that relation."""
    until: float | None = None
    """Of a sequential design: the relative half-width of the interval (0.03) that every comparison has to
    reach; ``None`` where the number of repetitions is fixed."""
    first_look: int | None = None
    """The number of blocks after which a sequential design looks for the first time; then after each."""
    at_most: int | None = None
    """The number of blocks after which it stops, whatever it sees."""
    hard_factors: tuple[tuple[str, ...], ...] = ()
    """Factors whose levels stay together inside a block, those of the dearest layer first: each group is the
    whole plots of all that follows. Factors that are in no group are shuffled again within the last group's
    plots; where there is no group, trials are shuffled freely inside a block."""
    rest_s: float = 0.0
    """The configured pause between two blocks."""
    sliced: tuple[tuple[str, ...], ...] = ()
    """Groups of points that are measured together, in slices; the others are measured one after the other."""
    slice_s: tuple[float, ...] = ()
    """Seconds: the planned length of a slice of each group."""
    no_slices: tuple[str, ...] = ()
    """Why some points are in no group, where the order was to be chosen."""


@dataclass(frozen=True, kw_only=True)
class ExperimentRecord:
    """One run of an experiment as planned."""

    name: str
    question: str | None
    source: str | None
    size: str
    """The overlay that was chosen: ``toy``, ``demo``, ``full``..."""
    spec_text: str
    """The experiment file to the letter."""
    spec_file: str
    """Its file name, without folders."""
    plan_fingerprint: str
    """Hex digest of the plan: same fingerprint, same run."""
    seed: int
    factors: Mapping[str, tuple[str, ...]]
    """Factor -> its levels in the order of the experiment file."""
    points: tuple[PointRecord, ...]
    planned_trials: int
    """How many trials make the run complete. Of a sequential design at first as many as it has at most, and
    when it stops those that it took."""
    created_at: str
    """ISO 8601, UTC."""
    mydyno_version: str
    work: Work = "queries"
    design: DesignRecord = DesignRecord()
    claims: tuple[ClaimRecord, ...] = ()
    """Conclusions of the source, shown next to the verdicts."""
    imported: bool = False
    """Its numbers were measured elsewhere (`mydyno import`): there are no series, settings or environment."""

    @property
    def compared_points(self) -> tuple[PointRecord, ...]:
        """All points but A/A controls, which only say how far two measurements of the same differ."""
        return tuple(point for point in self.points if point.control_of is None)
