"""What the driver wants of each foreign program, and what goes on next to one: the engine next to an external
program, without load, for samples and the one clock of both; and what mydyno itself does on the server next
to an external program: it makes the schema, counts rows, marks the tables that were made for it and refuses
to have others dropped."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from mydyno.core.errors import EngineError
from mydyno.core.plurals import plural
from mydyno.core.sql_names import quote
from mydyno.lab.load import messages
from mydyno.lab.load.engine import Engine
from mydyno.lab.load.external.program import Ended, Line, Program
from mydyno.lab.load.job import Job, Phase, Sampling, Target
from mydyno.lab.stack.tables_layer import MARK
from mydyno.machine.local import LocalHost
from mydyno.server.access import dbapi

_ANSWER_SECONDS = 30


class Admin:
    """A connection for administration. Raises EngineError whatever the server refuses."""

    def __init__(self, connection: dbapi.Connection[dbapi.Cursor]) -> None:
        self._connection = connection

    @property
    def server_version(self) -> str:
        [(version,)] = self._ask("SELECT VERSION()")
        return str(version)

    def make_schema(self, name: str) -> None:
        # MySQL has no comments of databases, and takes this one for an ordinary comment.
        self._ask(f"CREATE DATABASE IF NOT EXISTS {quote(name)} /*M!100500 COMMENT '{MARK}' */")

    def drop_schema(self, name: str) -> None:
        self._ask(f"DROP DATABASE IF EXISTS {quote(name)}")

    def tables(self, schema: str) -> dict[str, bool]:
        """Every table and view of `schema`, and whether it is ours."""
        rows = self._ask(
            "SELECT table_name, table_comment FROM information_schema.tables WHERE table_schema = %s", schema
        )
        return {str(name): str(comment).startswith(MARK) for name, comment in rows}

    def rows(self, schema: str, table: str) -> int:
        [(count,)] = self._ask(f"SELECT COUNT(*) FROM {quote(schema)}.{quote(table)}")
        return int(str(count))

    def mark(self, schema: str, table: str) -> None:
        self._ask(f"ALTER TABLE {quote(schema)}.{quote(table)} COMMENT = '{MARK}'")

    def refuse_foreign(self, schema: str, doomed: Sequence[str], what: str) -> None:
        """Raises EngineError when one of the tables that are about to be dropped is not ours."""
        for table, ours in self.tables(schema).items():
            if table in doomed and not ours:
                rows = self.rows(schema, table)
                raise EngineError(
                    f"{what}, but {schema}.{table} ({rows:,} {plural(rows, 'row')}) was not made by mydyno;"
                    " nothing was dropped",
                    "use another schema, or --drop-existing if these tables are not needed",
                )

    def _ask(self, sql: str, *values: str) -> list[tuple[object, ...]]:
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(sql, values or None)
                return list(cursor.fetchall())
        except dbapi.Error as error:
            raise EngineError(f"the server refused {sql!r}: {_described(error)}") from None


@contextmanager
def administration(target: Target) -> Iterator[Admin]:
    """A connection to no schema in particular. Raises EngineError when there is no way in."""
    try:
        connection = target.login.connect(answer_seconds=_ANSWER_SECONDS)
    except dbapi.Error as error:
        raise EngineError(f"cannot connect to {target.address}: {_described(error)}") from None
    with connection:
        yield Admin(connection)


def _described(error: Exception) -> str:
    """`Access denied for user ... (error 1045)`."""
    number = dbapi.number_of(error)
    return dbapi.text_of(error) + (f" (error {number})" if number else "")


_ENDS_WITHIN_S = 10.0


@dataclass(frozen=True)
class Clock:
    """Counts ns from `zero_ns`, an instant of time.monotonic_ns() that was `started_unix_ns` on the wall."""

    zero_ns: int
    started_unix_ns: int

    @classmethod
    def start(cls) -> Clock:
        return cls(time.monotonic_ns(), time.time_ns())

    def at(self, monotonic_ns: int) -> int:
        return monotonic_ns - self.zero_ns

    def now(self) -> int:
        return self.at(time.monotonic_ns())

    def of_another(self, t_ns: int, its_started_unix_ns: int) -> int:
        """An instant of the clock of another process on this machine, on this clock."""
        return t_ns + its_started_unix_ns - self.started_unix_ns


class Watch:
    """Delivers samples on `clock`, from a separate thread, and what ends the engine too early."""

    def __init__(
        self,
        target: Target,
        sampling: Sampling,
        clock: Clock,
        deliver: Callable[[messages.Sample | Exception], None],
    ) -> None:
        # A schema that is always there: mysqlslap may not have made its own yet.
        anywhere = replace(target, database="information_schema")
        job = Job(target=anywhere, seed=1, workload={"watch": {}}, sampling=sampling)
        # Made here: the kernel ends the engine with the thread that started it.
        self._engine = Engine(job, LocalHost())
        self._clock = clock
        self._deliver = deliver
        self._thread = threading.Thread(target=self._listen, name="mydyno-watch", daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        started_unix_ns = self._clock.started_unix_ns
        try:
            for message in self._engine:
                match message:
                    case messages.Hello():
                        started_unix_ns = message.started_unix_ns
                    case messages.Sample():
                        t_ns = self._clock.of_another(message.t_ns, started_unix_ns)
                        self._deliver(message.model_copy(update={"t_ns": t_ns}))
                    case _:
                        pass
        except Exception as error:  # Raised again where the messages are heard.
            self._deliver(error)

    def stop(self) -> None:
        """Ends it; every sample has been delivered when this returns."""
        self._engine.request_stop()
        self._thread.join(_ENDS_WITHIN_S)
        self._engine.__exit__(None, None, None)


@dataclass(frozen=True)
class Cut:
    """How a phase was ended from outside: by a request to stop, or because it was stopped (`why`)."""

    interrupted: bool = False
    why: str | None = None


@dataclass(frozen=True)
class Start:
    """A phase that begins: its number, what it is, the clock, and the CPU seconds of the child so far."""

    index: int
    phase: Phase
    clock: Clock
    cpu_s: Callable[[], tuple[float, float]]


class PhaseListener(Protocol):
    """Hears the program of one phase."""

    @property
    def latest_end_ns(self) -> int | None:
        """When it must have ended, on the driver's clock; None when that is not known."""

    def hear(self, line: Line) -> Iterator[messages.Message]: ...

    def end(self, ended: Ended, cut: Cut) -> Iterator[messages.Message]:
        """What is known once the program has ended; the last message is the phase's PhaseEnd."""


@dataclass(frozen=True)
class Step:
    """One run of the program during preparation; `progress` makes stage and count of a line of output."""

    argv: Sequence[str]
    progress: Callable[[str], messages.Progress | None]


class ForeignProgram(ABC):
    """A foreign program with its options."""

    program: Program
    schema: str | None = None
    """The schema that must be there before the program runs; None when it makes its own."""

    @abstractmethod
    def check(self, phase: Phase) -> None:
        """Raises UsageError for a phase that the program cannot do."""

    @abstractmethod
    def argv(self, phase: Phase) -> Sequence[str]: ...

    @abstractmethod
    def listener(self, start: Start) -> PhaseListener: ...

    def before(self, admin: Admin) -> None:  # noqa: B027
        """Raises EngineError when a run would destroy what mydyno did not make."""

    def missing(self, admin: Admin) -> bool:
        """Whether a table is missing or has another number of rows than wanted."""
        return False

    def preparation(self, admin: Admin) -> Sequence[Step]:
        """The runs that create all tables again. Raises EngineError for tables that are not ours."""
        return ()

    def prepared(self, admin: Admin) -> list[messages.Table]:
        """Marks what was made as ours and counts it."""
        return []

    def tidy(self, admin: Admin) -> None:  # noqa: B027
        """Removes what a run that was ended from outside has left."""
