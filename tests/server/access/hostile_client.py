"""A separate process that meets hostile servers, so that its memory and its end can be measured.

    python -m server.access.hostile_client < SERVERS

SERVERS is a JSON object: the name of a mode, the port where a server of it listens, and the seconds that all
deadlines have; null: as for a user. Prints a line of JSON for each: {"mode", "seconds", "error", "peak_mb"}.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pymysql

from mydyno.core.secrets import Secret
from mydyno.server.access.client import BoundedConnection
from mydyno.server.access.login import Login

PASSWORD = "a password that nobody hears"


def peak_mb() -> float:
    """Of this process alone: ru_maxrss begins with what its parent held (proc_pid_status(5))."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


@contextmanager
def deadlines(seconds: float | None) -> Iterator[None]:
    """All deadlines of a connection are at most so many seconds."""
    begin = BoundedConnection._begin

    def shorter(self: BoundedConnection, asked: float, most: int) -> None:
        begin(self, asked if seconds is None else min(asked, seconds), most)

    BoundedConnection._begin = shorter  # type: ignore[method-assign]
    try:
        yield
    finally:
        BoundedConnection._begin = begin  # type: ignore[method-assign]


def main() -> None:
    for mode, (port, most) in json.load(sys.stdin).items():
        login = Login("root", Secret(PASSWORD), host="127.0.0.1", port=port)
        began = time.monotonic()
        error: tuple[object, ...] | None = None
        try:
            with deadlines(most), login.connect() as connection, connection.cursor() as cursor:
                cursor.execute("SELECT 1")
        except pymysql.Error as raised:
            error = raised.args
        seconds = time.monotonic() - began
        print(json.dumps({"mode": mode, "seconds": seconds, "error": error, "peak_mb": peak_mb()}))


if __name__ == "__main__":
    main()
