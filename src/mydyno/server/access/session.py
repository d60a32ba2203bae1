"""A session of a server, its errors with what was wanted; and what every reader of a server asks first."""

import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from mydyno.machine import processes
from mydyno.machine.proc import TICKS_PER_SECOND
from mydyno.server.access import dbapi
from mydyno.server.access.login import ANSWER_SECONDS, Login, server_errors

_RECOVERY_SECONDS = 600.0
"""A server counts its uptime from the end of its recovery, its process from the beginning."""


@contextmanager
def session(
    login: Login, what: str = "cannot get in", answer_seconds: int = ANSWER_SECONDS
) -> Iterator[dbapi.Cursor]:
    """A cursor of a separate session. Raises ServerError for whatever the server refuses inside."""
    with (
        server_errors(login, what),
        login.connect(answer_seconds=answer_seconds) as connection,
        connection.cursor() as cursor,
    ):
        yield cursor


def show_global(cursor: dbapi.Cursor, what: str) -> dict[str, str]:
    cursor.execute(f"SHOW GLOBAL {what}")
    return {str(name): str(value) for name, value in cursor.fetchall()}


def version_line(variables: Mapping[str, str]) -> str:
    """What `--version` of the running server's binary would say of its release."""
    return f"mysqld  Ver {variables.get('version', '')} ({variables.get('version_comment', '')})"


def process_of(cursor: dbapi.Cursor, login: Login, variables: Mapping[str, str]) -> int | None:
    """The server's process, as far as this machine can be sure of it."""
    if login.socket is not None:
        pid = _peer(cursor)
    elif login.is_here:
        pid = _of_pid_file(Path(variables.get("pid_file", "")), _uptime_seconds(cursor))
    else:
        pid = None
    return pid if pid and processes.start_ticks(pid) is not None else None


def _peer(cursor: dbapi.Cursor) -> int | None:
    """Who listens at the other end of the unix socket (SO_PEERCRED, unix(7)); 0 from within a container."""
    stream = getattr(cursor.connection, "_sock", None)
    if not isinstance(stream, socket.socket):
        return None
    pid, _, _ = struct.unpack("3i", stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(pid)


def _of_pid_file(path: Path, uptime_seconds: int) -> int | None:
    """The pid in the file, when that process is as old as the server: a tunnel leads to another machine, on
    which a file of the same name means another process."""
    try:
        pid = int(path.read_text().strip())
        age = float(Path("/proc/uptime").read_text().split()[0])
    except (OSError, ValueError):
        return None
    started = processes.start_ticks(pid)
    if started is None:
        return None
    older_by = age - started / TICKS_PER_SECOND - uptime_seconds
    return pid if -2.0 < older_by < _RECOVERY_SECONDS else None


def _uptime_seconds(cursor: dbapi.Cursor) -> int:
    cursor.execute("SHOW GLOBAL STATUS LIKE 'Uptime'")
    row = cursor.fetchone()
    return int(row[1]) if row else 0
