"""The time of a window: how it goes on, and what ends it early."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from mydyno.core.errors import ServerError
from mydyno.core.units import format_bytes, format_duration
from mydyno.survey.server.interval import Report, Wait, pause

_STEP_SECONDS = 0.5
_LEAST_ROOM = 4
"""One part in so many of the free space at the beginning must be left: others may fill the disk, too."""


@dataclass(frozen=True)
class Amount:
    """What has been caught so far."""

    bytes: int
    entries: int | None
    """None: they are not counted while they come."""


class Log(Protocol):
    """Its methods are called in this order. All raise HostError or ServerError when it cannot be reached."""

    @property
    def name(self) -> str:
        """For messages: `/var/log/mysql/slow.log on this machine`."""

    def room(self) -> int | None:
        """Bytes that its file system has left; None: that cannot be seen."""

    def begin(self) -> None:
        """What is logged from now on is caught."""

    def amount(self) -> Amount:
        """What has been caught by now."""

    def end(self) -> None:
        """What is logged from now on is not caught."""

    def settle(self) -> tuple[str, ...]:
        """After the settings have been restored: finds the end of an entry that was being written at the end.
        Gives a sentence for each problem."""

    def blocks(self) -> Iterator[bytes]:
        """The text of the entries caught, whole ones."""

    def close(self) -> None:
        """Lets go of its files."""


@dataclass(frozen=True)
class Limits:
    seconds: float
    most_bytes: int
    least_room: int | None
    """Bytes that must stay free; None: it cannot be seen how many are."""


@dataclass(frozen=True)
class Watched:
    seconds: float
    amount: Amount
    ended: str | None
    """Why it ended before its time; None: it did not."""


def limits(log: Log, seconds: float, most_bytes: int) -> Limits:
    """At most half of what is free is filled, and a quarter of it stays free."""
    room = log.room()
    if room is None:
        return Limits(seconds, most_bytes, None)
    return Limits(seconds, min(most_bytes, room // 2), room // _LEAST_ROOM)


def watch(
    log: Log, limit: Limits, is_alive: Callable[[], bool], report: Report, wait: Wait = pause
) -> Watched:
    """Lets the log grow for its time. Ctrl-C ends it, and so do a limit and the end of the server.

    Raises HostError when the log's machine is lost.
    """
    began = time.monotonic()
    amount, ended = Amount(0, None), None
    try:
        while (left := began + limit.seconds - time.monotonic()) > 0:
            report(f"watching: {format_duration(left)} left{_caught(amount)} (Ctrl-C ends it early)")
            wait(min(left, _STEP_SECONDS))
            if not is_alive():
                ended = "the server is no longer reachable"
                break
            amount = log.amount()
            if (ended := _full(log, limit, amount)) is not None:
                break
        amount = log.amount()
    except KeyboardInterrupt:
        ended = "it was interrupted"
    except ServerError as error:
        ended = error.message
    return Watched(time.monotonic() - began, amount, ended)


def _full(log: Log, limit: Limits, amount: Amount) -> str | None:
    if amount.bytes >= limit.most_bytes:
        return f"{format_bytes(amount.bytes)} were caught, and {format_bytes(limit.most_bytes)} is the limit"
    if limit.least_room is not None:
        room = log.room()
        if room is not None and room < limit.least_room:
            return f"only {format_bytes(room)} were left on the log's file system"
    return None


def _caught(amount: Amount) -> str:
    entries = "" if amount.entries is None else f", {amount.entries} entries"
    return f", {format_bytes(amount.bytes)} caught{entries}"
