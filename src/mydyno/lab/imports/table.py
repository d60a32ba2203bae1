"""A CSV file as rows of text, each with its line; what cannot be read is said with its place."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.errors import UsageError

_DELIMITERS = ",;\t|"
_LARGEST_BYTES = 64 * 1024**2


@dataclass(frozen=True)
class Row:
    line: int
    """In the file, from 1."""
    cells: dict[str, str]
    """Column -> text, without blanks around it."""


@dataclass(frozen=True)
class Table:
    file: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def read(path: Path) -> bytes:
    """The file's bytes. Raises UsageError: missing, not readable, or too large for a table of results."""
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise UsageError(f"{path} is larger than 64M", "remove what is not a result: samples, logs")
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "name a CSV file") from None


def parse(content: bytes, file: str) -> Table:
    """The table in `content`: the first line has the columns' names. Raises UsageError with the line."""
    text = _decoded(content, file)
    first = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = tuple(cell.strip() for cell in next(reader, []))
        _check_columns(columns, file)
        rows = []
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(columns):
                raise UsageError(
                    f"{file}:{reader.line_num}: {len(cells)} cells, and there are {len(columns)} columns",
                    "a cell that contains the separator needs quotes",
                )
            texts = (cell.strip() for cell in cells)
            rows.append(Row(reader.line_num, dict(zip(columns, texts, strict=True))))
    except csv.Error as error:
        raise UsageError(f"{file}:{reader.line_num}: not a CSV file: {error}") from None
    if not rows:
        raise UsageError(f"{file} has no row below its first line, which names the columns")
    return Table(file, columns, tuple(rows))


def _decoded(content: bytes, file: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UsageError(f"{file}:{line}: not UTF-8 text", "save it as UTF-8") from None


def _check_columns(columns: tuple[str, ...], file: str) -> None:
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if not columns or "" in columns:
        raise UsageError(f"{file}:1: a column has no name", "the first line names the columns")
    if twice:
        raise UsageError(f"{file}:1: two columns are called {twice[0]}")
