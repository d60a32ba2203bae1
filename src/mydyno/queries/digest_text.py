"""performance_schema's DIGEST_TEXT as a statement that has the same digest: pure.

A digest text is a list of tokens with blanks between them: identifiers are in backticks, literals are
`?`, and a keyword is spelled as one of the words that mean the same to the server's lexer (source:
sql/sql_digest.cc and sql/lex.h of MySQL; tried on MySQL 5.6 and 9.7 and MariaDB 10.5, 10.11 and 11.8).
Written as a statement with the usual words, it has the fingerprint of the statements that it covers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from mydyno.core.words import words

_TOKEN = re.compile(
    r"(?:@@)?`[^`]*`"
    r"|\((?:\.\.\.|\?)\)(?: /\* , \.\.\. \*/)?"
    r"|@?\?, \.\.\."
    r"|\(_charset\) \?"
    r"|\S+"
)
"""One of the server's tokens; a reduced list is one, too."""

_LISTS: Mapping[str, str] = {
    "?, ...": "?, ?",
    "@?, ...": "@?, ?",
    "(?)": "(?)",
    "(...)": "(?, ?)",
    "(?) /* , ... */": "(?), (?)",
    "(...) /* , ... */": "(?, ?), (?, ?)",
    "(_charset) ?": "?",
    "(unknown)": "?",
}
"""`(unknown)` is how MariaDB writes the token of X'41'."""

_USUAL: Mapping[str, str] = {
    "CHARACTER": "char",
    "DISTINCTROW": "distinct",
    "INTEGER": "int",
    "RLIKE": "regexp",
    "SCHEMA": "database",
    "SCHEMAS": "databases",
    "SOME": "any",
    **{f"SQL_TSI_{unit.upper()}": unit for unit in words("second minute hour day week month quarter year")},
    "SYSTEM_USER": "user",
    "VARCHARACTER": "varchar",
}
"""The word that people write, for the one that the server shows."""
_SHOW_FIELDS = re.compile(r"^(SHOW (?:FULL )?)FIELDS\b")
"""Elsewhere FIELDS is what people write: LOAD DATA ... FIELDS TERMINATED BY."""


def as_statement(digest_text: str) -> str:
    """A statement of this digest, as it is usually written."""
    written = " ".join(_written(token) for token in tokens(digest_text))
    return _SHOW_FIELDS.sub(r"\1columns", written)


def tokens(digest_text: str) -> Iterator[str]:
    return (token[0] for token in _TOKEN.finditer(digest_text))


def _written(token: str) -> str:
    return _LISTS.get(token) or _USUAL.get(token) or token


_NAME_BYTES = 36
"""What a name of 32 bytes takes."""


def is_cut(digest_text: str, most_bytes: int) -> bool:
    """Whether a token may be missing at its end, since it would not have fitted any more.

    The server keeps `most_bytes` of tokens, two bytes each and the name's length and bytes for a name, and
    does not report whether it kept all of them: a text without space for another name counts as cut.
    """
    return sum(map(_kept_bytes, tokens(digest_text))) + _NAME_BYTES > most_bytes


def _kept_bytes(token: str) -> int:
    return 4 + len(token[1:-1].encode()) if token.startswith("`") else 2
