"""A table of text, for the page, Markdown and the terminal alike."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """`text_columns` are those that are read, not compared: they are set to the left. A cell may have
    several lines."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: frozenset[int] = frozenset()
