"""Telling on standard error what is being fetched, built or installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mydyno.host.images.build import Progress


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
