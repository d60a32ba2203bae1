"""A buffer pool is resized in the background: its status, and waiting until it is over."""

from __future__ import annotations

import time

from mydyno.server.access import dbapi

_STATUS = "Innodb_buffer_pool_resize_status"
_SECONDS = 120.0
_BEGINS_SECONDS = 2.0
_POLL_SECONDS = 0.05


def resize_status(cursor: dbapi.Cursor) -> str:
    """What the server says of its last resizing; empty where it says nothing."""
    cursor.execute("SHOW GLOBAL STATUS LIKE %s", (_STATUS,))
    row = cursor.fetchone()
    return str(row[1]) if row else ""


def wait_for_resizing(cursor: dbapi.Cursor, before: str) -> None:
    """Until the resizing is over that was just requested; until it begins, the status is still `before`."""
    started = time.monotonic()
    while (now := resize_status(cursor)) == before or not _is_over(now):
        waited = time.monotonic() - started
        if waited > _SECONDS or (now == before and waited > _BEGINS_SECONDS):
            return
        time.sleep(_POLL_SECONDS)


def wait_until_resized(cursor: dbapi.Cursor) -> None:
    """Until no earlier resizing goes on: MySQL does it in the background, and refuses a size
    meanwhile."""
    started = time.monotonic()
    while not _is_over(resize_status(cursor)) and time.monotonic() - started < _SECONDS:
        time.sleep(_POLL_SECONDS)


def _is_over(status: str) -> bool:
    return not status or any(word in status for word in ("ompleted", "did not change", "ailed"))
