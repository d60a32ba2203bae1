"""Text for a terminal as lines that know what they are, so that a terminal can colour them."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from mydyno.page.format import printable

Style = Literal["plain", "heading", "critical", "high", "medium", "low", "faint", "do"]


@dataclass(frozen=True)
class Line:
    text: str = ""
    style: Style = "plain"


def wrapped(
    text: str, width: int, first: str = "", rest: str | None = None, style: Style = "plain"
) -> Iterator[Line]:
    """`text` in lines of at most `width`, the first after `first`, others after `rest` (as wide by default).

    Words are not torn, so that a path or a setting can be copied.
    """
    later = " " * len(first) if rest is None else rest
    for line in textwrap.wrap(
        printable(text),
        width,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first.rstrip()]:
        yield Line(line, style)


def folded(text: str, width: int) -> str:
    """`text` in lines of at most `width`; a line that continues is indented by two more."""
    lines = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip(" ")) + 2)
        lines += textwrap.wrap(
            line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ) or [""]
    return "\n".join(lines) + "\n"


def plain(lines: Iterator[Line]) -> str:
    """The same without colours."""
    return "".join(f"{line.text.rstrip()}\n" for line in lines)
