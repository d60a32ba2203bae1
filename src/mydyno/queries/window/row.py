"""A row of mysql.slow_log as the text that a server writes into its file: pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

_MICROSECONDS = 1_000_000

_COMMANDS = frozenset(
    b"Quit,Init DB,Field List,Create DB,Drop DB,Refresh,Shutdown,Statistics,Processlist,Connect,Kill,Debug,"
    b"Ping,Time,Change user,Binlog Dump,Table Dump,Register Slave,Register Replica,Long Data,Close stmt,"
    b"Reset stmt,Set option,Fetch,Binlog Dump GTID,Reset Connection".split(b",")
)
"""Commands of the protocol without a statement: the table has their bare name, the file marks them."""


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
