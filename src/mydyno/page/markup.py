"""Tables and text as a terminal and as Markdown have them."""

import io
from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console, JustifyMethod
from rich.table import Table as RichTable
from rich.text import Text

from mydyno.core.markdown import escaped
from mydyno.core.visible import visible
from mydyno.page.table import Table


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
        justify: JustifyMethod = "left" if place in table.text_columns else "right"
        # Names are copied, so one that is too wide has several lines instead of an end in dots.
        drawn.add_column(Text(visible(column)), justify=justify, overflow="fold")
    for row in table.rows:
        drawn.add_row(*(Text(visible(cell)) for cell in row))
    return drawn


class Printed:
    """Lines and tables as a terminal of `width` characters shows them, without colours."""

    def __init__(self, width: int) -> None:
        self._out = io.StringIO()
        self._console = Console(
            file=self._out, width=width, color_system=None, highlight=False, markup=False, emoji=False
        )

    def line(self, text: str = "") -> None:
        self._console.print(Text(visible(text)))

    def table(self, table: Table) -> None:
        self._console.print(rich_table(table))

    @property
    def text(self) -> str:
        lines = self._out.getvalue().splitlines()
        return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"
