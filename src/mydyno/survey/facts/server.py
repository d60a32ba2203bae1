"""A running MySQL or MariaDB server: variables, status over an interval, InnoDB's own report, its role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import Literal

from mydyno.core.record import Record
from mydyno.core.server_variables import OFF_WORDS, ON_WORDS
from mydyno.core.server_version import Version, parse_version
from mydyno.survey.facts.accounts import Accounts, HostCache
from mydyno.survey.facts.tables import Schema

Source = Literal["compiled", "file", "command line", "persisted", "set while running", "computed"]


class Origin(Record):
    """Where a value in force comes from."""

    source: Source
    file: str | None = None
    line: int | None = None
    overridden: tuple[str, ...] = ()
    """`FILE:LINE` of other files that say it too and lose."""


class Variable(Record):
    value: str
    """As SHOW GLOBAL VARIABLES writes it."""
    dynamic: bool | None = None
    """Whether SET GLOBAL can change it. None: not tested."""
    settable: bool | None = None
    """Whether this account may."""
    origin: Origin | None = None


class Reading(Record):
    """One second or so of the interval."""

    running: float
    """Threads_running, the mean of its two ends."""
    statements: float
    """A second: by how much Questions grew."""


class Status(Record):
    """SHOW GLOBAL STATUS twice, `seconds` apart."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    seconds: float
    readings: tuple[Reading, ...] = ()
    """Of the interval, one after another."""


class Innodb(Record):
    """What SHOW ENGINE INNODB STATUS says beyond the status variables."""

    checkpoint_age_bytes: int | None = None
    log_sequence_number: int | None = None
    history_list_length: int | None = None
    queries_in_queue: int | None = None
    """Waiting to get into InnoDB (innodb_thread_concurrency)."""
    semaphore_waits: int | None = None
    """Threads that wait for a latch at that instant."""
    latest_deadlock: str | None = None
    """Its time, as the server writes it."""


class Role(Record):
    """What else depends on this server. None: not known, as to an account without the right to see it."""

    replica: bool | None = None
    """It replicates from another."""
    source: bool | None = None
    """Others replicate from it."""
    galera: bool | None = None
    group_replication: bool | None = None
    managed: str | None = None
    """`Amazon RDS`, `Amazon Aurora`, `Azure Database`, `Cloud SQL`: settings are changed in its console.
    None: not managed."""

    @property
    def unknown(self) -> tuple[str, ...]:
        """The fields whose truth is not known."""
        return tuple(name for name in _TRUTHS if getattr(self, name) is None)

    def possible(self) -> Iterator[Role]:
        """Every role that agrees with what is known: this one alone where all is."""
        for values in product((False, True), repeat=len(self.unknown)):
            yield self.model_copy(update=dict(zip(self.unknown, values, strict=True)))


_TRUTHS = ("replica", "source", "galera", "group_replication")


class Server(Record):
    version: str
    """As `mysqld --version` has it: `mariadbd Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu`."""
    variables: Mapping[str, Variable]
    """By plain name: small letters, underscores."""
    status: Status
    innodb: Innodb | None = None
    plugins: tuple[str, ...] | None = None
    """Active ones, small letters."""
    role: Role = Role()
    schema_facts: Schema | None = None
    """None: the schema was not read."""
    accounts: Accounts | None = None
    host_cache: HostCache | None = None
    address: str | None = None
    """A unix socket or host:port, never an account."""

    @cached_property
    def release(self) -> Version:
        return parse_version(self.version)

    def text(self, name: str) -> str | None:
        """The value of a variable as the server writes it; None: it has none of that name."""
        variable = self.variables.get(name)
        return None if variable is None else variable.value

    def number(self, name: str) -> int | None:
        text = self.text(name)
        try:
            return None if text is None else int(float(text))
        except (ValueError, OverflowError):
            return None

    def switch(self, name: str) -> bool | None:
        """Whether it is on; None for what is neither on nor off."""
        word = (self.text(name) or "").casefold()
        return True if word in ON_WORDS else False if word in OFF_WORDS else None

    def has(self, *names: str) -> bool:
        return all(name in self.variables for name in names)

    def counter(self, name: str) -> float | None:
        """A status variable's number at the end of the interval: since the start, for those that count."""
        return _number(self.status.after.get(name))

    def grown(self, name: str) -> float | None:
        """By how much a counter grew in the interval; None when it shrank (a restart, FLUSH STATUS)."""
        before, after = _number(self.status.before.get(name)), self.counter(name)
        if before is None or after is None or after < before:
            return None
        return after - before

    def rate(self, name: str) -> float | None:
        """By how much a counter grew, each second of the interval."""
        grown = self.grown(name)
        return None if grown is None or self.status.seconds <= 0 else grown / self.status.seconds

    def average(self, name: str) -> float | None:
        """By how much a counter grew, each second since the server's start."""
        total, uptime = self.counter(name), self.uptime_seconds
        return None if total is None or not uptime else total / uptime

    @property
    def uptime_seconds(self) -> float | None:
        return _number(self.status.after.get("Uptime"))


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
