"""Tables and text as a terminal and as Markdown have them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.table import Table as RichTable
from rich.text import Text

from mydyno.report.tables import Table


def escaped(text: str) -> str:
    """`text` on one line, with nothing in it that Markdown or HTML would act on."""
    line = re.sub(r"([\\`*\[\]<>|#&~])", r"\\\1", " ".join(text.split()))
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", line)


def fenced(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def markdown_table(table: Table) -> Iterator[str]:
    yield "| " + " | ".join(escaped(column) for column in table.columns) + " |"
    rule = (":---" if place in table.text_columns else "---:" for place in range(len(table.columns)))
    yield "| " + " | ".join(rule) + " |"
    for row in table.rows:
        yield "| " + " | ".join(escaped(cell) for cell in row) + " |"
    yield ""


def rich_table(table: Table) -> RichTable:
    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(table.columns):
        drawn.add_column(Text(column), justify="left" if place in table.text_columns else "right")
    for row in table.rows:
        drawn.add_row(*(Text(cell) for cell in row))
    return drawn
