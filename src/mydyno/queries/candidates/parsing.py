"""A statement's text as a tree, within bounds of length, depth and time. Imports sqlglot."""

import logging
import re
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.dialects.mysql import MySQL
from sqlglot.errors import SqlglotError
from sqlglot.parsers.mysql import MySQLParser

from mydyno.queries.records import Group

MOST_CHARACTERS = 16_384
"""Of a text that is parsed: about 0.1 s."""
MOST_STEPS = 40_000
"""Of the parser, which tries one rule after another: of this length a statement needs some 16,000; each
JOIN without its ON doubles them. About a second at the bound."""
_READS = re.compile(r"[\s(]*(select|with|insert|replace|update|delete|create\s+table)\b", re.IGNORECASE)
_COMMENTS = re.compile(r"(?:\s+|/\*(?!M?!).*?\*/|--(?=\s)[^\n]*|#[^\n]*)+", re.DOTALL)
"""In front of a statement; the text in /*! */ is code."""
_WORD = re.compile(r"`((?:[^`]|``)+)`|([\w$]+)")
_REPLACE = re.compile(r"\s*replace\b", re.IGNORECASE)
# What says how a statement runs, and not what it looks for.
_MODIFIERS = re.compile(
    r"\b(select|update|delete|insert|replace)((?:\s+(?:sql_\w+|high_priority|low_priority|quick|delayed))+)\b",
    re.IGNORECASE,
)
# What a fingerprint has in the place of literals: lists are `?+` in ours and `...` in performance_schema's,
# which also keep the word before a date, and the place of a character set.
_LISTS = re.compile(r"\?\s*,\s*\.\.\.|\?\+|\.\.\.")
_LITERAL = re.compile(r"(?:\b(?:date|time|timestamp)\s+|\(_charset\)\s*|\?\s+)\?", re.IGNORECASE)
_IS_LITERAL = re.compile(r"\bis\s+(not\s+)?\?", re.IGNORECASE)
NOT_UNDERSTOOD = (SqlglotError, RecursionError, AttributeError, LookupError, TypeError, ValueError)
"""What the parser raises, and what a tree raises that it has made of half a statement."""


class _TooLongError(SqlglotError):
    """The bound of steps is reached."""


class _Parser(MySQLParser):
    """It stops after so many steps: no other bound on its work is known."""

    steps = 0

    def _advance(self, times: int = 1) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise _TooLongError
        super()._advance(times)


@dataclass(frozen=True)
class Parsed:
    tree: exp.Expr
    of_fingerprint: bool
    """Then its literals are not known."""
    is_folded: bool = False
    """Whether names are in lower case that may be spelled otherwise."""


@dataclass(frozen=True)
class Refused:
    why: str


def parse_group(group: Group) -> Parsed | Refused:
    """The tree of its example, or of its fingerprint where there is no whole one."""
    example = group.example
    refused: Refused | None = None
    if example is not None and not example.is_cut:
        tree = parse(example.text)
        if not isinstance(tree, Refused):
            return Parsed(tree, of_fingerprint=False)
        refused = tree
    if group.is_cut:
        return refused or Refused("it is truncated")
    tree = parse(_LITERAL.sub("?", _IS_LITERAL.sub(r"is \1null", _LISTS.sub("?", group.fingerprint))))
    if isinstance(tree, Refused):
        return refused or tree
    is_folded = not _spell(tree, example.text if example is not None else "")
    return Parsed(tree, of_fingerprint=True, is_folded=is_folded)


def _spell(tree: exp.Expr, text: str) -> bool:
    """Gives the tree's names the case that they have in `text`, of which it may be the fingerprint.

    Says whether all of them are there in one way; the others stay as they are.
    """
    spellings: dict[str, set[str]] = {}
    for quoted, plain in _WORD.findall(text):
        word = quoted.replace("``", "`") or plain
        spellings.setdefault(word.casefold(), set()).add(word)
    is_whole = True
    for identifier in tree.find_all(exp.Identifier):
        spelled = spellings.get(identifier.name.casefold(), set())
        if len(spelled) == 1:
            identifier.set("this", next(iter(spelled)))
        else:
            is_whole = False
    return is_whole


def parse(text: str) -> exp.Expr | Refused:
    """The tree, or why there is none. Whatever the text is, it neither raises nor takes long."""
    text = text[comments.end() :] if (comments := _COMMENTS.match(text)) else text
    if _READS.match(text) is None:
        return Refused("it searches no rows of a table")
    if len(text) > MOST_CHARACTERS:
        return Refused(f"it is longer than {MOST_CHARACTERS:,} characters")
    text = _REPLACE.sub("insert", _MODIFIERS.sub(r"\1", text), count=1)
    # It warns of what it takes as a mere string, which is then no tree of a statement to us.
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    dialect = MySQL()
    try:
        trees = _Parser(dialect=dialect).parse(dialect.tokenize(text), text)
    except NOT_UNDERSTOOD as error:
        return refused(error)
    whole = [tree for tree in trees if tree is not None]
    if len(whole) != 1:
        return Refused("it is not one statement")
    if isinstance(whole[0], exp.Command):
        return Refused("its syntax is not understood")
    return whole[0]


def refused(error: BaseException) -> Refused:
    """One of `NOT_UNDERSTOOD` in words."""
    if isinstance(error, _TooLongError):
        return Refused("it takes too long to parse")
    if isinstance(error, RecursionError):
        return Refused("it is nested too deeply")
    lines = str(error).splitlines() if isinstance(error, SqlglotError) else []
    place = f": {lines[0].strip().rstrip('.')[:200]}" if lines else ""
    return Refused(f"it could not be parsed{place}")
