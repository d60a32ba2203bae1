"""The list of a buffer pool's pages: dumped by the server that made a dataset, loaded by one on its clone.

Both families have it under the same names (MySQL since 5.6, MariaDB since 10.0): SET GLOBAL
innodb_buffer_pool_dump_now and _load_now, the file innodb_buffer_pool_filename in the data directory, and
Innodb_buffer_pool_dump_status and _load_status that report the end as text.
Source: MySQL Reference Manual, "Saving and Restoring the Buffer Pool State".
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal

from mydyno.core.errors import ServerError
from mydyno.lab.stack.server.sandbox import RunningServer
from mydyno.server.access import dbapi

FILE_NAME = "pages"
"""Next to the manifest: in the data directory the first server to start there would load it."""

_LONGEST_SECONDS = 3600.0
_POLL_SECONDS = 0.02


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
