"""An interval of watching a server: SHOW GLOBAL STATUS twice, and two of its counters each second between."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mydyno.server.access import dbapi
from mydyno.server.access.session import show_global
from mydyno.survey.facts import Reading, Status

Report = Callable[[str], None]
"""Shows the user what is being done now."""
Wait = Callable[[float], None]
"""Waits so many seconds; KeyboardInterrupt ends the waiting."""

_STEP_SECONDS = 1.0
_FEW = "Variable_name IN ('Questions', 'Threads_running')"
_LONGER_THAN_THE_INTERVAL_SECONDS = 300


def pause(seconds: float) -> None:
    """Waits in a way that Ctrl-C ends at once."""
    threading.Event().wait(seconds)


def watch(cursor: dbapi.Cursor, seconds: float, report: Report, wait: Wait = pause) -> Status:
    """The counters before and after `seconds`; Ctrl-C ends the interval early, and what there is counts.

    Raises dbapi.Error.
    """
    before, began = show_global(cursor, "STATUS"), time.monotonic()
    points = [_point(before, began)]

    def add_point() -> None:
        points.append(_point(show_global(cursor, f"STATUS WHERE {_FEW}"), time.monotonic()))

    sit_out(cursor, seconds, report, wait, each=add_point)
    after, ended = show_global(cursor, "STATUS"), time.monotonic()
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
    report: Report,
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
            report(f"watching the server: {seconds - left:.0f} of {seconds:g} s (Ctrl-C ends it early)")
            wait(min(left, _STEP_SECONDS))
            each()
    except KeyboardInterrupt:
        report("the interval was ended early")
        return False
    return True


def _point(status: dict[str, str], at: float) -> Point:
    return Point(at, float(status.get("Threads_running", 0)), float(status.get("Questions", 0)))
