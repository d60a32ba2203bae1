"""Where the connections' time went in one phase, as a tree of shares.

N connections have N x W seconds to spend in W seconds. What they were spent on is known from two sides: the
client timed every statement, and the server and /proc counted. Nothing is estimated: what was not timed is
named so. The parts, and where each comes from:

* statements: number of statements times their mean latency, as the client timed them;
* server CPU, user and system: growth of the server process's CPU time (proc(5), /proc/PID/stat). Its
  background threads are in it, so it may be more than the statements took; the excess is cut off, and
  reported;
* row locks: growth of Innodb_row_lock_time, which InnoDB adds up over all waits in milliseconds when each
  ends (MySQL 8.4 Reference Manual, 2024, "Server Status Variables");
* commit: an estimate. The client timed the COMMIT statements, in which a durable server waits for its log to
  be flushed; taken off is the CPU time that a statement needs on average. No status variable of MySQL or
  MariaDB says how long a flush took, only how many there were;
* between client and server: what the client timed beyond the time during which the server says that it ran
  statements (Query_time, which MariaDB adds up): network, and waiting for a CPU on either side;
* unknown: whatever else passed while a statement was under way;
* connecting: connections that events opened, as the client timed them;
* client: the rest, while no statement was under way: the client's own work and its rests. Statements that
  failed are in it, since they are not among those timed.

The sampled parts are of the stretch between the first and the last sample in the measured window, the timed
ones of the whole window; both are shares of the N x W of their window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from mydyno.lab.results.records import PhaseRecord, StatementRecord, Work

Key = Literal[
    "all",
    "statements",
    "cpu-user",
    "cpu-system",
    "row-locks",
    "commit",
    "between",
    "unknown",
    "connecting",
    "client",
    "read",
    "write",
    "fsync",
]

COMMIT = "commit"
"""Name of that kind of statement in the workloads."""
CONNECT = "connect"
"""Name of the kind under which connections are timed that events open (docs/reference/engine-protocol.md)."""
_OF_IOS: Mapping[str, Key] = {"read": "read", "write": "write", "fsync": "fsync"}


@dataclass(frozen=True)
class Part:
    key: Key
    share: float
    """Of the connections' time, 0 to 1; parts of a part never come to more than it."""
    seconds: float
    """Of all connections together, as measured."""
    of_seconds: float
    """Connections times the seconds over which this was measured."""
    parts: tuple[Part, ...] = ()

    def find(self, key: Key) -> Part | None:
        """The part `key`, at whatever depth."""
        if self.key == key:
            return self
        return next((found for part in self.parts if (found := part.find(key)) is not None), None)


@dataclass(frozen=True)
class Untimed:
    """Something that was counted but not timed."""

    name: str
    """Of the status variable."""
    per_second: float


@dataclass(frozen=True)
class TimeSpent:
    connections: int
    seconds: float
    """Length of the measured window."""
    sampled_seconds: float | None
    """Between its first and its last sample; None with fewer than two: then the server's part is unknown."""
    whole: Part
    background: float
    """Share by which the server's CPU time is more than what the statements took."""
    untimed: tuple[Untimed, ...]


UNTIMED = (
    "Innodb_os_log_fsyncs",
    "Innodb_data_fsyncs",
    "Innodb_log_writes",
    "Innodb_log_waits",
    "Innodb_buffer_pool_reads",
    "Innodb_data_reads",
    "Innodb_data_writes",
    "Innodb_buffer_pool_wait_free",
    "Innodb_row_lock_waits",
    "Innodb_deadlocks",
    "Table_locks_waited",
    "Created_tmp_disk_tables",
)
"""Status variables that count what takes a connection's time."""
TIMED = ("Innodb_row_lock_time", "Query_time")

READ = ("server.cpu_user_s", "server.cpu_system_s", *(f"status.{name}" for name in (*TIMED, *UNTIMED)))
"""The columns of samples.parquet that are looked at."""


def time_spent(
    phase: PhaseRecord, growth: Mapping[str, float] | None, sampled_seconds: float | None, work: Work
) -> TimeSpent | None:
    """`growth`: how far the columns of samples.parquet went in `sampled_seconds` of the measured window; None
    when that is not known. None when the phase measured nothing, or nothing is known of its time."""
    if phase.measured_from_s is None or phase.measured_to_s is None:
        return None
    window = phase.measured_to_s - phase.measured_from_s
    if window <= 0 or phase.connections_reached <= 0:
        return None
    of = _Phase(phase, growth or {}, window, sampled_seconds or 0.0)
    whole, background = _ios(of) if work == "ios" else _queries(of)
    if growth is None and {part.key for part in whole.parts} <= {"unknown", "client"}:
        return None
    return TimeSpent(
        connections=phase.connections_reached,
        seconds=window,
        sampled_seconds=None if growth is None else sampled_seconds,
        whole=whole,
        background=background,
        untimed=tuple(of.untimed()),
    )


@dataclass(frozen=True)
class _Phase:
    record: PhaseRecord
    growth: Mapping[str, float]
    window: float
    sampled_seconds: float

    @property
    def timed_of(self) -> float:
        return self.record.connections_reached * self.window

    def part(self, key: Key, seconds: float, of_seconds: float) -> Part:
        return Part(key, min(1.0, max(0.0, seconds / of_seconds)), seconds, of_seconds)

    def timed(self, key: Key, statements: tuple[StatementRecord, ...]) -> Part | None:
        """What the client timed of `statements`; None when of none of them it did."""
        known = [each for each in statements if each.latency.mean_ns is not None]
        if not known:
            return None
        seconds = sum(each.latency.count * (each.latency.mean_ns or 0.0) for each in known) / 1e9
        return self.part(key, seconds, self.timed_of)

    def sampled(self, key: Key, column: str, unit: float = 1.0) -> Part | None:
        """Growth of `column`, of which `unit` are a second; None when it was not sampled."""
        grown = self.growth.get(column)
        if grown is None or self.sampled_seconds <= 0:
            return None
        return self.part(key, grown / unit, self.record.connections_reached * self.sampled_seconds)

    def kind(self, name: str) -> tuple[StatementRecord, ...]:
        return tuple(each for each in self.record.statements if each.kind == name)

    def statements(self) -> Part | None:
        """None where latency is not the time of the statement alone (open loop), or is unknown."""
        record = self.record
        if record.latency_kind != "service":
            return None
        kinds = tuple(each for each in record.statements if each.kind != CONNECT)
        if kinds and all(each.latency.mean_ns is not None or not each.count for each in kinds):
            return self.timed("statements", kinds)
        if record.latency.mean_ns is None:
            return None
        # That of all kinds together is of the steady part alone.
        late = 0.0 if record.steady_from_s is None else record.steady_from_s - (record.measured_from_s or 0.0)
        seconds = record.latency.count * record.latency.mean_ns / 1e9
        return self.part("statements", seconds, record.connections_reached * (self.window - late))

    def untimed(self) -> Iterator[Untimed]:
        for name in UNTIMED:
            grown = self.growth.get(f"status.{name}")
            if grown is not None and self.sampled_seconds > 0:
                yield Untimed(name, grown / self.sampled_seconds)


def _queries(of: _Phase) -> tuple[Part, float]:
    statements = of.statements()
    cpu = [
        of.sampled("cpu-user", "server.cpu_user_s"),
        of.sampled("cpu-system", "server.cpu_system_s"),
    ]
    waits = [of.sampled("row-locks", "status.Innodb_row_lock_time", 1000.0), _commit(of, cpu)]
    causes = [part for part in (*waits, *cpu) if part is not None]
    if statements is None:
        fitting, over = _fitted(causes, 1.0)
        return _whole(of, (*fitting, _rest(of, "unknown", fitting, 1.0))), over
    fitting, over = _fitted(causes, statements.share)
    between = _between(of, statements)
    if between is not None:
        room = statements.share - sum(part.share for part in fitting)
        fitting = (*fitting, *_fitted([between], room)[0])
    inner = (*fitting, _rest(of, "unknown", fitting, statements.share)) if fitting else ()
    outer = [Part("statements", statements.share, statements.seconds, statements.of_seconds, inner)]
    connecting = of.timed("connecting", of.kind(CONNECT))
    if connecting is not None:
        outer += _fitted([connecting], 1.0 - statements.share)[0]
    return _whole(of, (*outer, _rest(of, "client", outer, 1.0))), over


def _ios(of: _Phase) -> tuple[Part, float]:
    """Of I/Os every kind is timed; a queue that is not full is the client's."""
    parts = [of.timed(key, of.kind(kind)) for kind, key in _OF_IOS.items()]
    fitting, _ = _fitted([part for part in parts if part is not None and part.seconds > 0], 1.0)
    return _whole(of, (*fitting, _rest(of, "client", fitting, 1.0))), 0.0


def _commit(of: _Phase, cpu: list[Part | None]) -> Part | None:
    """The COMMIT statements less the CPU time that a statement needs on average; None without such
    statements, without the server's CPU time, and where latency counts from when a statement was due."""
    commits = of.timed("commit", of.kind(COMMIT))
    known = [part for part in cpu if part is not None]
    if commits is None or not known or not of.record.queries or of.record.latency_kind != "service":
        return None
    each = sum(part.share for part in known) * of.timed_of / of.record.queries
    count = sum(statement.count for statement in of.kind(COMMIT))
    return of.part("commit", max(0.0, commits.seconds - each * count), of.timed_of)


def _between(of: _Phase, statements: Part) -> Part | None:
    """None unless the server counts its own time; one that has a clock and never sets it counts 0."""
    inside = of.sampled("between", "status.Query_time")
    if inside is None or inside.seconds == 0:
        return None
    share = max(0.0, statements.share - inside.share)
    return Part("between", share, share * of.timed_of, of.timed_of)


def _fitted(parts: list[Part], room: float) -> tuple[tuple[Part, ...], float]:
    """`parts` cut off where they would come to more than `room`, and how much was cut off."""
    kept: list[Part] = []
    over = 0.0
    for part in parts:
        share = min(part.share, room)
        over += part.share - share
        room -= share
        kept.append(Part(part.key, share, part.seconds, part.of_seconds))
    return tuple(kept), over


def _rest(of: _Phase, key: Key, parts: tuple[Part, ...] | list[Part], room: float) -> Part:
    share = max(0.0, room - sum(part.share for part in parts))
    return Part(key, share, share * of.timed_of, of.timed_of)


def _whole(of: _Phase, parts: tuple[Part, ...]) -> Part:
    return Part("all", 1.0, of.timed_of, of.timed_of, parts)
