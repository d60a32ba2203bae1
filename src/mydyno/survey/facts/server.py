"""A running MySQL or MariaDB server: variables, status over an interval, InnoDB, role, tables, accounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import Literal

from mydyno.core.record import Record
from mydyno.core.server_variables import OFF_WORDS, ON_WORDS
from mydyno.core.server_version import Version, parse_version

Source = Literal["compiled", "file", "command line", "persisted", "set while running", "computed"]


class Table(Record):
    name: str
    """`schema.table`."""
    engine: str
    rows: int | None = None
    """An estimate of the server."""
    data_bytes: int | None = None
    index_bytes: int | None = None
    free_bytes: int | None = None
    """Inside its own file."""
    auto_increment_used: float | None = None
    """The part of the column's range that is used up."""


class Index(Record):
    table: str
    name: str
    columns: tuple[str, ...] = ()
    covered_by: str | None = None
    """The index that begins with the same columns."""
    hidden: bool = False
    """Whether the optimizer does not look at it: INVISIBLE in MySQL, IGNORED in MariaDB."""


_INNODB = "InnoDB"


class Schema(Record):
    """User tables alone. A tuple holds the largest first, at most 100; None: it was not read."""

    tables: int
    partial: bool = False
    """The account sees only the tables that it has a right to: there may be others."""
    bytes_by_engine: Mapping[str, int] | None = None
    """Data and indexes; without the engines of which a table's size is not known."""
    tables_by_engine: Mapping[str, int] | None = None
    without_primary_key: tuple[Table, ...] | None = None
    other_engines: tuple[Table, ...] | None = None
    """Tables that are neither InnoDB nor of the server's own."""
    fragmented: tuple[Table, ...] | None = None
    """Of which a good part is free."""
    nearly_full_counters: tuple[Table, ...] | None = None
    unused_indexes: tuple[Index, ...] | None = None
    """Since the server's start, without those that a foreign key needs; None: it does not count."""
    redundant_indexes: tuple[Index, ...] | None = None

    @property
    def innodb_bytes(self) -> int | None:
        """Of all InnoDB tables; None where a part of them is not known."""
        if self.partial or self.bytes_by_engine is None:
            return None
        counted = self.tables_by_engine or {}
        none = _INNODB not in counted and sum(counted.values()) == self.tables
        return self.bytes_by_engine.get(_INNODB, 0 if none else None)

    @property
    def seen_bytes(self) -> int:
        """Of the tables whose size is known: at least so much there is."""
        return sum((self.bytes_by_engine or {}).values())


class Accounts(Record):
    """Of mysql.user, without roles. A tuple holds 100 at most."""

    number: int
    anonymous_hosts: tuple[str, ...] = ()
    """Hosts of the accounts without a user name: `localhost`, `%`."""
    named_hosts: tuple[str, ...] = ()
    """Hosts of accounts that are names, which the server must look up: `appserver`, `web%`."""


class HostCache(Record):
    """Totals of performance_schema.host_cache: clients over TCP whose address was looked up."""

    hosts: int
    handshake_errors: int
    """Connections that broke off before the handshake was done."""
    authentication_errors: int
    """Wrong passwords and unknown users: they block no host."""
    blocked_errors: int
    """Connections that were refused since their host was blocked."""
    most_errors: int
    """Of one host in a row (SUM_CONNECT_ERRORS): what max_connect_errors is about."""


def names_a_host(host: str) -> bool:
    """Whether the host of an account is a name and not an address, a pattern of addresses or a netmask.

    An IPv6 address has colons, an IPv4 one no letters; `localhost` is the socket's.
    """
    return host.casefold() != "localhost" and ":" not in host and any(each.isalpha() for each in host)


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
        return decimal_of(self.status.after.get(name))

    def grown(self, name: str) -> float | None:
        """By how much a counter grew in the interval; None when it shrank (a restart, FLUSH STATUS)."""
        before, after = decimal_of(self.status.before.get(name)), self.counter(name)
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
        return decimal_of(self.status.after.get("Uptime"))


def decimal_of(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
