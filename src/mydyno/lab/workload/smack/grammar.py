"""The grammar of a `.smack` file: from tokens to a script of typed values with their places.

A script is one or more sections and exactly one `main`. Nothing is run and no file is read here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from mydyno.core.document.problems import Position, SpecErrors
from mydyno.core.nearest import nearest
from mydyno.lab.workload.smack.lexer import Kind, Token, tokenize
from mydyno.lab.workload.smack.traps import TrapAt, trap_at

ATTRIBUTES = {
    "query": ("query", "type", "has_result_set", "parsed"),
    "dictionary": ("type", "source_type", "source", "delim", "file_size_equiv"),
    "client": ("user", "pass", "db", "host", "port", "socket", "query_barrel"),
    "table": ("client", "create", "min_rows", "data_file", "gen_data_file"),
}
RESERVED = frozenset({"main", *ATTRIBUTES, *(word for words in ATTRIBUTES.values() for word in words)})
METHODS = {
    "init": 0, "set_num_rounds": 1, "create_threads": 1, "connect": 0, "unload_query_barrel": 0,
    "collect_threads": 0, "disconnect": 0, "query": 1, "print": 1, "sleep": 2, "run_save_result": 2,
    "run_check_result": None,
}  # fmt: skip
"""Method -> how many arguments it takes; None: any."""
CONNECT_FIGURES = ("max_connect_time", "min_connect_time", "avg_connect_time")
TYPE_FIGURES = ("num_queries", "max_time", "min_time", "q_per_s")


@dataclass(frozen=True)
class Section:
    """`kind "name" { word "string"; ... }`; a repeated attribute has overridden the one before."""

    kind: str
    name: str
    attributes: dict[str, Token]
    position: Position

    def text(self, word: str, default: str = "") -> str:
        token = self.attributes.get(word)
        return token.text if token else default

    def place(self, word: str) -> Position:
        """Where the attribute's value is; the section itself when it has none."""
        token = self.attributes.get(word)
        return token.position if token else self.position

    def says_yes(self, word: str) -> bool:
        """The original looks at the first letter alone, in any case."""
        return self.text(word)[:1] in ("y", "Y")


@dataclass(frozen=True)
class Literal:
    text: str
    position: Position


@dataclass(frozen=True)
class Variable:
    """`$1` (an argument of the command line) or `$name`."""

    name: str
    position: Position


@dataclass(frozen=True)
class Figure:
    """`client::param` or `client::type::param`: a number of a report."""

    client: str
    type: str | None
    param: str
    position: Position


@dataclass(frozen=True)
class Joined:
    parts: tuple[Expression, ...]
    position: Position


Expression: TypeAlias = Literal | Variable | Figure | Joined


@dataclass(frozen=True)
class Call:
    client: str
    method: str
    arguments: tuple[Expression, ...]
    position: Position


@dataclass(frozen=True)
class Assignment:
    name: str
    value: Expression
    position: Position


@dataclass(frozen=True)
class Script:
    file: str
    sections: tuple[Section, ...]
    main: tuple[Call | Assignment, ...]
    traps: tuple[TrapAt, ...]

    def named(self, kind: str) -> dict[str, Section]:
        """The sections of a kind by name; of two with one name the last."""
        return {section.name: section for section in self.sections if section.kind == kind}


def parse(text: str, file: str, strict: bool = False) -> Script:
    """The script in `text`; `file` names it in messages. Raises SpecErrors with a place."""
    tokens, traps = tokenize(text, file, strict)
    return _Parser(tokens, traps, file, strict).script()


class _Parser:
    def __init__(self, tokens: list[Token], traps: list[TrapAt], file: str, strict: bool) -> None:
        self._tokens = tokens
        self._next = 0
        self._traps = traps
        self._file = file
        self._strict = strict
        self._reserved_names: set[str] = set()

    def script(self) -> Script:
        sections: list[Section] = []
        while self._peek().text != "main" or self._peek().kind is not Kind.WORD:
            sections.append(self._section(sections))
        if not sections:
            raise self._error("a script needs a section before main", self._peek())
        self._take()
        main = self._main()
        if self._peek().kind is not Kind.END:
            raise self._error("nothing may follow main", self._peek())
        return Script(self._file, tuple(sections), main, tuple(self._traps))

    def _section(self, before: list[Section]) -> Section:
        head = self._take()
        if head.kind is Kind.END:
            raise self._error("there is no main", head)
        if head.kind is not Kind.WORD or head.text not in ATTRIBUTES:
            kinds = (*ATTRIBUTES, "main")
            raise self._error("a section begins here", head, ", ".join(kinds), nearest(head.text, kinds))
        name = self._expect_kind(Kind.TEXT, f"the name of the {head.text}, in double quotes")
        first = next((one for one in before if (one.kind, one.name) == (head.text, name.text)), None)
        if first:
            detail = f'{head.text} "{name.text}" is on line {first.position.line}, too'
            self._traps.append(trap_at("defined-twice", name.position, detail))
        self._expect("{")
        attributes: dict[str, Token] = {}
        while not (attributes and self._peek_mark("}")):
            word, value = self._attribute(head.text)
            attributes[word] = value
        self._take()
        return Section(head.text, name.text, attributes, head.position)

    def _attribute(self, kind: str) -> tuple[str, Token]:
        word = self._take()
        known = ATTRIBUTES[kind]
        if word.kind is not Kind.WORD or word.text not in known:
            message = f"a {kind}: unknown attribute"
            if word.kind is Kind.END:
                message = f"the file ends inside a {kind}"
            elif word.text == "}":
                message = f"a {kind} needs at least one attribute"
            raise self._error(message, word, ", ".join(known), nearest(word.text, known))
        value = self._expect_kind(Kind.TEXT, "a string in double quotes, for numbers, too")
        self._expect(";")
        return word.text, value

    def _main(self) -> tuple[Call | Assignment, ...]:
        self._expect("{")
        lines: list[Call | Assignment] = []
        while not self._peek_mark("}"):
            first = self._take()
            if first.kind is Kind.VARIABLE:
                self._expect("=")
                lines.append(Assignment(self._name(first), self._expression(), first.position))
            elif first.kind is Kind.WORD:
                lines.append(self._call(first))
            else:
                allowed = "client.method(...); or $variable = ...;"
                raise self._error("this begins no line of main", first, allowed)
            self._expect(";")
        self._take()
        return tuple(lines)

    def _call(self, client: Token) -> Call:
        self._expect(".")
        method = self._expect_kind(Kind.WORD, "a method")
        if method.text not in METHODS:
            near = nearest(method.text, METHODS)
            raise self._error("unknown method", method, ", ".join(METHODS), near)
        self._expect("(")
        arguments: list[Expression] = []
        while not self._peek_mark(")"):
            if arguments:
                self._expect(",")
            arguments.append(self._expression())
        self._take()
        wanted = METHODS[method.text]
        if wanted is not None and len(arguments) != wanted:
            message = f"{method.text} takes {wanted} argument{'s' * (wanted != 1)}, it has {len(arguments)}"
            raise self._error(message, method)
        return Call(self._name(client), method.text, tuple(arguments), client.position)

    def _expression(self) -> Expression:
        parts = [self._primary()]
        while self._peek_mark("."):
            self._take()
            parts.append(self._primary())
        return parts[0] if len(parts) == 1 else Joined(tuple(parts), parts[0].position)

    def _primary(self) -> Expression:
        token = self._take()
        match token.kind:
            case Kind.NUMBER | Kind.TEXT:
                return Literal(token.text, token.position)
            case Kind.VARIABLE:
                return Variable(self._name(token), token.position)
            case Kind.WORD:
                return self._figure(token)
        allowed = 'a number, a "string", $1, $variable, client::figure or client::type::figure'
        raise self._error("a value is missing here", token, allowed)

    def _figure(self, client: Token) -> Figure:
        self._expect("::")
        second = self._expect_kind(Kind.WORD, "a figure or a query type")
        if not self._peek_mark("::"):
            self._known(second, CONNECT_FIGURES)
            return Figure(self._name(client), None, second.text, client.position)
        self._take()
        param = self._expect_kind(Kind.WORD, "a figure")
        self._known(param, TYPE_FIGURES)
        return Figure(self._name(client), second.text, param.text, client.position)

    def _known(self, token: Token, allowed: tuple[str, ...]) -> None:
        if token.text not in allowed:
            near = nearest(token.text, allowed)
            raise self._error("unknown figure", token, ", ".join(allowed), near)

    def _name(self, token: Token) -> str:
        """A client's or a variable's name: the original's reserved words are none."""
        if token.text in RESERVED:
            if self._strict:
                raise self._error("a reserved word of super-smack cannot be a name", token)
            if token.text not in self._reserved_names:
                self._traps.append(trap_at("reserved-word", token.position, token.text))
            self._reserved_names.add(token.text)
        return token.text

    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _peek_mark(self, mark: str) -> bool:
        return self._peek().kind is Kind.MARK and self._peek().text == mark

    def _take(self) -> Token:
        token = self._tokens[self._next]
        if token.kind is not Kind.END:
            self._next += 1
        return token

    def _expect(self, mark: str) -> None:
        token = self._take()
        if token.kind is not Kind.MARK or token.text != mark:
            raise self._error(f"{mark} is missing", token)

    def _expect_kind(self, kind: Kind, what: str) -> Token:
        token = self._take()
        if token.kind is not kind:
            raise self._error(f"here has to be {what}", token)
        return token

    def _error(
        self, message: str, token: Token, allowed: str | None = None, near: str | None = None
    ) -> SpecErrors:
        return SpecErrors.of(self._file, token.position, message, token.describe(), allowed, near)
