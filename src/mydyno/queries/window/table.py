"""The log as the table mysql.slow_log: the only way to it on servers whose files cannot be read."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from mydyno.queries.window.watching import Amount
from mydyno.server.access import dbapi
from mydyno.server.access.login import Login, explained
from mydyno.server.access.session import session

ANSWER_SECONDS = 600
"""A table of gigabytes is read from its beginning: it is kept as CSV, without an index."""
_ROW_BYTES = 150
"""About, of a row but for its statement."""
_PATIENCE = 20.0
"""The table is read again after so many times what the last read has taken."""

_COLUMNS = (
    "UNIX_TIMESTAMP(start_time), CAST(user_host AS BINARY), query_time, lock_time, rows_sent, rows_examined,"
    " CAST(db AS BINARY), CAST(sql_text AS BINARY)"
)
_MICROSECONDS = 1_000_000

_COMMANDS = frozenset(
    b"Quit,Init DB,Field List,Create DB,Drop DB,Refresh,Shutdown,Statistics,Processlist,Connect,Kill,Debug,"
    b"Ping,Time,Change user,Binlog Dump,Table Dump,Register Slave,Register Replica,Long Data,Close stmt,"
    b"Reset stmt,Set option,Fetch,Binlog Dump GTID,Reset Connection".split(b",")
)
"""Commands of the protocol without a statement: the table has their bare name, the file marks them."""


class TableLog:
    """Its rows by their place: it is only appended to. Never changed, and never emptied."""

    name = "mysql.slow_log"

    def __init__(self, login: Login, cursor: dbapi.Cursor, *, is_mariadb: bool) -> None:
        """`cursor`: of a session that is not logged itself; the rows are read in another one."""
        self._login = login
        self._cursor = cursor
        self._is_mariadb = is_mariadb
        self._begin = self._end = self._begin_bytes = 0
        self._problems: list[str] = []
        self._amount = Amount(0, 0)
        self._next_read = 0.0

    @classmethod
    @contextmanager
    def whole(cls, login: Login) -> Iterator[TableLog]:
        """All rows that the table has, also old ones. Raises ServerError."""
        with session(login, "mysql.slow_log could not be read") as cursor:
            cursor.execute("SELECT VERSION()")
            row = cursor.fetchone()
            log = cls(login, cursor, is_mariadb="mariadb" in str(row).lower())
            log._end, _ = log._rows()
            yield log

    def room(self) -> int | None:
        return None

    def begin(self) -> None:
        self._begin, self._begin_bytes = self._rows()
        self._end = self._begin

    def amount(self) -> Amount:
        before = time.monotonic()
        if before >= self._next_read:
            rows, size = self._rows()
            self._amount = Amount(max(0, size - self._begin_bytes), max(0, rows - self._begin))
            after = time.monotonic()
            self._next_read = after + _PATIENCE * (after - before)
        return self._amount

    def end(self) -> None:
        self._end, _ = self._rows()
        if self._end < self._begin:
            why = "mysql.slow_log was emptied or replaced while it was watched: earlier entries are lost"
            self._problems.append(why)
            self._begin = 0

    def settle(self) -> tuple[str, ...]:
        return tuple(self._problems)

    def blocks(self) -> Iterator[bytes]:
        try:
            with closing(self._login.connect(answer_seconds=ANSWER_SECONDS)) as connection:
                cursor = dbapi.SSCursor(connection)
                more = _has(cursor)
                columns = ", ".join((_COLUMNS, *more))
                cursor.execute(
                    f"SELECT {columns} FROM mysql.slow_log LIMIT %s OFFSET %s",
                    (self._end - self._begin, self._begin),
                )
                for row in cursor:
                    yield text_of(self._row(row, more))
        except (dbapi.Error, OSError) as error:
            raise explained(error, self._login, "mysql.slow_log could not be read") from error

    def close(self) -> None:
        """It has no files."""

    def _row(self, row: tuple[Any, ...], more: Sequence[str]) -> Row:
        logged_at, user_host, query_time, lock_time, sent, examined, database, statement = row[:8]
        return Row(
            start_us=start_us(logged_at, query_time, is_end=not self._is_mariadb),
            user_host=bytes(user_host),
            query_time=query_time,
            lock_time=lock_time,
            rows_sent=int(sent),
            rows_examined=int(examined),
            database=bytes(database),
            statement=bytes(statement),
            **dict(zip(more, map(int, row[8:]), strict=True)),
        )

    def _rows(self) -> tuple[int, int]:
        """How many there are, and their bytes as text of a file, about."""
        try:
            self._cursor.execute("SELECT COUNT(*), SUM(LENGTH(sql_text)) FROM mysql.slow_log")
            row = self._cursor.fetchone()
        except (dbapi.Error, OSError, RuntimeError) as error:
            raise explained(error, self._login, "mysql.slow_log could not be read") from error
        assert row is not None
        return int(row[0]), int(row[0]) * _ROW_BYTES + int(row[1] or 0)


def has_fractions(cursor: dbapi.Cursor) -> bool:
    """Whether the table keeps parts of a second: MySQL's does since 5.7. Raises dbapi.Error."""
    return "(6)" in _types(cursor)["query_time"]


def _has(cursor: dbapi.Cursor) -> list[str]:
    """The columns that some releases have more than others."""
    return [name for name in ("thread_id", "rows_affected") if name in _types(cursor)]


def _types(cursor: dbapi.Cursor) -> dict[str, str]:
    cursor.execute("SHOW COLUMNS FROM mysql.slow_log")
    return {str(row[0]): str(row[1]) for row in cursor.fetchall()}


@dataclass(frozen=True)
class Row:
    """What the table has of one statement."""

    start_us: int
    """When it began, microseconds since 1970 UTC."""
    user_host: bytes
    """`root[root] @ localhost []`."""
    query_time: timedelta
    lock_time: timedelta
    rows_sent: int
    rows_examined: int
    database: bytes
    statement: bytes
    thread_id: int | None = None
    rows_affected: int | None = None


def text_of(row: Row) -> bytes:
    """An entry in the form of MySQL 8. Its one time is the statement's start, to the microsecond."""
    fields = [
        f"Query_time: {_seconds(row.query_time)}",
        f"Lock_time: {_seconds(row.lock_time)}",
        f"Rows_sent: {row.rows_sent}",
        f"Rows_examined: {row.rows_examined}",
        *([] if row.rows_affected is None else [f"Rows_affected: {row.rows_affected}"]),
    ]
    thread = b"" if row.thread_id is None else b"  Id: %d" % row.thread_id
    lines = [
        b"# Time: " + _moment(row.start_us).encode(),
        b"# User@Host: " + row.user_host + thread,
        b"# " + "  ".join(fields).encode(),
        *([b"use " + row.database + b";"] if row.database else []),
        _statement(row.statement),
    ]
    return b"\n".join(lines) + b"\n"


def start_us(logged_at: Decimal | int, query_time: timedelta, *, is_end: bool) -> int:
    """The statement's start. `is_end`: the table has the moment at which it was logged (MySQL); MariaDB's has
    the start. Seen on MySQL 5.6 and 9.7, MariaDB 10.11 and 11.8."""
    at = int(Decimal(logged_at) * _MICROSECONDS)
    return at - query_time // timedelta(microseconds=1) if is_end else at


def _statement(text: bytes) -> bytes:
    if text in _COMMANDS:
        return b"# administrator command: " + text + b";"
    return text.rstrip(b"; \t\r\n") + b";"


def _seconds(span: timedelta) -> str:
    whole, rest = divmod(span // timedelta(microseconds=1), _MICROSECONDS)
    return f"{whole}.{rest:06d}"


def _moment(us: int) -> str:
    whole, rest = divmod(us, _MICROSECONDS)
    return f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%dT%H:%M:%S}.{rest:06d}Z"
