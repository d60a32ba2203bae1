"""A statement's text as a tree, within bounds of length, depth and time. Imports sqlglot."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.dialects.mysql import MySQL
from sqlglot.errors import SqlglotError
from sqlglot.parsers.mysql import MySQLParser

from mydyno.digest.records import Group

MOST_CHARACTERS = 16_384
"""Of a text that is parsed: about 0.1 s."""
MOST_STEPS = 40_000
"""Of the parser, which tries one thing after another: of this length a statement needs some 16,000; each
JOIN without its ON doubles them. About a second at the bound."""
_READS = re.compile(r"[\s(]*(select|with|insert|replace|update|delete|create\s+table)\b", re.IGNORECASE)
_REPLACE = re.compile(r"\s*replace\b", re.IGNORECASE)
# What says how a statement runs, and not what it looks for.
_MODIFIERS = re.compile(
    r"\b(select|update|delete|insert|replace)((?:\s+(?:sql_\w+|high_priority|low_priority|quick|delayed))+)\b",
    re.IGNORECASE,
)
# A fingerprint's lists: ours are (?+), those of performance_schema (...).
_LISTS = re.compile(r"\(\s*(?:\?\+|\.\.\.|\?\s*,\s*\.\.\.)\s*\)")
_IS_LITERAL = re.compile(r"\bis\s+(not\s+)?\?", re.IGNORECASE)
_TREE = (SqlglotError, RecursionError, ValueError, TypeError, AttributeError, IndexError, KeyError)


class _TooLongError(SqlglotError):
    """The bound of steps is reached."""


class _Parser(MySQLParser):
    """That gives up after so many steps: nothing promises that a text costs it no more."""

    steps = 0

    def _advance(self, times: int = 1) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise _TooLongError("it takes too long to understand")
        super()._advance(times)


@dataclass(frozen=True)
class Parsed:
    tree: exp.Expr
    of_fingerprint: bool
    """Then its names are in lower case and its literals are not known."""


@dataclass(frozen=True)
class Refused:
    why: str


def parse_group(group: Group) -> Parsed | Refused:
    """The tree of its example, or of its fingerprint where there is no whole one."""
    example = group.example
    refused: Refused | None = None
    if example is not None and not example.is_cut:
        found = parse(example.text)
        if not isinstance(found, Refused):
            return Parsed(found, of_fingerprint=False)
        refused = found
    if group.is_cut:
        return refused or Refused("only the beginning of it is kept")
    found = parse(_LISTS.sub("(?)", _IS_LITERAL.sub(r"is \1null", group.fingerprint)))
    if isinstance(found, Refused):
        return refused or found
    return Parsed(found, of_fingerprint=True)


def parse(text: str) -> exp.Expr | Refused:
    """The tree, or why there is none. Whatever the text is, it neither raises nor takes long."""
    if _READS.match(text) is None:
        return Refused("it looks for no rows of a table")
    if len(text) > MOST_CHARACTERS:
        return Refused(f"it is longer than {MOST_CHARACTERS:,} characters")
    text = _REPLACE.sub("insert", _MODIFIERS.sub(r"\1", text), count=1)
    # It warns of what it takes as a mere string, which is then no tree of a statement to us.
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    dialect = MySQL()
    try:
        trees = _Parser(dialect=dialect).parse(dialect.tokenize(text), text)
    except _TooLongError as error:
        return Refused(str(error))
    except RecursionError:
        return Refused("it is nested too deeply")
    except _TREE as error:
        return Refused(f"it could not be understood: {_first_line(error)}")
    whole = [tree for tree in trees if tree is not None]
    if len(whole) != 1:
        return Refused("it is not one statement")
    if isinstance(whole[0], exp.Command):
        return Refused("its syntax is not understood")
    return whole[0]


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0].strip().rstrip(".")[:200] if lines else type(error).__name__
