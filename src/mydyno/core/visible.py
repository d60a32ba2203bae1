"""Text of foreign origin with its control characters written out, so that a terminal does not obey them.

A server's error message, a variable's value, a name in a file may hold escape sequences that clear the
screen, move the cursor or change the window's title (ECMA-48), and bidirectional controls that show a line in
another order than it is read in (Unicode Standard Annex #9). Both become visible: `\\x1b`, `\\u202e`.
"""

import re

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
"""C0 without tab and line feed, DEL and C1."""
_REORDERING = "\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
"""Bidirectional marks, embeddings, overrides and isolates, and the separators of lines and paragraphs."""
_SURROGATES = "\ud800-\udfff"
"""Bytes of a file's name that are not UTF-8; they cannot be printed at all."""

_HIDDEN = re.compile(f"[{_CONTROLS}{_REORDERING}{_SURROGATES}]")
_HIDDEN_IN_LINE = re.compile(f"[\t\n{_CONTROLS}{_REORDERING}{_SURROGATES}]")
LONGEST = 1000
"""Characters of a server's text. MySQL's own messages have at most 512 bytes (MYSQL_ERRMSG_SIZE)."""


def visible(text: str) -> str:
    """`text` with each control character as `\\x1b` or `\\u202e`; tabs and line feeds stay."""
    return _HIDDEN.sub(_code, text)


def visible_line(text: str) -> str:
    """`visible`, and on one line: tabs and line feeds are spaces."""
    return _HIDDEN_IN_LINE.sub(lambda match: " " if match[0] in "\t\n" else _code(match), text)


def visible_json(text: str) -> str:
    """A JSON document with the same value and without such characters: they can only stand in its strings."""
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _code(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def one_line(text: str, longest: int = LONGEST) -> str:
    """A server's text with its control characters written out, cut to `longest` characters."""
    plain = visible_line(text[: longest + 1])
    return plain if len(plain) <= longest else f"{plain[:longest]} ..."
