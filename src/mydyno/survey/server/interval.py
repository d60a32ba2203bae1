"""An interval of watching a server: SHOW GLOBAL STATUS twice, and two of its counters each second between."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mydyno.server.access import dbapi
from mydyno.survey.facts import Reading, Status

Tell = Callable[[str], None]
"""Shows the user what is being done now."""
Wait = Callable[[float], None]
"""Waits so many seconds; KeyboardInterrupt ends the waiting."""

_STEP_SECONDS = 1.0
_LONGER_THAN_THE_INTERVAL_SECONDS = 300


def pause(seconds: float) -> None:
    """Waits in a way that Ctrl-C ends at once."""
    threading.Event().wait(seconds)


def watch(cursor: dbapi.Cursor, seconds: float, tell: Tell, wait: Wait = pause) -> Status:
    """The counters before and after `seconds`; Ctrl-C ends the interval early, and what there is counts.

    Raises dbapi.Error.
    """
    before, began = _status(cursor), time.monotonic()
    points = [_point(before, began)]
    sit_out(cursor, seconds, tell, wait, each=lambda: points.append(_point(_few(cursor), time.monotonic())))
    after, ended = _status(cursor), time.monotonic()
    return Status(before=before, after=after, seconds=ended - began, readings=readings_of(points))


@dataclass(frozen=True)
class Point:
    at: float
    running: float
    questions: float


def readings_of(points: Sequence[Point]) -> tuple[Reading, ...]:
    """What lies between each two points. Pure."""
    return tuple(
        Reading(
            running=(earlier.running + later.running) / 2,
            statements=round((later.questions - earlier.questions) / (later.at - earlier.at), 2),
        )
        for earlier, later in pairwise(points)
        if later.at - earlier.at >= _STEP_SECONDS / 2 and later.questions >= earlier.questions
    )


def sit_out(
    cursor: dbapi.Cursor,
    seconds: float,
    tell: Tell,
    wait: Wait = pause,
    each: Callable[[], object] = lambda: None,
) -> bool:
    """Lets `seconds` go by with the session kept open; False when Ctrl-C ended that early.

    `each` is called about once a second.

    Raises dbapi.Error.
    """
    # A server that cuts idle connections off after a few seconds would end the interval with an error.
    cursor.execute(f"SET SESSION wait_timeout = {int(seconds) + _LONGER_THAN_THE_INTERVAL_SECONDS}")
    began = time.monotonic()
    try:
        while (left := began + seconds - time.monotonic()) > 0:
            tell(f"watching the server: {seconds - left:.0f} of {seconds:g} s (Ctrl-C ends it early)")
            wait(min(left, _STEP_SECONDS))
            each()
    except KeyboardInterrupt:
        tell("the interval was ended early")
        return False
    return True


def _few(cursor: dbapi.Cursor) -> dict[str, str]:
    cursor.execute("SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions', 'Threads_running')")
    return {str(name): str(value) for name, value in cursor.fetchall()}


def _point(status: dict[str, str], at: float) -> Point:
    return Point(at, float(status.get("Threads_running", 0)), float(status.get("Questions", 0)))


def _status(cursor: dbapi.Cursor) -> dict[str, str]:
    cursor.execute("SHOW GLOBAL STATUS")
    return {str(name): str(value) for name, value in cursor.fetchall()}
