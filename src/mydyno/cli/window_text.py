"""What `slowlog` and `capture` say of a slow log that is on for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mydyno.cli import screen
from mydyno.core.units import format_duration

if TYPE_CHECKING:
    from mydyno.queries.window import Caught, Window


def announce(window: Window) -> None:
    """What is set, where the log is read, and what is not seen."""
    say(window.act.sentence())
    say(f"read from {window.log.name}")
    for line in window.remarks:
        say(line)


def report(caught: Caught) -> None:
    """How it ended."""
    watched = caught.watched
    if caught.not_restored is None:
        say("all settings are restored")
    if watched.ended is not None:
        say(f"ended early, after {format_duration(watched.seconds)}: {watched.ended}")
    for line in caught.remarks:
        say(line)


def say(line: str) -> None:
    screen.echo(f"mydyno: {line}", err=True)
