"""An interval of watching a server: SHOW GLOBAL STATUS twice, with a quiet time between."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mydyno.facts import Status

if TYPE_CHECKING:
    from pymysql.cursors import Cursor

Tell = Callable[[str], None]
"""Shows the user what is being done now."""
Wait = Callable[[float], None]
"""Waits so many seconds; KeyboardInterrupt ends the waiting."""

_STEP_SECONDS = 1.0
_LONGER_THAN_THE_INTERVAL_SECONDS = 300


def pause(seconds: float) -> None:
    """Waits in a way that Ctrl-C ends at once."""
    threading.Event().wait(seconds)


def watch(cursor: Cursor, seconds: float, tell: Tell, wait: Wait = pause) -> Status:
    """The counters before and after `seconds`; Ctrl-C ends the interval early, and what there is counts.

    Raises pymysql.Error.
    """
    before, began = _status(cursor), time.monotonic()
    sit_out(cursor, seconds, tell, wait)
    return Status(before=before, after=_status(cursor), seconds=time.monotonic() - began)


def sit_out(cursor: Cursor, seconds: float, tell: Tell, wait: Wait = pause) -> bool:
    """Lets `seconds` go by with the session kept open; False when Ctrl-C ended that early.

    Raises pymysql.Error.
    """
    # A server that cuts idle connections off after a few seconds would end the interval with an error.
    cursor.execute(f"SET SESSION wait_timeout = {int(seconds) + _LONGER_THAN_THE_INTERVAL_SECONDS}")
    began = time.monotonic()
    try:
        while (left := began + seconds - time.monotonic()) > 0:
            tell(f"watching the server: {seconds - left:.0f} of {seconds:g} s (Ctrl-C ends it early)")
            wait(min(left, _STEP_SECONDS))
    except KeyboardInterrupt:
        tell("the interval was ended early")
        return False
    return True


def _status(cursor: Cursor) -> dict[str, str]:
    cursor.execute("SHOW GLOBAL STATUS")
    return {str(name): str(value) for name, value in cursor.fetchall()}
