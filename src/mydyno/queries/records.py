"""A digest as records: what the engine writes (docs/reference/digest-format.md), and what is added here."""

from typing import Literal

from pydantic import Field

from mydyno.core.record import Record
from mydyno.queries.grouping import BY_FINGERPRINT, Grouping

FORMAT = 1

Unit = Literal["us", "count", "bytes"]
GroupKind = Literal["statement", "administrator-command", "user", "host", "database", "table", "tag"]
"""Those but the first two: of digests that are not grouped by fingerprint."""
ProblemKind = Literal[
    "not-a-slow-log", "unreadable", "empty", "interrupted", "broken-compression", "broken-tail",
    "no-header", "no-statement", "bad-header", "clock-backwards", "not-utf8", "long-statement",
    "read-twice",
    # performance_schema's own.
    "digests-lost", "cut-digest", "counters-reset", "not-counted", "not-timed",
]  # fmt: skip


class Source(Record):
    """A log, or a server's performance_schema, that was read."""

    name: str
    """A path, `-`, or `performance_schema of ADDRESS`."""
    bytes: int
    """Uncompressed; 0 for performance_schema."""
    compression: Literal["none", "gzip", "zstd"] = "none"
    format: Literal["slow-log", "cloudwatch", "slow-log-table"] = "slow-log"
    """What a slow log was made of, when it is none itself: then nothing in it has a line."""
    server: str | None = None
    """Version as the log's banner or the server reports it."""
    entries: int
    first_us: int | None = None
    """Microseconds since 1970, UTC, as all times here."""
    last_us: int | None = None


class Problem(Record):
    """One kind of problem with one source: how often, and where first."""

    kind: ProblemKind
    source: str
    at_byte: int | None = None
    line: int | None = None
    count: int
    says: str


class Measure(Record):
    """One attribute over entries, in its unit: `us` is microseconds."""

    unit: Unit
    count: int
    """Entries that have it."""
    sum: int
    min: int | None = None
    max: int | None = None
    p50: int | None = None
    """Quantiles to 1 in 100; None where only sums are known."""
    p95: int | None = None
    p99: int | None = None
    histogram: tuple[tuple[int, int], ...] = ()
    """Upper bound (inclusive) and count of each bucket that has any, ascending."""

    @property
    def mean(self) -> float | None:
        return self.sum / self.count if self.count else None


class Flag(Record):
    yes: int
    told: int
    """Entries that have it, yes or no."""


class Figures(Record):
    """What a set of entries comes to."""

    count: int
    first_us: int | None = None
    last_us: int | None = None
    measures: dict[str, Measure] = Field(default_factory=dict)
    """By attribute: query_time, lock_time, rows_sent, rows_examined, ... What no entry has is not there."""
    flags: dict[str, Flag] = Field(default_factory=dict)
    users: tuple[tuple[str, int], ...] = ()
    """Name and count, the most frequent first; of logs at most 64, then all others as one without a name."""
    hosts: tuple[tuple[str, int], ...] = ()
    databases: tuple[tuple[str, int], ...] = ()
    errors: tuple[tuple[str, int], ...] = ()
    """Numbers of errors, as `1205`, and how often."""

    @property
    def query_time(self) -> Measure | None:
        return self.measures.get("query_time")

    @property
    def query_time_us(self) -> int:
        """The sum; 0 when no entry has it."""
        return self.query_time.sum if self.query_time else 0

    def figure(self, attribute: str, what: str = "sum") -> float | None:
        """Sum, mean, p95... of an attribute; None where it is not known."""
        value: float | None = getattr(self.measures.get(attribute), what, None)
        return value


class Example(Record):
    """The slowest entry of a group."""

    text: str
    bytes: int
    """The statement's whole length."""
    is_cut: bool = False
    query_time_us: int | None = None
    time_us: int | None = None
    user: str | None = None
    host: str | None = None
    database: str | None = None
    source: str | None = None
    at_byte: int | None = None
    line: int | None = None


class PlanRow(Record):
    """One line of EXPLAIN's classic table."""

    id: int | None = None
    select_type: str | None = None
    table: str | None = None
    partitions: str | None = None
    type: str | None = None
    possible_keys: str | None = None
    key: str | None = None
    key_len: str | None = None
    ref: str | None = None
    rows: int | None = None
    filtered: float | None = None
    extra: str | None = None


class Plan(Record):
    """What EXPLAIN says of an example; `refused` is why there are no rows."""

    rows: tuple[PlanRow, ...] = ()
    refused: str | None = None


class IndexCandidate(Record):
    """An index that would serve groups of a digest, and why."""

    table: str
    database: str | None = None
    columns: tuple[str, ...]
    """In order."""
    statement: str
    """The ALTER TABLE that adds it."""
    reasons: tuple[str, ...]
    """With their numbers, the strongest first."""
    caveats: tuple[str, ...] = ()
    """What speaks against it, or could not be examined."""
    groups: tuple[str, ...]
    """Ids of the groups that it serves, by their share of the time."""
    query_time_us: int
    """What these groups take together."""


class NoCandidate(Record):
    """A group that was examined and gets no index."""

    group: str
    """Its id."""
    why: tuple[str, ...]
    """The reason, then what would help instead: what to rewrite, which index is there already."""


class PastRun(Record):
    """A group in one digest of a history."""

    at_us: int
    """The end of that digest's window."""
    count: int
    mean_us: float | None = None
    load: float | None = None


class History(Record):
    """A group in digests that were saved before, and in this one."""

    first_us: int | None = None
    """When it was seen first."""
    digests: int
    """How many earlier ones there are."""
    since_us: int | None = None
    """The end of the earliest of them."""
    runs: tuple[PastRun, ...] = ()
    """In those that have it, the oldest first; the last is this digest's."""


class Group(Figures):
    """Statements that differ in literals, lists' lengths, comments, white space and case only."""

    id: str
    """16 hexadecimal digits: the same for the same fingerprint, anywhere."""
    fingerprint: str
    is_cut: bool = False
    kind: GroupKind = "statement"
    example: Example | None = None
    """None where the source has none (performance_schema of older servers)."""
    plan: Plan | None = None
    history: History | None = None


class Timeline(Record):
    """Entries and query time in steps of `step_s` seconds; those without any are left out."""

    step_s: int
    steps: tuple[tuple[int, int, int], ...] = ()
    """Start of the step (seconds since 1970), entries, query time in microseconds."""


class Rest(Record):
    """The groups beyond a limit."""

    groups: int
    count: int
    query_time_us: int


class Digest(Record):
    """What ran, by fingerprint: the groups with the most total query time first."""

    format: int = FORMAT
    sources: tuple[Source, ...]
    problems: tuple[Problem, ...] = ()
    since_us: int | None = None
    """Entries before are not in it; None: all from the first on."""
    until_us: int | None = None
    """Entries from then on are not in it."""
    filtered: int = 0
    """Entries that the filters left out."""
    group_by: str = BY_FINGERPRINT
    """Or `user`, `host`, `database`, `table`, `tag.KEY`; an entry may name several tables."""
    merge_tables: bool = False
    """Whether tables whose names differ in a number or a hash only are one."""
    total: Figures
    timeline: Timeline | None = None
    groups: tuple[Group, ...]
    rest: Rest | None = None
    candidates: tuple[IndexCandidate, ...] = ()
    """Those of the groups with the most time first."""
    without_candidate: tuple[NoCandidate, ...] = ()
    """In the groups' order. A group that is in neither was not examined."""

    @property
    def grouping(self) -> Grouping:
        return Grouping(self.group_by, self.merge_tables)

    @property
    def window_us(self) -> tuple[int, int] | None:
        """From when to when the sources show what ran; None where no entry has a time."""
        firsts = [each.first_us for each in self.sources if each.first_us is not None]
        lasts = [each.last_us for each in self.sources if each.last_us is not None]
        if not firsts or not lasts:
            return None
        first = min(firsts) if self.since_us is None else max(min(firsts), self.since_us)
        last = max(lasts) if self.until_us is None else min(max(lasts), self.until_us)
        return (first, last) if first <= last else None

    @property
    def seconds(self) -> float | None:
        """The length of the window; None where there is none, or all happened at one moment."""
        window = self.window_us
        return (window[1] - window[0]) / 1e6 if window and window[1] > window[0] else None

    @property
    def load(self) -> float | None:
        """Query time per second of the window: how many statements were running at once, on average."""
        return self.total.query_time_us / 1e6 / self.seconds if self.seconds else None
