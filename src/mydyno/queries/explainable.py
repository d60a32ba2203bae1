"""Which statements are explained at all, by their texts: pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mydyno.queries.fingerprints import Fingerprint
from mydyno.queries.functions import doubtful_calls
from mydyno.queries.records import Example

_READING = ("select", "with")
_CHANGING = ("update", "delete", "insert", "replace")
_LOCKING_END = re.compile(
    r"\s(?:for\s+(?:update|share)|lock\s+in\s+share\s+mode)(?:\s+(?:nowait|skip\s+locked|wait\s+\d+))?[\s;]*\Z",
    re.IGNORECASE,
)
_LOCKING = re.compile(r"\b(?:for update|for share|in share mode)\b")
_INTO = re.compile(r"\binto (?:outfile|dumpfile|@|[\w`]+(?: ,|$| from))")
_OWN_LIMIT = re.compile(r"/\*\+.*\b(?:max_execution_time|set_var)\b")
_VERSION_COMMENT = re.compile(r"/\*M?!")
_ROWS = re.compile(r"(?<![=,+*/<>-] )\bvalues? ?(?:row ?)?\(")
"""Rows of values, of which a fingerprint shows the first; behind an operator it is the function VALUES()."""
_WORD = re.compile(r"`((?:[^`]|``)+)`|([\w$]+)")


@dataclass(frozen=True)
class Explainable:
    """A statement that EXPLAIN may be put in front of."""

    text: str
    changes: bool
    """Whether it writes when it is run, so that a read-only transaction refuses even to explain it."""
    words: frozenset[str]
    """Every word in it that could name something, in small letters."""


def without_locks(text: str) -> str:
    """The same statement without FOR UPDATE at its end: the plan is the same, and no row is locked for it."""
    return _LOCKING_END.sub("", text)


def explainable(example: Example | None, fingerprint: Fingerprint) -> Explainable | str:
    """The statement to explain, or why none is. `fingerprint` is that of the example `without_locks`."""
    if example is None:
        return "the server has no example of it"
    if example.is_cut:
        return "its example is truncated"
    if fingerprint.is_cut:
        return "it is too long to be checked"
    text, shape = without_locks(example.text), fingerprint.text
    if fingerprint.example != text:
        return "its example has a secret in it, which is masked"
    verb = shape.lstrip("( ").partition(" ")[0]
    if verb not in (*_READING, *_CHANGING):
        return "EXPLAIN is for SELECT, UPDATE, DELETE, INSERT ... SELECT and REPLACE ... SELECT"
    if why := _unsafe(text, shape):
        return why
    if verb in ("insert", "replace") and not re.search(r"\bselect\b", shape):
        return "it inserts values and reads nothing"
    if _ROWS.search(shape):
        return "it lists rows of values, and only the first of them is checked"
    words = frozenset((quoted.replace("``", "`") or plain).lower() for quoted, plain in _WORD.findall(shape))
    return Explainable(text, verb in _CHANGING, words)


def _unsafe(text: str, shape: str) -> str | None:
    if ";" in shape.rstrip("; "):
        return "it is several statements"
    if _VERSION_COMMENT.search(text):
        return "it has a version comment, which only some releases execute"
    if _OWN_LIMIT.search(shape):
        return "it sets variables or its own time limit"
    if _LOCKING.search(shape):
        return "it locks rows"
    if shape.startswith(("select", "(", "with")) and _INTO.search(shape):
        return "it writes its result somewhere"
    if re.search(r"\b(?:next|previous) value for\b", shape):
        return "it takes values of a sequence"
    if re.search(r"\bprocedure\b", shape):
        return "it calls a procedure"
    calls = sorted(set(doubtful_calls(shape)))
    if calls:
        names = ", ".join(f"{name}()" for name in calls)
        return f"it calls {names}, and EXPLAIN may run parts of a statement"
    return None
