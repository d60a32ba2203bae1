"""Telling on standard error what is being fetched, built or installed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mydyno.core.units import format_bytes, format_duration

if TYPE_CHECKING:
    from mydyno.host.images.build import Progress

_WORTH_TELLING_S = 0.5
"""What is read sooner needs no line."""


@contextmanager
def telling(prefix: str = "") -> Iterator[Progress]:
    """A line that changes on a terminal; elsewhere a line for each step. `prefix` is in front of each."""
    from rich.console import Console

    console = Console(file=sys.stderr)
    if console.is_terminal and not console.is_dumb_terminal:
        with console.status(f"{prefix}starting") as status:
            yield lambda text: status.update(prefix + text)
        return
    told = ""

    def tell(text: str) -> None:
        nonlocal told
        step = text.partition(":")[0]
        if step != told:
            told = step
            sys.stderr.write(f"{prefix}{step}\n")

    yield tell


class ReadingLine:
    """How far a long reading has come, on one line of a terminal; elsewhere nothing is told."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._is_shown = sys.stderr.isatty()
        self._told = False

    def tell(self, read_bytes: int, of_bytes: int | None, entries: int) -> None:
        seconds = time.monotonic() - self._began
        if self._is_shown and seconds >= _WORTH_TELLING_S:
            sys.stderr.write(f"\r\x1b[K{reading_text(read_bytes, of_bytes, entries, seconds)}")
            sys.stderr.flush()
            self._told = True

    def end(self) -> None:
        """The line is taken away."""
        if self._told:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def reading_text(read_bytes: int, of_bytes: int | None, entries: int, seconds: float) -> str:
    """`12 %: 1.2G of 10G, 801M/s, 11s left, 4,100,000 entries`"""
    rate = read_bytes / seconds
    parts = [f"{format_bytes(read_bytes)}{f' of {format_bytes(of_bytes)}' if of_bytes else ''}"]
    parts.append(f"{format_bytes(round(rate))}/s")
    if of_bytes and rate:
        parts.append(f"{format_duration(max(0.0, of_bytes - read_bytes) / rate)} left")
    share = f"{min(read_bytes / of_bytes, 1):.0%}: ".replace("%", " %") if of_bytes else ""
    return f"{share}{', '.join(parts)}, {entries:,} entries"
