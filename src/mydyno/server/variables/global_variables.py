"""Global variables of a running server: read with their type, set, and tested whether they can be set."""

import time
from collections.abc import Iterable
from decimal import Decimal

from mydyno.core.server_variables import Setting
from mydyno.server.access import dbapi
from mydyno.server.variables.settings import number

Value = int | float | str | None
"""As SELECT @@GLOBAL gives it: a switch is 0 or 1, and NULL is distinguished from an empty text."""

OF_A_SESSION = "it belongs to a session and has no global value"
"""The answer of `refusal` for a variable that SHOW GLOBAL VARIABLES does not list."""

_PRIVILEGE = 1227
_SESSION_ONLY = (1228, 1229)
_READ_ONLY = 1238
_ONE_COLUMN = 1241
_STATUS = "Innodb_buffer_pool_resize_status"
_SECONDS = 120.0
_BEGINS_SECONDS = 2.0
_POLL_SECONDS = 0.05


def read(cursor: dbapi.Cursor, names: Iterable[str]) -> dict[str, Value]:
    """The values in force. Raises dbapi.Error when the server lacks one of them."""
    wanted = list(names)
    if not wanted:
        return {}
    cursor.execute("SELECT " + ", ".join(f"@@GLOBAL.{name}" for name in wanted))
    (row,) = cursor.fetchall()
    return dict(zip(wanted, map(_plain, row), strict=True))


def write(cursor: dbapi.Cursor, name: str, value: Value) -> None:
    """SET GLOBAL. Raises dbapi.Error when the server refuses; it may also clamp and say nothing."""
    cursor.execute(f"SET GLOBAL {name} = %s", (value,))


def as_value(wanted: Setting, now: Value) -> Value:
    """What my.cnf would take (256M, true) as SQL takes it, for a variable whose value is `now`."""
    if isinstance(wanted, bool):
        return "ON" if wanted else "OFF"
    if isinstance(wanted, str) and isinstance(now, int | float):
        size = number(wanted)
        return wanted if size is None else size
    return wanted


def refusal(cursor: dbapi.Cursor, name: str) -> str | None:
    """Why this account cannot set the variable while the server runs; None: it can.

    Found out from the server itself, by a statement that it must refuse whatever happens: a row of two is a
    value of no variable. Servers look at this last, after the name, whether the variable can be set at all,
    and the account's privileges (sql/set_var.cc of MySQL and MariaDB, set_var::check or resolve).
    """
    code, message = _refused(cursor, name)
    if code == _ONE_COLUMN:
        return None
    if code == _READ_ONLY:
        return "it is set when the server starts, and mydyno restarts no server that it does not own"
    if code in _SESSION_ONLY:
        return OF_A_SESSION
    if code == _PRIVILEGE:
        return f"the account may not set it: {message}"
    return message


def can_be_set(cursor: dbapi.Cursor, name: str) -> tuple[bool | None, bool | None]:
    """Whether SET GLOBAL can change the variable at all, and whether this account may; None: unknown."""
    code, _ = _refused(cursor, name)
    if code == _ONE_COLUMN:
        return True, True
    if code == _PRIVILEGE:
        return True, False
    return (False, False) if code in (_READ_ONLY, *_SESSION_ONLY) else (None, None)


def _refused(cursor: dbapi.Cursor, name: str) -> tuple[int, str]:
    """The server's answer to a SET GLOBAL that it must refuse."""
    try:
        cursor.execute(f"SET GLOBAL {name} = (1, 2)")
    except dbapi.Error as error:
        return dbapi.number_of(error) or 0, dbapi.text_of(error)
    raise AssertionError(f"the server took a row of two as the value of {name}")


def _plain(value: object) -> Value:
    if value is None or isinstance(value, int | float | str):
        return value
    if isinstance(value, Decimal):
        return float(value)
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


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
