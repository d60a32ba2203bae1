"""The one JSON document that the engine reads: whom to load, with what, in which phases.

The password is held as a Secret and appears only in `Job.to_wire()`, whose text goes to the engine's
standard input and nowhere else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mydyno.core.secrets import Secret
from mydyno.server.access.login import Login
from mydyno.server.access.transport import Transport

PROTOCOL = 3


@dataclass(frozen=True, kw_only=True)
class Target:
    """The server and account: a unix socket, or a host and port."""

    user: str
    password: Secret
    database: str
    socket: Path | None = None
    host: str | None = None
    port: int | None = None
    transport: Transport = field(default_factory=Transport)

    @classmethod
    def of(cls, login: Login, database: str) -> Target:
        return cls(database=database, **vars(login))

    @property
    def login(self) -> Login:
        return Login(self.user, self.password, self.socket, self.host, self.port, self.transport)

    @property
    def address(self) -> str:
        return self.login.address

    def to_wire(self) -> dict[str, Any]:
        return {
            "socket": str(self.socket) if self.socket else None,
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "password": self.password.reveal(),
            "database": self.database,
            **self.transport.to_wire(),
        }


@dataclass(frozen=True)
class Phase:
    """One stretch of load: `arrival`, `work` and `think` are the engine's own objects, `pause_s` follows it.

    Of the connections only `active` carry events, if said; they open and start over `ramp_s`.
    """

    connections: int
    arrival: dict[str, Any]
    work: dict[str, Any]
    pause_s: float = 0.0
    active: int | None = None
    """Of the open connections only so many carry transactions."""
    think: dict[str, Any] | None = None
    ramp_s: float = 0.0


@dataclass(frozen=True)
class Sampling:
    """Read the server's status and /proc every `interval_s` seconds; `server_pid` when it runs here."""

    interval_s: float
    server_pid: int | None


@dataclass(frozen=True)
class Slices:
    """Several servers, driven in turn: `order` is that of the servers in each round, by their numbers.

    A slice lasts `slice_s` seconds, or four times as long as statements take to end after it, up to
    `longest_s` and a fifth of the time that is measured.
    """

    slice_s: float
    longest_s: float
    order: list[list[int]]


@dataclass(frozen=True)
class Part:
    """Which of the engines that share a load; the engine itself takes its share of each phase."""

    number: int
    """From 0."""
    of: int


@dataclass(frozen=True, kw_only=True)
class Job:
    """What one engine process does. `prepare` is `none`, `create` or `if-missing`.

    With `drop_existing` it may drop tables that mydyno has not made. A statement that has no answer
    within `answer_within_s` fails: the query timeout.
    """

    target: Target
    seed: int
    workload: dict[str, Any]
    prepare: str = "none"
    phases: tuple[Phase, ...] = ()
    sampling: Sampling | None = None
    interval_s: float = 1.0
    percentile: float | None = None
    """Of the events of each interval, besides their 95th."""
    drop_existing: bool = False
    """Tables that mydyno did not make may be replaced."""
    answer_within_s: float = 60.0
    part: Part | None = None
    """Of the load that several engines share; None: all of it."""

    def to_wire(self) -> str:
        """The job as the engine reads it, in one line. Holds the password: for standard input only."""
        return json.dumps(
            {
                "protocol": PROTOCOL,
                **self.server_to_wire(),
                **({} if self.part is None else {"part": vars(self.part)}),
                "seed": self.seed,
                "prepare": self.prepare,
                "interval_s": self.interval_s,
                "percentile": self.percentile,
                "drop_existing": self.drop_existing,
                "answer_within_s": self.answer_within_s,
            }
        )

    def server_to_wire(self) -> dict[str, Any]:
        """What concerns one server."""
        return {
            "target": self.target.to_wire(),
            "workload": self.workload,
            "phases": [vars(phase) for phase in self.phases],
            "sampling": vars(self.sampling) if self.sampling else None,
        }


@dataclass(frozen=True, kw_only=True)
class SlicedJob:
    """The jobs of several servers, carried out by one engine process in slices. Their tables are there."""

    servers: tuple[Job, ...]
    slices: Slices

    def to_wire(self) -> str:
        """As `Job.to_wire`. What concerns the engine as a whole is taken from the first job."""
        first = self.servers[0]
        return json.dumps(
            {
                "protocol": PROTOCOL,
                "servers": [job.server_to_wire() for job in self.servers],
                "slices": vars(self.slices),
                "seed": first.seed,
                "interval_s": first.interval_s,
                "answer_within_s": first.answer_within_s,
            }
        )


def closed_loop() -> dict[str, Any]:
    """Each connection sends its next transaction as soon as the last is answered."""
    return {"kind": "closed"}


def open_loop(kind: str, per_second: float) -> dict[str, Any]:
    """Transactions fall due at `per_second` over all connections; `kind` is `fixed` or `poisson`."""
    return {"kind": kind, "rate": per_second}


def rounds(count: int) -> dict[str, Any]:
    """A fixed amount of work: each connection runs its transaction `count` times."""
    return {"kind": "rounds", "rounds": count}


def events(count: int) -> dict[str, Any]:
    """A fixed amount of work in all: whichever connection is free takes the next transaction."""
    return {"kind": "events", "events": count}


def split(count: int) -> dict[str, Any]:
    """A fixed amount of work in all, split evenly between the connections; a remainder is not run."""
    return {"kind": "split", "events": count}


def whole_trace() -> dict[str, Any]:
    """The statements of a trace, once."""
    return {"kind": "trace"}


def think(kind: str, mean_s: float) -> dict[str, Any]:
    """The rest of a connection between two transactions: `constant`, `exponential` or `uniform`."""
    return {"kind": kind, "mean_s": mean_s}


def timed(warmup_s: float, measure_s: float) -> dict[str, Any]:
    """Warm up, then measure, for these seconds."""
    return {"kind": "timed", "warmup_s": warmup_s, "measure_s": measure_s}
