"""The statements of an SQL file as the command line clients of MySQL and MariaDB split them.

Quotes, comments and DELIMITER count; `/*! */` is part of a statement. A file is read in portions, so its
size does not matter; a single statement is held in memory.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from mydyno.core.errors import UsageError

_PORTION = 1 << 20
_DELIMITER = re.compile(rb"\s*delimiter[ \t]+(\S+)[^\n]*(?:\n|\Z)", re.IGNORECASE)
_MAYBE_DELIMITER = re.compile(rb"\s*d(?:e(?:l(?:i(?:m(?:i(?:t(?:e(?:r[^\n]*)?)?)?)?)?)?)?)?\Z", re.IGNORECASE)
_WHOLE = {
    b"'": re.compile(rb"'[^'\\]*(?:\\.[^'\\]*)*'", re.DOTALL),
    b'"': re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL),
    b"`": re.compile(rb"`[^`]*`"),
    b"/*": re.compile(rb"/\*.*?\*/", re.DOTALL),
    b"--": re.compile(rb"--[^\n]*\n"),
    b"#": re.compile(rb"#[^\n]*\n"),
}
_NOTHING = re.compile(rb"(?:\s|--[^\n]*(?:\n|\Z)|#[^\n]*(?:\n|\Z)|/\*(?!M?!).*?\*/)*\Z", re.DOTALL)
"""Blanks and comments, of which a server would say that the query was empty."""


def statements(file: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    """(line of its first word, statement without its delimiter); those that are comments alone are left out.

    Raises UsageError for a quote or a comment that does not end.
    """
    delimiter, buffer, line, at_end = b";", b"", 1, False
    while True:
        end = None if (not at_end and _MAYBE_DELIMITER.match(buffer)) else _end(buffer, delimiter)
        if (changed := _DELIMITER.match(buffer)) and (at_end or changed[0].endswith(b"\n")):
            delimiter, line = changed[1], line + changed[0].count(b"\n")
            buffer = buffer[changed.end() :]
            continue
        if end is None and not at_end:
            portion = file.read(max(_PORTION, len(buffer)))
            at_end = not portion
            buffer += portion
            continue
        if end is None:
            break
        statement, rest = buffer[: end - len(delimiter)], buffer[end:]
        if not _NOTHING.match(statement):
            yield line + _blank_lines(statement), statement.strip()
        line += buffer[:end].count(b"\n")
        buffer = rest
    if not _NOTHING.match(buffer):
        if _unfinished(buffer):
            where = line + _blank_lines(buffer)
            raise UsageError(
                f"{name}: the statement of line {where} does not end", "was the file cut? make it again"
            )
        yield line + _blank_lines(buffer), buffer.strip()


def _blank_lines(statement: bytes) -> int:
    return statement[: len(statement) - len(statement.lstrip())].count(b"\n")


def _end(buffer: bytes, delimiter: bytes) -> int | None:
    """Where the first statement ends, behind its delimiter; None: not in this buffer."""
    stops = re.compile(rb"['\"`#]|/\*|--(?=[\s])|" + re.escape(delimiter))
    position = 0
    while stop := stops.search(buffer, position):
        if stop[0] == delimiter:
            return stop.end()
        whole = _WHOLE[stop[0]].match(buffer, stop.start())
        if whole is None:
            return None
        position = whole.end()
    return None


def _unfinished(buffer: bytes) -> bool:
    """Whether a quote or a comment is open at the end."""
    stops, position = re.compile(rb"['\"`#]|/\*|--(?=[\s])"), 0
    while stop := stops.search(buffer, position):
        whole = _WHOLE[stop[0]].match(buffer + b"\n", stop.start())
        if whole is None:
            return True
        position = whole.end()
    return False
