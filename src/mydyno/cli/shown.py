"""Lines and tables on a terminal, in its width and with its colours."""

import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
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


def show_table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[int] = ()) -> None:
    """Prints columns as wide as their cells; those of `right` are aligned to the right."""
    for line in aligned([heads, *rows], right):
        screen.echo(line)


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> Iterator[str]:
    """A line for each row, with columns as wide as their cells; those of `right` are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.rjust(wide) if place in right else cell.ljust(wide)
            for place, (cell, wide) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()
