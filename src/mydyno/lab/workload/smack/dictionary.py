"""The words of a dictionary section and the expression that draws one of them.

Words are escaped here as the original does with each that it puts into a query, so that the engine has
only to copy them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mydyno.core.beneath import read_below
from mydyno.core.document.problems import SpecErrors
from mydyno.core.nearest import nearest
from mydyno.lab.workload.smack.grammar import Section
from mydyno.lab.workload.smack.traps import TrapAt, trap_at

TYPES = ("rand", "seq", "unique")
SOURCES = ("file", "list", "template")
LONGEST_LINE = 512
MOST_BYTES = 256 * 1024**2
"""Of a dictionary's or a table's file, which is read as a whole."""
BELOW = "a regular file below the folder of the .smack file or --datadir, without links on the way"
_ESCAPES = {
    "\0": "\\0", "\n": "\\n", "\r": "\\r", "\\": "\\\\", "'": "\\'", '"': '\\"', "\x1a": "\\Z",
}  # fmt: skip
_ESCAPE = str.maketrans(_ESCAPES)
_FIELD = re.compile(r"%(?P<zero>0?)(?P<width>\d*)(?P<kind>[diu])|%%")


@dataclass(frozen=True)
class Dictionary:
    """A dictionary that is ready to draw from: `words`, or for unique ones the template's `parts`."""

    name: str
    type: str
    words: tuple[str, ...] = ()
    parts: tuple[str | Counter, ...] = ()


@dataclass(frozen=True)
class Counter:
    """A `%05d` of a unique template: the counter, padded on the left to `width` (0: not at all)."""

    width: int
    fill: str = " "


def escape(word: str) -> str:
    """`word` for use between quotes in SQL, by the client library's rules (mysql_real_escape_string)."""
    return word.translate(_ESCAPE)


def check(section: Section, file: str) -> None:
    """Raises SpecErrors when the attributes of a dictionary section do not go together."""
    kind, source = section.text("type"), section.text("source_type")
    for word, value, allowed in (("type", kind, TYPES), ("source_type", source, SOURCES)):
        if value not in allowed:
            near = nearest(value, allowed)
            message = f"{word} of a dictionary is {'unknown' if word in section.attributes else 'missing'}"
            raise SpecErrors.of(file, section.place(word), message, value or None, ", ".join(allowed), near)
    if (kind == "unique") != (source == "template"):
        message = f"a {kind} dictionary cannot have a {source} as its source"
        raise SpecErrors.of(file, section.place("source_type"), message, allowed="unique with template")
    size = section.text("file_size_equiv", "0")
    if not size.isdecimal():
        place = section.place("file_size_equiv")
        raise SpecErrors.of(file, place, "file_size_equiv is not a number of bytes", size)


def from_list(section: Section, strict: bool) -> tuple[Dictionary, list[TrapAt]]:
    """The comma-separated words of a list dictionary."""
    source = section.text("source")
    place = section.place("source")
    traps: list[TrapAt] = []
    if "\\," in source:
        traps.append(trap_at("list-escape", place))
    words = source.split(",") if strict else [_unescaped(word) for word in _split_list(source)]
    if words[-1]:
        traps.append(trap_at("last-list-word-dropped", place, repr(words[-1])))
    if strict or not words[-1]:
        words.pop()  # A list that ends with a comma is how authors who know the trap write it.
    return Dictionary(section.name, section.text("type"), tuple(map(escape, words))), traps


def _split_list(source: str) -> list[str]:
    return re.split(r"(?<!\\),", source)


def _unescaped(word: str) -> str:
    return word.replace("\\,", ",")


def read_file(section: Section, folder: Path, file: str, strict: bool) -> tuple[Dictionary, list[TrapAt]]:
    """The words of a file dictionary, whose file is below `folder`.

    Raises SpecErrors at its place when that cannot be read.
    """
    source = section.text("source")
    try:
        data = read_below(folder, folder / source, MOST_BYTES)
    except OSError as error:
        message = f"the file {folder / source} of dictionary {section.name} cannot be read: {error.strerror}"
        raise SpecErrors.of(file, section.place("source"), message, allowed=BELOW) from None
    return from_file(section, data, file, strict)


def from_file(section: Section, data: bytes, file: str, strict: bool) -> tuple[Dictionary, list[TrapAt]]:
    """The words of a file dictionary: of every n-th line what is before the delimiter.

    n is the file's size in bytes over file_size_equiv, at least 1. Raises SpecErrors for data that is
    not UTF-8, and under strict-compat for lines that the original cannot read.
    """
    place = section.place("source")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise SpecErrors.of(file, place, f"the dictionary's file is not UTF-8 text: {error}") from None
    traps: list[TrapAt] = []
    lines = text.split("\n")
    last = lines.pop()
    if last:
        traps.append(trap_at("last-line-without-newline", place, repr(last[:40])))
        if not strict:
            lines.append(last)
    long = next((n for n, line in enumerate(lines, 1) if len(line.encode()) >= LONGEST_LINE), None)
    if long:
        traps.append(trap_at("long-line", place, f"line {long} of {section.text('source')}"))
        if strict:
            message = f"line {long} of the dictionary's file has {LONGEST_LINE} bytes or more"
            raise SpecErrors.of(file, place, message, allowed="shorter lines under strict-compat")
    equivalent = int(section.text("file_size_equiv", "0"))
    step = max(len(data) // equivalent, 1) if equivalent else 1
    delimiter = section.text("delim")[:1] or "\n"
    words = [line.split(delimiter, 1)[0] for line in lines[step - 1 :: step]]
    if step > 1:
        detail = f"{len(data)} bytes / {equivalent} = {step}: {len(words)} of {len(lines)} words"
        traps.append(trap_at("sampled-dictionary", section.place("file_size_equiv"), detail))
    return Dictionary(section.name, section.text("type"), tuple(map(escape, words))), traps


def from_template(section: Section, file: str, strict: bool) -> tuple[Dictionary, list[TrapAt]]:
    """The parts of a unique dictionary's template. Raises SpecErrors for a % field that takes no number."""
    source, place = section.text("source"), section.place("source")
    traps = [trap_at("unique-per-process", place)]
    parts: list[str | Counter] = []
    counters = offset = 0
    while offset < len(source):
        if source[offset] != "%":
            end = source.find("%", offset)
            end = len(source) if end == -1 else end
            parts.append(escape(source[offset:end]))
            offset = end
            continue
        match = _FIELD.match(source, offset)
        if match is None:
            raise SpecErrors.of(
                file, place, "a % field that takes no counter", source[offset:], "%d, %05d, %%"
            )
        offset = match.end()
        if match.group() == "%%":
            parts.append("%")
            continue
        counters += 1
        if counters == 2:
            traps.append(trap_at("second-template-field", place, match.group()))
            if strict:
                break
        parts.append(_counter(match))
    if not counters:
        raise SpecErrors.of(file, place, "a unique template without a counter", source, "a %d in it")
    return Dictionary(section.name, "unique", parts=tuple(parts)), traps


def _counter(match: re.Match[str]) -> Counter:
    return Counter(int(match["width"] or 0), "0" if match["zero"] else " ")


def expression(dictionary: Dictionary, counter: Any, again: Any) -> Any:
    """The engine's expression that draws from the dictionary.

    `counter` counts the values of a unique one; `again` is the same value once more.
    """
    if dictionary.type == "rand":
        return ["pick", dictionary.name]
    if dictionary.type == "seq":
        return ["next", dictionary.name]
    parts: list[Any] = []
    value = counter
    for part in dictionary.parts:
        if isinstance(part, str):
            parts.append(part)
            continue
        parts.append(["pad", value, part.width, part.fill] if part.width else value)
        value = again
    return ["concat", *parts]
