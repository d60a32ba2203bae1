"""A statement short enough for a line, with its tables in it: what is selected and compared gives way."""

import re
from collections.abc import Callable

from mydyno.page.format import printable

_ELLIPSIS = "…"
_TOKEN = re.compile(r"`(?:[^`]|``)*`|[\w$.]+|\S")
_AFTER_FROM = re.compile(r" (?:where|group by|order by|having|limit|for update|union)\b")
_ON = re.compile(
    r" on .*?(?= (?:left |right |inner |cross |natural |straight_)*join | where | group by | order by |$)"
)


def abbreviated(fingerprint: str, most: int) -> str:
    """At most `most` characters: lists of columns, then conditions, then the end are left out."""
    text = printable(fingerprint)
    for shorter in _SHORTER:
        if len(text) <= most:
            return text
        text = shorter(text)
    if len(text) <= most:
        return text
    return text[: most - 1].rstrip() + _ELLIPSIS


def _without_selected(text: str) -> str:
    """`select … from t`: the first list of what is selected."""
    select = re.match(r"\(?select ", text)
    at = _top_level(text, " from ", select.end() - 1) if select else None
    return text if select is None or at is None else f"{text[: select.end()]}{_ELLIPSIS}{text[at:]}"


def _without_columns(text: str) -> str:
    """`insert into t(…) values (?+)`."""
    return re.sub(r"^((?:insert|replace)\b[^(]*\()[^()]*(\))", rf"\1{_ELLIPSIS}\2", text)


def _without_join_conditions(text: str) -> str:
    return _ON.sub("", text) if " join " in text else text


def _without_conditions(text: str) -> str:
    """Up to the clause behind the tables, whose first words stay."""
    last = max((table.start() for table in re.finditer(r" (?:from|join|update|into) ", text)), default=0)
    clause = _AFTER_FROM.search(text, last)
    return f"{text[: clause.start()]}{_clause(text[clause.start() :])} {_ELLIPSIS}" if clause else text


def _clause(text: str) -> str:
    """The clause's word, and the name that it begins with."""
    return text[: next((word.end() for i, word in enumerate(_TOKEN.finditer(text)) if i == 1), len(text))]


def _top_level(text: str, what: str, begin: int) -> int | None:
    """The place of `what` outside of brackets."""
    at, depth = begin, 0
    while at < len(text):
        if depth == 0 and text.startswith(what, at):
            return at
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return None


_SHORTER: tuple[Callable[[str], str], ...] = (
    _without_selected,
    _without_columns,
    _without_join_conditions,
    _without_conditions,
)
