"""Lines on a terminal, in its width and with its colours."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from typing import Any

import typer

from mydyno.cli import screen
from mydyno.cli.options import WIDTH
from mydyno.page.lines import Line, Style

_COLOURS: dict[Style, dict[str, Any]] = {
    "plain": {},
    "heading": {"bold": True},
    "critical": {"fg": typer.colors.RED, "bold": True},
    "high": {"fg": typer.colors.RED},
    "medium": {"fg": typer.colors.YELLOW},
    "low": {"fg": typer.colors.CYAN},
    "faint": {"dim": True},
    "do": {"fg": typer.colors.GREEN},
}


def width(most: int = WIDTH) -> int:
    """Characters of a line: the terminal's, at most `most`; 110 where there is no terminal."""
    return min(most, shutil.get_terminal_size((WIDTH, 24)).columns)


def show(lines: Iterable[Line]) -> None:
    """Prints them; colours only reach a terminal."""
    for line in lines:
        screen.echo(line.text, **_COLOURS[line.style])
