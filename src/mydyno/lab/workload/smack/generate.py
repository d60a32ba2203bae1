"""The lines that gen-data of super-smack 1.3 makes from a format string.

`%%` percent, `%s` random letters, `%n` the row's number from 1, `%d` a random number of 31 bits; between
the percent and the letter a width `n` or `m-n`. Without a width `%s` has 256 letters. As corrected here a
width is an exact length or both ends of a range. Under strict-compat it is the original's: `m-n` draws m to
n-1 (m = n gives m), `n` draws 0 to n-1, lengths of 0 or above 256 become 256, letters are a to y, and the
seed is always the same.

Source: src/gen-data.cc of super-smack 1.3, which reads a field digit by digit: a hyphen makes the number
before it the lower width, and the number after the last hyphen is the upper one.
"""

import getopt
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from mydyno.core.document.problems import Position
from mydyno.core.errors import UsageError
from mydyno.lab.workload.smack.traps import TrapAt, trap_at

LONGEST = 256
_LARGEST = 2**31 - 1
_STRICT_SEED = 1
_MEAN_DIGITS = (10 + sum(9 * 10**n * (n + 1) for n in range(1, 9)) + 10 * (_LARGEST + 1 - 10**9)) / (
    _LARGEST + 1
)
"""Of a number from 0 to 2^31 - 1."""
_FIELD = re.compile(r"%(?P<width>[0-9-]*)(?P<kind>[%snd]|$)")
_PLAIN_WIDTH = re.compile(r"(\d+(-\d+)?)?")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Field:
    """A random or counted part of a line; `low` to `high` is its length, for n and d padded with blanks."""

    kind: str
    low: int | None
    high: int | None
    single: bool = False
    """The width was one number, not a range."""
    odd: str | None = None
    """The field as it is written, where such a width is not documented."""


Part: TypeAlias = str | Field
Draw: TypeAlias = Callable[[], float]


@dataclass(frozen=True)
class Format:
    text: str
    parts: tuple[Part, ...]

    @property
    def commas(self) -> int:
        """Commas in each line; no field can make one."""
        return sum(part.count(",") for part in self.parts if isinstance(part, str))


def parse_format(text: str) -> Format:
    """Raises UsageError for a field that gen-data does not have. A percent at the very end makes nothing."""
    parts: list[Part] = []
    offset = 0
    while offset < len(text):
        if text[offset] != "%":
            end = text.find("%", offset)
            end = len(text) if end == -1 else end
            parts.append(text[offset:end])
            offset = end
            continue
        match = _FIELD.match(text, offset)
        if match is None:
            raise UsageError(
                f"gen-data format {text!r}: no field begins at character {offset + 1}: {text[offset:][:8]!r}",
                "fields are %% %s %n %d, with a width as %12s, %5-10s or %3-3n",
            )
        parts.append(_part(match))
        offset = match.end()
    return Format(text, tuple(parts))


def _part(match: re.Match[str]) -> Part:
    kind, width = match["kind"], match["width"]
    if kind in ("%", ""):
        return kind
    *before, last = width.split("-")
    low, high = int(before[-1] or 0) if before else 0, int(last or 0)
    odd = None if _PLAIN_WIDTH.fullmatch(width) and (low <= high or not before) else match.group()
    if not (low or high):
        return Field(kind, None, None, odd=odd)
    if not low:
        return Field(kind, high, high, single=True, odd=odd)
    # Without an upper width the lower one is exact.
    return Field(kind, low, high or low, odd=odd)


def traps_of(form: Format, position: Position | None = None) -> list[TrapAt]:
    """Where the original makes other lines of this format than its author may think."""
    traps = []
    for field in (part for part in form.parts if isinstance(part, Field)):
        if field.odd:
            traps.append(trap_at("generator-odd-width", position, field.odd))
        if field.kind == "s" and field.low is None:
            traps.append(trap_at("generator-no-width", position, "%s"))
        if field.single:
            detail = f"%{field.low}{field.kind}"
            traps.append(trap_at("generator-single-width", position, detail))
        elif field.low is not None and field.low != field.high and not field.odd:
            detail = f"%{field.low}-{field.high}{field.kind}"
            traps.append(trap_at("generator-open-range", position, detail))
    if any(isinstance(part, Field) and part.kind in "sd" for part in form.parts):
        traps.append(trap_at("generator-unseeded", position))
    return traps


def lines(form: Format, rows: int, seed: int = 1, strict: bool = False) -> Iterator[str]:
    """`rows` lines without their newlines; the same seed makes the same lines."""
    draw = Random(_STRICT_SEED if strict else seed).random
    for number in range(1, rows + 1):
        yield "".join(
            part if isinstance(part, str) else _field(part, number, draw, strict) for part in form.parts
        )


def _field(field: Field, number: int, draw: Draw, strict: bool) -> str:
    low, high = bounds(field, strict)
    width = low + int(draw() * (high - low + 1))
    if field.kind == "s":
        alphabet = letters(strict)
        if strict and not 0 < width <= LONGEST:
            width = LONGEST
        return "".join(alphabet[int(draw() * len(alphabet))] for _ in range(width))
    value = number if field.kind == "n" else int(draw() * (_LARGEST + 1))
    return str(value).rjust(width)


def letters(strict: bool) -> str:
    """What %s draws from."""
    return _LETTERS[:25] if strict else _LETTERS


def bounds(field: Field, strict: bool) -> tuple[int, int]:
    """Least and greatest length of the field, evenly drawn."""
    if field.low is None or field.high is None:
        return (LONGEST, LONGEST) if field.kind == "s" else (0, 0)
    low, high = 0 if field.single and strict else field.low, field.high
    if not strict:
        return min(low, high), max(low, high)
    # The original adds a remainder by the difference to the lower width, whatever the difference's sign.
    return low, low + max(abs(high - low) - 1, 0)


@dataclass(frozen=True)
class Command:
    """A gen-data command, as gen_data_file has it: -n or --num-rows, -f or --format."""

    rows: int
    form: Format


def parse_command(text: str) -> Command | None:
    """The gen-data command in `text`; None when it is another command or more than one.

    Raises UsageError when it is gen-data with arguments that gen-data does not have.
    """
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    if not words or words[0].rsplit("/", 1)[-1] != "gen-data" or any(mark in text for mark in ";|&`><"):
        return None
    understood = "gen-data -n ROWS -f FORMAT, or --num-rows=ROWS --format=FORMAT"
    try:
        given, others = getopt.gnu_getopt(words[1:], "n:f:", ["num-rows=", "format="])
    except getopt.GetoptError as error:
        raise UsageError(f"not understood: {text!r}: {error}", understood) from None
    options = {name.lstrip("-")[0]: value for name, value in given}
    if others or set(options) != {"n", "f"}:
        raise UsageError(f"not understood: {text!r}", understood)
    if not options["n"].isdecimal():
        raise UsageError(f"gen-data: {options['n']!r} is not a number of rows")
    return Command(int(options["n"]), parse_format(options["f"]))


def expected_bytes(command: Command) -> float:
    """The mean size of the command's file, as corrected: exact but for random widths and numbers."""
    fixed = 1 + sum(len(part) for part in command.form.parts if isinstance(part, str))
    total = float(fixed * command.rows)
    for field in (part for part in command.form.parts if isinstance(part, Field)):
        low, high = bounds(field, strict=False)
        width = (low + high) / 2
        if field.kind == "s":
            total += width * command.rows
        elif field.kind == "n":
            total += _digits(command.rows, width)
        else:
            total += max(_MEAN_DIGITS, width) * command.rows
    return total


def most_bytes(command: Command) -> int:
    """What the command's file has at most."""
    row = 1 + sum(len(part.encode()) for part in command.form.parts if isinstance(part, str))
    for field in (part for part in command.form.parts if isinstance(part, Field)):
        number = len(str(command.rows if field.kind == "n" else _LARGEST))
        row += max(field.high or 0, LONGEST if field.kind == "s" else number)
    return row * command.rows


def _digits(rows: int, width: float) -> float:
    """The characters of the numbers from 1 to `rows`, each padded to `width`."""
    total, first = 0.0, 1
    for digits in range(1, len(str(rows)) + 1):
        after = min(first * 10, rows + 1)
        total += (after - first) * max(digits, width)
        first = after
    return total
