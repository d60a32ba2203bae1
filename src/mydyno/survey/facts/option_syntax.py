"""One option file of a server, line by line: pure.

The format is that of MySQL Reference Manual, "Using Option Files" and MariaDB Knowledge Base, "Configuring
MariaDB with Option Files"; what they leave open (where a `#` ends a line, what a backslash means) is as
mysys/my_default.c of both does it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", '"': '"', "'": "'", "\\": "\\"}
_QUOTES = "'\""
_DIRECTIVES = ("includedir", "include")


@dataclass(frozen=True)
class WrittenOption:
    """`name = value` in a group, the name as it is written. `value` None: there was no equals sign."""

    line: int
    group: str
    name: str
    value: str | None


@dataclass(frozen=True)
class Include:
    """`!include FILE` or `!includedir FOLDER`."""

    line: int
    path: str
    is_folder: bool


@dataclass(frozen=True)
class Mistake:
    """A line that no server understands. `fatal`: no server starts with it."""

    line: int
    why: str
    fatal: bool


Item = WrittenOption | Include | Mistake


def items(text: str) -> Iterator[Item]:
    """What an option file says, in its order; lines are counted from 1."""
    group: str | None = None
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line[0] == "!":
            yield _directive(number, line)
        elif line[0] == "[":
            name, closed, _ = line[1:].partition("]")
            group = name.strip() if closed else group
            if not closed:
                yield Mistake(number, f"the group {line} has no closing bracket", fatal=True)
        elif group is None:
            yield Mistake(number, "an option before the first [group]", fatal=True)
        else:
            name, equals, value = _without_comment(line).partition("=")
            yield WrittenOption(number, group, name.strip(), _value(value.strip()) if equals else None)


def _directive(number: int, line: str) -> Item:
    words = line[1:].split(None, 1)
    if len(words) < 2 or words[0] not in _DIRECTIVES:
        return Mistake(number, f"{line} is not a directive that servers know", fatal=False)
    return Include(number, words[1], is_folder=words[0] == "includedir")


def _without_comment(line: str) -> str:
    """Up to a `#` outside quotes."""
    quote, escaped = "", False
    for position, character in enumerate(line):
        if character in _QUOTES and not escaped:
            quote = character if not quote else "" if quote == character else quote
        if character == "#" and not quote:
            return line[:position]
        escaped = bool(quote) and character == "\\" and not escaped
    return line


def _value(written: str) -> str:
    """Quotes around it and backslashes in it taken for what they mean."""
    if len(written) > 1 and written[0] in _QUOTES and written[-1] == written[0]:
        written = written[1:-1]
    parts: list[str] = []
    characters = iter(written)
    for character in characters:
        if character != "\\":
            parts.append(character)
            continue
        after = next(characters, "")
        parts.append(_ESCAPES.get(after, "\\" + after))
    return "".join(parts)
