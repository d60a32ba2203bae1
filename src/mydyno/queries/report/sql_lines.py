"""A statement in pieces with their kinds, broken into lines, and as markup, for people in a hurry; and short
enough for a line, with its tables in it: what is selected and compared gives way.

Neither lines nor markup are a parser: whatever comes in goes out again, in the same order, nothing but white
space added. So it takes any text that a log may hold, a statement that was cut in the middle too.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup, escape

from mydyno.core.words import words
from mydyno.page.format import printable, printable_lines

Kind = Literal["keyword", "string", "number", "comment", "hole", "name", "other", "space"]

# Possessive: no text, however it was made, is read twice.
_PIECE = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<comment>/\*(?:[^*]++|\*(?!/))*+(?:\*/)?|\#[^\n]*+|--(?=\s|\Z)[^\n]*+)
    | (?P<string>'(?:[^'\\]++|\\.|'')*+'?|"(?:[^"\\]++|\\.|"")*+"?)
    | (?P<name>`[^`]*+`?|@{0,2}[^\W\d][\w$]*+)
    | (?P<hole>\?\+?)
    | (?P<number>\d[\w.]*+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)

KEYWORDS = words(
    """
    add all alter analyze and as asc between by call case collate column commit create cross database delete
    desc describe distinct drop else end escape except exists explain for force from full global grant
    group having if ignore in index inner insert intersect interval into is join key kill lateral left
    like limit load lock natural not null offset on or order outer over partition prepare primary
    procedure recursive regexp release rename replace returning revoke right rlike rollback savepoint
    select session set share show start straight_join table temporary then to transaction trigger
    truncate union unique unlock update use using values view when where window with xor
    """
)
_BEGIN = words("select from where having limit union except intersect returning window straight_join")
"""Words that begin a line, wherever a query has them."""
_JOINED = frozenset(["left", "right", "inner", "cross", "natural", "full"])
"""Words that begin a line where a join follows."""
_ALSO = frozenset(["and", "or", "xor"])
"""Words that begin a line within a condition, one step further in."""
_STEP = "  "
_DEEPEST = 12
"""Steps; what is further in is indented as much."""
_CLASSES = {"keyword": "k", "string": "s", "number": "n", "comment": "c", "hole": "h"}
MOST = 8_192
"""Characters that are shown."""


@dataclass(frozen=True)
class Piece:
    kind: Kind
    text: str


def pieces(statement: str) -> Iterator[Piece]:
    """All of `statement`, piece by piece."""
    for piece in _PIECE.finditer(statement):
        kind, text = piece.lastgroup, piece.group()
        if kind == "name" and text.lower() in KEYWORDS:
            kind = "keyword"
        yield Piece(kind, text)  # type: ignore[arg-type]


def broken(statement: str) -> tuple[Piece, ...]:
    """Its pieces with a line for each clause, each condition and each query within it.

    What has several lines already stays as its writer has set it.
    """
    parts = tuple(pieces(statement.strip()))
    return parts if "\n" in statement.strip() else tuple(_Breaker(parts).lines())


class _Breaker:
    def __init__(self, parts: tuple[Piece, ...]) -> None:
        self._pieces = parts
        self._words = [piece.text.lower() if piece.kind == "keyword" else "" for piece in parts]
        self._changes = self._words[:1] not in (["select"], ["with"], ["show"])
        self._queries: list[int | None] = []
        """Of each open parenthesis: if a query is in it the depth of its line, else None."""
        self._depth = 0
        """Of the line that is being written."""
        self._cases = 0
        self._between = False

    def lines(self) -> Iterator[Piece]:
        for place, piece in enumerate(self._pieces):
            if piece.kind == "space":
                if not self._breaks(self._next_to(place, 1)):
                    yield piece
                continue
            if self._breaks(place):
                self._depth = self._depth_of(place)
                yield Piece("space", "\n" + _STEP * min(self._depth, _DEEPEST))
            self._step(place, piece)
            yield piece

    def _depth_of(self, place: int) -> int:
        within = self._queries[-1] if self._queries else None
        if self._pieces[place].text == ")":
            return within or 0
        return (0 if within is None else within + 1) + (self._words[place] in _ALSO)

    def _breaks(self, place: int | None) -> bool:
        """Whether a line begins with that piece."""
        if not place:
            return False
        within = self._queries[-1:] != [None]
        if self._pieces[place].text == ")":
            return within and bool(self._queries)
        word = self._words[place]
        if not word or self._cases or not within or self._words[0] == "show":
            return False
        before, after = self._word(place, -1), self._word(place, 1)
        match word:
            case "and" | "or" | "xor":
                return not (word == "and" and self._between)
            case "join":
                return before not in (*_JOINED, "outer")
            case "left" | "right" | "inner" | "cross" | "natural" | "full":
                return before not in _JOINED and (after in ("join", "outer") or after in _JOINED)
            case "group" | "order":
                return after == "by"
            case "on":
                return self._text(place, 1) == "duplicate"
            case "from":
                return before != "delete"
            case "set" | "values":
                return self._changes and self._text(place, -1) not in ("=", ",", "(")
        return word in _BEGIN

    def _step(self, place: int, piece: Piece) -> None:
        word = self._words[place]
        if piece.text == "(":
            self._queries.append(self._depth if self._word(place, 1) in ("select", "with") else None)
        elif piece.text == ")" and self._queries:
            self._queries.pop()
        elif word == "case":
            self._cases += 1
        elif word == "end" and self._cases:
            self._cases -= 1
        elif word in ("between", "and"):
            self._between = word == "between"

    def _next_to(self, place: int, step: int) -> int | None:
        """The place of the next piece in that direction that is more than white space."""
        at = place + step
        while 0 <= at < len(self._pieces) and self._pieces[at].kind == "space":
            at += step
        return at if 0 <= at < len(self._pieces) else None

    def _word(self, place: int, step: int) -> str:
        at = self._next_to(place, step)
        return "" if at is None else self._words[at]

    def _text(self, place: int, step: int) -> str:
        at = self._next_to(place, step)
        return "" if at is None else self._pieces[at].text.lower()


def sql_markup(statement: str, *, is_cut: bool = False) -> Markup:
    """The statement, each of its pieces escaped; `is_cut` where it is a beginning only."""
    shown = "\n".join(printable_lines(statement[:MOST]))
    parts = []
    for piece in broken(shown):
        css_class = _CLASSES.get(piece.kind)
        text = escape(piece.text)
        parts.append(f'<span class="{css_class}">{text}</span>' if css_class else text)
    if is_cut or len(statement) > MOST:
        parts.append('<span class="c">… cut</span>')
    return Markup("".join(parts))


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
