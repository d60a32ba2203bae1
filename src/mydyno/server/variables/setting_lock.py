"""One session at a time sets the variables of one application; an earlier one is ended first.

A client that dies inside SET GLOBAL leaves the statement running on the server. Resizing the redo log
(MariaDB since 10.9) or the buffer pool takes as long as the server needs, and the variable shows its old
value until then: a reader would take for restored what is about to change. So each session that sets
variables holds a user lock (GET_LOCK) whose name the application keeps. The next session of that
application finds its holder (IS_USED_LOCK), ends it (KILL), and has the lock only when the holder has gone.

Sources: MySQL Reference Manual, "Locking Functions" (a lock ends with its session); MariaDB Knowledge Base,
"KILL" and "innodb_log_file_size".
"""

import time
import uuid

from mydyno.core.errors import ServerError
from mydyno.server.access import dbapi

SETTING_SECONDS = 600
"""How long one SET GLOBAL may take before its session is ended."""

_ENDS_WITHIN_SECONDS = 120.0
_FIRST_WAIT_SECONDS = 1
"""A session that is closing is given so long to end by itself."""
_NO_SUCH_THREAD = 1094
_NOT_THE_OWNER = 1095
_REFUSED = 1105
"""So says Percona XtraDB Cluster of user locks with pxc_strict_mode = ENFORCING."""


def new_lock() -> str:
    """A name that no other application has; MySQL takes 64 characters."""
    return f"mydyno-{uuid.uuid4().hex}"


def take_lock(cursor: dbapi.Cursor, lock: str, patience_seconds: float = _ENDS_WITHIN_SECONDS) -> None:
    """Returns when this session holds `lock`, its earlier holder ended.

    Raises ServerError when the holder does not end within `patience_seconds`, or may not be ended by this
    account; dbapi.Error when the connection fails. A server that refuses user locks is taken as it is.
    """
    deadline = time.monotonic() + patience_seconds
    holder: int | None = None
    while not _got(cursor, lock):
        holder = _holder(cursor, lock) or holder
        if time.monotonic() > deadline:
            raise ServerError(
                f"connection {holder} still runs a statement of an earlier mydyno that sets variables, "
                f"{patience_seconds:g} s after it was to end (KILL {holder})",
                "`SHOW PROCESSLIST` shows it; what it sets is known when it has ended",
            )
        if holder is not None:
            _end(cursor, holder)


def _got(cursor: dbapi.Cursor, lock: str) -> bool:
    try:
        cursor.execute("SELECT GET_LOCK(%s, %s)", (lock, _FIRST_WAIT_SECONDS))
    except dbapi.Error as error:
        if dbapi.number_of(error) == _REFUSED:
            return True
        raise
    row = cursor.fetchone()
    return row is not None and row[0] == 1


def _holder(cursor: dbapi.Cursor, lock: str) -> int | None:
    cursor.execute("SELECT IS_USED_LOCK(%s)", (lock,))
    row = cursor.fetchone()
    return None if row is None or row[0] is None else int(row[0])


def _end(cursor: dbapi.Cursor, connection: int) -> None:
    try:
        cursor.execute(f"KILL {connection}")
    except dbapi.Error as error:
        code = dbapi.number_of(error)
        if code == _NOT_THE_OWNER:
            raise ServerError(
                f"connection {connection} runs a statement of an earlier mydyno that sets variables, "
                "and this account may not end it",
                "log in as the account that it ran under, or wait until it has ended (SHOW PROCESSLIST)",
            ) from error
        if code != _NO_SUCH_THREAD:
            raise
