"""Showing on standard error what is being fetched, built or installed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mydyno.cli import screen
from mydyno.core.units import format_bytes, format_duration
from mydyno.core.visible import visible

if TYPE_CHECKING:
    from mydyno.machine.images.build import Progress

_SHOWN_AFTER_S = 0.5
"""Seconds; what is read sooner needs no line."""


@contextmanager
def telling(prefix: str = "") -> Iterator[Progress]:
    """A line that changes on a terminal; elsewhere a line for each step. `prefix` is in front of each."""
    from rich.text import Text

    console = screen.console()
    if console.is_terminal and not console.is_dumb_terminal:
        # A plain string would be read as markup.
        with console.status(Text(visible(f"{prefix}starting"))) as status:
            yield lambda text: status.update(Text(visible(prefix + text)))
        return
    shown = ""

    def show(text: str) -> None:
        nonlocal shown
        step = text.partition(":")[0]
        if step != shown:
            shown = step
            screen.echo(f"{prefix}{step}", err=True)

    yield show


class ReadingLine:
    """The progress of a long reading, on one line of a terminal; nothing elsewhere."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._is_shown = screen.error_is_terminal()
        self._is_drawn = False

    def show(self, read_bytes: int, of_bytes: int | None, entries: int) -> None:
        seconds = time.monotonic() - self._began
        if self._is_shown and seconds >= _SHOWN_AFTER_S:
            screen.redraw_line(reading_text(read_bytes, of_bytes, entries, seconds))
            self._is_drawn = True

    def end(self) -> None:
        """The line is removed."""
        if self._is_drawn:
            screen.redraw_line()


def reading_text(read_bytes: int, of_bytes: int | None, entries: int, seconds: float) -> str:
    """`12%: 1.2G of 10G, 801M/s, 11s left, 4,100,000 entries`"""
    rate = read_bytes / seconds
    parts = [f"{format_bytes(read_bytes)}{f' of {format_bytes(of_bytes)}' if of_bytes else ''}"]
    parts.append(f"{format_bytes(round(rate))}/s")
    if of_bytes and rate:
        parts.append(f"{format_duration(max(0.0, of_bytes - read_bytes) / rate)} left")
    share = f"{min(read_bytes / of_bytes, 1):.0%}: " if of_bytes else ""
    return f"{share}{', '.join(parts)}, {entries:,} entries"
