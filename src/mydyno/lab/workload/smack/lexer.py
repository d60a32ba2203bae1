"""The tokens of a `.smack` file, with their places.

The lexical rules of super-smack 1.3: anything unknown between tokens is skipped, comments run from `#` or
`//` to the end of the line, strings may span lines. What it does in silence is recorded as a trap.
"""

import enum
import re
from dataclasses import dataclass

from mydyno.core.document.problems import Position, SpecErrors, shorten
from mydyno.lab.workload.smack.traps import TrapAt, trap_at


class Kind(enum.Enum):
    WORD = "a word"
    NUMBER = "a number"
    TEXT = "a string"
    VARIABLE = "a variable"
    MARK = "a mark"
    END = "the end of the file"


@dataclass(frozen=True)
class Token:
    """`text` of a string is its contents; of a variable its name without the $."""

    kind: Kind
    text: str
    position: Position
    places: tuple[Position, ...] = ()
    """Of a string: where each character of its contents is in the file."""

    def describe(self) -> str:
        match self.kind:
            case Kind.END:
                return "the end of the file"
            case Kind.TEXT:
                return f'"{shorten(self.text)}"' if self.text else '""'
            case Kind.VARIABLE:
                return f"${self.text}"
            case _:
                return self.text


_TOKEN = re.compile(
    r"(?P<blank>[ \t\r\n\f\v]+)"
    r"|(?P<comment>(?:\#|//)[^\n]*)"
    r'|(?P<quote>")'
    r"|(?P<word>[A-Za-z][A-Za-z0-9_]*)"
    r"|(?P<decimal>[0-9]+\.[0-9]+)"
    r"|(?P<number>[0-9]+)"
    r"|\$(?P<variable>[0-9]+|[A-Za-z][A-Za-z0-9_]*)"
    r"|(?P<mark>::|[{}();,.=])"
)


_ESCAPABLE = re.compile(r'[\\"\n]')
"""What a backslash in a string keeps."""


class _Places:
    """Line and column of an offset; offsets must be given in rising order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._offset, self._line, self._start = 0, 1, 0

    def at(self, offset: int) -> Position:
        while (end := self._text.find("\n", self._offset, offset)) != -1:
            self._line += 1
            self._start = self._offset = end + 1
        self._offset = offset
        return Position(self._line, offset - self._start + 1)


def tokenize(text: str, file: str, strict: bool = False) -> tuple[list[Token], list[TrapAt]]:
    """All tokens of `text`, the last of them of kind END, and the traps met.

    Raises SpecErrors for a string that is not closed; every other text has tokens.
    """
    tokens: list[Token] = []
    traps: list[TrapAt] = []
    places = _Places(text)
    offset = 0
    skipped_to = -1
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            if offset != skipped_to:
                traps.append(trap_at("skipped-character", places.at(offset), repr(text[offset])))
            offset = skipped_to = offset + 1
            continue
        position = places.at(offset)
        kind = match.lastgroup
        offset = match.end()
        if kind == "quote":
            token, offset = _string(text, offset, position, places, file, strict, traps)
            tokens.append(token)
        elif kind == "decimal":
            traps.append(trap_at("number-with-point", position, match.group()))
            offset = _decimal(match.group(), position, strict, tokens, offset)
        elif kind in ("word", "number", "variable", "mark"):
            tokens.append(Token(Kind[kind.upper()], match.group(kind), position))
    tokens.append(Token(Kind.END, "", places.at(len(text))))
    return tokens, traps


def _decimal(text: str, position: Position, strict: bool, tokens: list[Token], offset: int) -> int:
    """One number, or under strict-compat the two that the original joins with the point between them."""
    if not strict:
        tokens.append(Token(Kind.NUMBER, text, position))
        return offset
    whole, fraction = text.split(".")
    point = Position(position.line, position.column + len(whole))
    tokens.append(Token(Kind.NUMBER, whole, position))
    tokens.append(Token(Kind.MARK, ".", point))
    tokens.append(Token(Kind.NUMBER, fraction, Position(point.line, point.column + 1)))
    return offset


def _string(
    text: str, offset: int, opened: Position, places: _Places, file: str, strict: bool, traps: list[TrapAt]
) -> tuple[Token, int]:
    """The string whose contents begin at `offset`, and the offset behind its closing quote."""
    kept: list[str] = []
    where: list[Position] = []
    while offset < len(text) and text[offset] != '"':
        position = places.at(offset)
        if text[offset] == "\\" and offset + 1 < len(text):
            offset += 1
            escapable = _ESCAPABLE.search(text, offset)
            if escapable is None or escapable.start() > offset:
                traps.append(trap_at("dropped-escape", position, shorten("\\" + text[offset])))
                if strict:
                    # What follows is dropped, too: the original waits for one of the three.
                    offset = escapable.start() if escapable else len(text)
                    if escapable is None:
                        break
                else:
                    kept.append("\\")
                    where.append(position)
                    position = places.at(offset)
        kept.append(text[offset])
        where.append(position)
        offset += 1
    if offset >= len(text):
        raise SpecErrors.of(file, opened, "a string is opened here and never closed")
    return Token(Kind.TEXT, "".join(kept), opened, tuple(where)), offset + 1
