"""A CSV file as rows of text, each with its line, and its cells as numbers in the metric's own unit."""

import csv
import io
import math
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.errors import UsageError
from mydyno.lab.imports.mapping import RATES, UNITS, MetricColumn

_DELIMITERS = ",;\t|"
_LARGEST_BYTES = 64 * 1024**2


_CELL = re.compile(r"(?P<number>[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)\s*(?P<unit>[A-Za-z1][A-Za-z/]*)?", re.I)
_MISSING = {"", "-", "--", "na", "n/a", "null", "none", "nan", "inf", "-inf", "+inf", "infinity", "?"}


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


def unit_of(table: Table, name: str, metric: MetricColumn) -> str | None:
    """The one unit that the cells of a metric's column write; None when they write none.

    Raises UsageError where cells differ in it, or differ from the import file.
    """
    units: dict[str | None, int] = {}
    for row in table.rows:
        if (match := _match(row.cells[metric.column])) is not None:
            unit = match["unit"]
            units.setdefault(unit, row.line)
            if unit is not None and unit not in UNITS[name]:
                raise UsageError(
                    f"{table.file}:{row.line}: {metric.column} is in {unit}, which is not a unit of {name}",
                    f"units of it: {', '.join(UNITS[name])}",
                )
    if metric.unit is not None and metric.unit not in UNITS[name]:
        raise UsageError(f"{metric.unit} is not a unit of {name}", f"units of it: {', '.join(UNITS[name])}")
    written = set(units)
    if metric.unit is not None:
        written.add(metric.unit)
        written.discard(None)
    if len(written) > 1:
        lines = ", ".join(f"{unit or 'none'} in line {line}" for unit, line in units.items())
        wanted = f" where the unit of the column is to be {metric.unit}" if metric.unit else ""
        raise UsageError(
            f"{table.file}: the column {metric.column} mixes units ({lines}){wanted}",
            "write one unit into all of its cells, or into the import file",
        )
    return next(iter(written), None)


def number(table: Table, row: Row, column: str, factor: float) -> float | None:
    """The cell times `factor`; None where it says that there is no number.

    Raises UsageError for a text that is none, and for a negative number: no metric can be.
    """
    text = row.cells[column]
    if text.lower() in _MISSING:
        return None
    match = _match(text)
    if match is None:
        likely = " (a decimal comma?)" if re.fullmatch(r"\d+,\d+", text) else ""
        raise UsageError(
            f"{table.file}:{row.line}: {column} is not a number: {text!r}{likely}",
            "leave it empty where nothing was measured, or write -, n/a or nan",
        )
    value = float(match["number"]) * factor
    if value < 0:
        raise UsageError(f"{table.file}:{row.line}: {column} is negative: {text}")
    return value if math.isfinite(value) else None


def seconds_or_rate(name: str, unit: str | None, where: str) -> float:
    """What one of `unit` is in the metric's own unit. Raises UsageError without a unit."""
    units = UNITS[name]
    if unit is None:
        if units is RATES:
            return 1.0
        raise UsageError(f"{where}: the unit of {name} is missing", f"unit: one of {', '.join(units)}")
    return units[unit]


def whole(table: Table, row: Row, column: str, least: int) -> int:
    """A cell that has to be a whole number of at least `least`. Raises UsageError."""
    text = row.cells[column]
    if not re.fullmatch(r"\d+", text) or int(text) < least:
        raise UsageError(
            f"{table.file}:{row.line}: {column} is not a whole number of {least} or more: {text!r}"
        )
    return int(text)


def _match(text: str) -> re.Match[str] | None:
    return None if text.lower() in _MISSING else _CELL.fullmatch(text)
