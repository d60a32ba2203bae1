"""The tables of a server, looked at through the server: counted, checksummed, read.

A checksum is CHECKSUM TABLE's: it reads every row of the clustered index once, on the server's side. That is
a few hundredths of what loading the rows took, so it is made of every dataset, however large. The manual
(MySQL Reference Manual, "CHECKSUM TABLE Statement") warns that it depends on the row format and may change
between releases: two are compared only when one release made both.

Both families have it under the same names (MySQL since 5.6, MariaDB since 10.0): SET GLOBAL
innodb_buffer_pool_dump_now and _load_now, the file innodb_buffer_pool_filename in the data directory, and
Innodb_buffer_pool_dump_status and _load_status that report the end as text.
Source: MySQL Reference Manual, "Saving and Restoring the Buffer Pool State".
"""

import hashlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from mydyno.core.errors import ServerError
from mydyno.core.sql_names import SYSTEM_SCHEMAS, quote
from mydyno.lab.stack.datasets.manifest import TableContent
from mydyno.lab.stack.server.sandbox import RunningServer
from mydyno.machine.trees import LONGEST_COPY_SECONDS
from mydyno.server.access import dbapi

PAGE_LIST = "pages"
"""Next to the manifest: in the data directory the first server to start there would load it."""

_LONGEST_SECONDS = 3600.0
_POLL_SECONDS = 0.02


def contents_of(server: RunningServer) -> dict[str, TableContent]:
    """`schema.table` -> rows and checksum of every table that is not the server's own. Raises ServerError."""
    with _asking(server, "counting the rows of the dataset") as cursor:
        contents = {}
        for schema, table in _tables(cursor):
            cursor.execute(f"SELECT COUNT(*) FROM {quote(schema, table)}")
            rows = int((cursor.fetchone() or (0,))[0])
            cursor.execute(f"CHECKSUM TABLE {quote(schema, table)}")
            checksum = (cursor.fetchone() or (None, None))[1]
            contents[f"{schema}.{table}"] = TableContent(
                rows=rows, checksum=None if checksum is None else int(checksum)
            )
        return contents


def one_checksum(tables: Mapping[str, TableContent]) -> str:
    """16 hexadecimal digits over names, rows and checksums of all tables."""
    lines = [f"{name} {table.rows} {table.checksum}\n" for name, table in sorted(tables.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def read_everything(server: RunningServer) -> int:
    """Reads every row and every B-tree index of every table once; how many trees that were.

    `USE INDEX ()` keeps the optimizer from counting rows in the smallest index instead. Long values that lie
    outside their rows' pages are not read. Raises ServerError.
    """
    with _asking(server, "reading the tables once") as cursor:
        trees = 0
        for schema, table in _tables(cursor):
            cursor.execute(f"SELECT COUNT(*) FROM {quote(schema, table)} USE INDEX ()")
            cursor.execute(
                "SELECT DISTINCT index_name FROM information_schema.statistics WHERE table_schema = %s "
                "AND table_name = %s AND index_name <> 'PRIMARY' AND index_type = 'BTREE'",
                (schema, table),
            )
            indexes = [str(name) for (name,) in cursor.fetchall()]
            for index in indexes:
                cursor.execute(f"SELECT COUNT(*) FROM {quote(schema, table)} FORCE INDEX ({quote(index)})")
            trees += 1 + len(indexes)
        return trees


def _tables(cursor: dbapi.Cursor) -> list[tuple[str, str]]:
    cursor.execute(
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_type = 'BASE TABLE' AND table_schema NOT IN "
        f"({', '.join(['%s'] * len(SYSTEM_SCHEMAS))}) "
        "ORDER BY table_schema, table_name",
        SYSTEM_SCHEMAS,
    )
    return [(str(schema), str(table)) for schema, table in cursor.fetchall()]


@contextmanager
def _asking(server: RunningServer, doing: str) -> Iterator[dbapi.Cursor]:
    try:
        patience = int(LONGEST_COPY_SECONDS)
        with server.connect(answer_seconds=patience) as connection, connection.cursor() as cursor:
            yield cursor
    except dbapi.Error as error:
        raise ServerError(f"{doing} failed: {error}") from error


def dump_pages(server: RunningServer) -> Path | None:
    """The file in its data directory that lists the pages in its buffer pool now; None: it cannot do that.

    Raises ServerError.
    """
    variables = server.variables()
    if "innodb_buffer_pool_dump_now" not in variables:
        return None
    if "innodb_buffer_pool_dump_pct" in variables:
        _set(server, "innodb_buffer_pool_dump_pct", "100")
    _do_now(server, "dump")
    return server.datadir / variables["innodb_buffer_pool_filename"]


def load_pages(server: RunningServer) -> None:
    """Reads the pages that the list in the data directory names, and waits for it. Raises ServerError."""
    _do_now(server, "load")


def list_name(server: RunningServer) -> str | None:
    """What the server calls its list, in its data directory; None: it knows none. Raises ServerError."""
    return server.variables().get("innodb_buffer_pool_filename")


def _do_now(server: RunningServer, what: Literal["dump", "load"]) -> None:
    """The last text of an earlier one remains until the new one begins, so a change of them is waited for."""
    status = f"Innodb_buffer_pool_{what}_status"
    before = server.status().get(status, "")
    _set(server, f"innodb_buffer_pool_{what}_now", "ON")
    deadline = time.monotonic() + _LONGEST_SECONDS
    while True:
        message = server.status().get(status, "")
        if message != before and "completed" in message:
            return
        if message != before and ("annot open" in message or "rror" in message or "abort" in message):
            raise ServerError(f"the server could not {what} its buffer pool: {message}")
        if time.monotonic() > deadline:
            raise ServerError(f"the {what} of the buffer pool took over {_LONGEST_SECONDS:g} s: {message}")
        time.sleep(_POLL_SECONDS)


def _set(server: RunningServer, name: str, value: str) -> None:
    try:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"SET GLOBAL {name} = {value}")
    except dbapi.Error as error:
        raise ServerError(f"{name} could not be set: {error}") from error
