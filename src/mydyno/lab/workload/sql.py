"""From the text of a statement to the parts that the engine puts together."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mydyno.core.nearest import nearest
from mydyno.lab.workload.constants import as_text, is_constant
from mydyno.lab.workload.expressions import compile_text
from mydyno.lab.workload.functions import Names
from mydyno.lab.workload.written import Written

SqlPart: TypeAlias = Any
"""A text, or an object of one key: value, raw or copy."""

SQL_FORMS = {
    ":name": "A value: what the event has bound to the name, or the named value drawn again.",
    ":(expression)": "A value, worked out at the moment.",
    "{expression}": "What is known before the run, put there as it is.",
    "{table}": "The table's name; of copies, that of the one that `choose` chose.",
    "{raw(expression)}": "What the expression gives at the moment, without quotes; not when prepared.",
    "{repeat(n, 'sql', between=', ')}": "The piece of SQL `n` times; `{number}` in it counts from 1.",
    "{{": "A brace.",
}
"""None of this is looked for inside quotes."""

_NAME = re.compile(r"[A-Za-z_]\w*")
_COMMENT = re.compile(r"--\s[^\n]*|#[^\n]*|/\*(?!!).*?(?:\*/|\Z)", re.DOTALL)
_AFTER_TABLE_WORD = re.compile(r"\b(?:FROM|JOIN|UPDATE|INTO|TABLE)\s+([A-Za-z_]\w*)(?![\w.(])", re.IGNORECASE)
_TYPOGRAPHIC = dict.fromkeys("‐‑‒–—―−", "-") | dict.fromkeys("‘’‚‛", "'") | dict.fromkeys("“”„‟", '"')
_MOST_REPEATS = 10_000


@dataclass(frozen=True)
class Tables:
    """The names of tables that SQL may use."""

    single: frozenset[str] = frozenset()
    copied: frozenset[str] = frozenset()
    chosen: str | None = None
    """The copied table of which one copy was chosen."""
    number: int | None = None
    """Which copy, where that is known before the run."""

    def all(self) -> list[str]:
        return sorted(self.single | self.copied)


@dataclass(frozen=True)
class Context:
    names: Names
    tables: Tables = field(default_factory=Tables)
    values_allowed: bool = True
    """Whether there are values at run time: not in DDL and checks."""


def compile_sql(written: Written, what: str, context: Context) -> list[SqlPart]:
    """The parts of the statement in `written`, neighbouring texts joined. Raises Wrong."""
    text = written.text_of(what).rstrip().removesuffix(";")
    parts = _Template(written, context).parts(text, 0)
    _refuse_unknown_tables(written, parts, context.tables)
    return parts


def compile_fixed_sql(written: Written, what: str, context: Context) -> str:
    """A statement without values. Raises Wrong."""
    parts = compile_sql(written, what, Context(context.names, context.tables, values_allowed=False))
    return "".join(parts)


def refuse_typography(written: Written, text: str, index: int) -> None:
    """Raises Wrong when a character is one that word processors put in place of - and quotes."""
    letter = text[index]
    if letter in _TYPOGRAPHIC:
        message = "a typographic character, as word processors make them"
        plain = _TYPOGRAPHIC[letter]
        raise written.at(index, message, letter, f"plain {plain}", plain)


def typographic(text: str) -> str | None:
    """`text` with plain characters, when it has typographic dashes or quotes; else None."""
    plain = "".join(_TYPOGRAPHIC.get(letter, letter) for letter in text)
    return plain if plain != text else None


def first_word(sql: str) -> str:
    """The name of a statement that has none."""
    match = re.match(r"\W*(\w+)", sql)
    return match.group(1).lower() if match else "statement"


class _Template:
    def __init__(self, written: Written, context: Context, *, inside_repeat: bool = False) -> None:
        self.written = written
        self.context = context
        self.inside_repeat = inside_repeat

    def parts(self, text: str, start: int) -> list[SqlPart]:
        joined: list[SqlPart] = []
        for part in self._scan(text, start):
            if isinstance(part, str) and joined and isinstance(joined[-1], str):
                joined[-1] += part
            elif part != "":
                joined.append(part)
        return joined

    def _scan(self, text: str, start: int) -> Iterator[SqlPart]:
        index, in_name = 0, False
        while index < len(text):
            letter = text[index]
            if match := _COMMENT.match(text, index):
                end = match.end()
                yield match.group()
            elif letter in "'\"":
                end = self._end_of_quote(text, index, start)
                yield text[index:end]
            elif text[index : index + 2] in ("{{", "}}"):
                end = index + 2
                yield letter
            elif letter == "{":
                end = self._end(text, index, start, "{}")
                yield from self._splice(text[index + 1 : end - 1], start + index + 1)
            elif letter == "`":
                in_name = not in_name
                end = index + 1
                yield letter
            elif letter == ":" and text[index + 1 : index + 2] == "(":
                end = self._end(text, index + 1, start, "()")
                yield self._value(text[index + 2 : end - 1], start + index + 2)
            elif (
                letter == ":"
                and not in_name
                and (match := _NAME.match(text, index + 1))
                and _is_free(text, index)
            ):
                end = match.end()
                yield self._value(match.group(), start + index + 1)
            else:
                refuse_typography(self.written, " " * start + text, start + index)
                end = index + 1
                yield letter
            index = end

    def _end_of_quote(self, text: str, opening: int, start: int) -> int:
        end = _end_of_quote(text, opening)
        if end is None:
            message = "a quote is opened here and never closed"
            raise self.written.at(start + opening, message, text[opening:])
        return end

    def _end(self, text: str, opening: int, start: int, brackets: str) -> int:
        """The place after the bracket that closes the one at `opening`."""
        depth, index = 0, opening
        while index < len(text):
            if text[index] in "'\"":
                index = _end_of_quote(text, index) or len(text)
                continue
            depth += (text[index] == brackets[0]) - (text[index] == brackets[1])
            index += 1
            if depth == 0:
                return index
        message = f"a {brackets[0]} is opened here and never closed"
        raise self.written.at(start + opening, message, text[opening:])

    def _value(self, text: str, start: int) -> SqlPart:
        if not self.context.values_allowed:
            message = "there are no values at run time here"
            raise self.written.at(start, message, f":{text}", "{expression} of options")
        return {"value": compile_text(self.written, text, start, self.context.names)}

    def _splice(self, text: str, start: int) -> Iterator[SqlPart]:
        name = text.strip()
        tables = self.context.tables
        if name in tables.copied:
            yield from self._copied_table(name, start)
        elif name in tables.single:
            yield name
        elif name == "copy" and tables.chosen and tables.number is None:
            yield {"copy": True}
        elif (call := _call(name)) is not None and call.func.id == "repeat":  # type: ignore[attr-defined]
            yield from self._repeated(call, text, start)
        elif call is not None and call.func.id == "raw":  # type: ignore[attr-defined]
            inner = name.removeprefix("raw").strip()
            part = self._value(inner, start + text.index("raw") + 3)
            yield {"raw": part["value"]}
        else:
            yield self._fixed(text, start)

    def _copied_table(self, name: str, start: int) -> Iterator[SqlPart]:
        tables = self.context.tables
        if tables.chosen != name:
            message = f"{name} has copies, and none is chosen here"
            raise self.written.at(start, message, name, f"`choose: {name}` with the statement")
        yield name
        yield str(tables.number) if tables.number is not None else {"copy": True}

    def _fixed(self, text: str, start: int) -> str:
        names = self.context.names
        if _NAME.fullmatch(text.strip()) and not _is_known(text.strip(), names):
            tables = self.context.tables.all()
            known = [*names.constants, *tables]
            close = nearest(text.strip(), [*names.all(), *tables])
            message = "unknown name"
            raise self.written.at(start, message, text.strip(), ", ".join(known) or None, close)
        expression = compile_text(self.written, text, start, names)
        if not is_constant(expression):
            message = "this is only known at run time"
            allowed = f":{text} for a value, {{raw({text})}} to put it there unquoted"
            raise self.written.at(start, message, text, allowed)
        return as_text(expression)

    def _repeated(self, call: ast.Call, text: str, start: int) -> Iterator[SqlPart]:
        if self.inside_repeat:
            raise self.written.at(start, "repeat is inside another repeat", text)
        values = dict(zip(("n", "sql", "between"), call.args, strict=False))
        values |= {str(keyword.arg): keyword.value for keyword in call.keywords}
        if not {"n", "sql"} <= set(values) <= {"n", "sql", "between"} or len(call.args) > 3:
            raise self.written.at(start, "repeat is called wrongly", text, "repeat(n, 'sql', between=', ')")
        count = compile_text(self.written, ast.unparse(values["n"]), start, self.context.names)
        if not isinstance(count, int) or not 0 <= count <= _MOST_REPEATS:
            allowed = f"a number known before the run, at most {_MOST_REPEATS:,}"
            raise self.written.at(start, "n is not a number of repetitions", str(count), allowed)
        piece, between = (self._text(values.get(name), start) for name in ("sql", "between"))
        for number in range(1, count + 1):
            if number > 1:
                yield ", " if between is None else between
            names = self.context.names.with_number(number)
            context = Context(names, self.context.tables, self.context.values_allowed)
            inner = _Template(self.written, context, inside_repeat=True)
            yield from inner.parts(piece or "", start)

    def _text(self, node: ast.expr | None, start: int) -> str | None:
        if node is None:
            return None
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            raise self.written.at(start, "this is not a text in quotes", ast.unparse(node))
        return node.value


def _is_free(text: str, index: int) -> bool:
    """Whether a colon begins a placeholder: `::` and `a:b` do not."""
    before, after = text[index - 1 : index], text[index + 1 : index + 2]
    return before != ":" and after != ":" and not before.isalnum() and before != "_"


def _is_known(name: str, names: Names) -> bool:
    return name in names.all() or name in ("null", "true", "false") or name in names.perhaps


def _end_of_quote(text: str, opening: int) -> int | None:
    """The place after the quote that closes the one at `opening`; doubled and escaped ones do not."""
    quote, index = text[opening], opening + 1
    while index < len(text):
        if text[index] == "\\" or (text[index] == quote and text[index + 1 : index + 2] == quote):
            index += 2
        elif text[index] == quote:
            return index + 1
        else:
            index += 1
    return None


def _call(text: str) -> ast.Call | None:
    """The call that `text` is, to a plain name; else None."""
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return node if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None


def _refuse_unknown_tables(written: Written, parts: list[SqlPart], tables: Tables) -> None:
    """Raises Wrong for a table that is nearly, but not quite, one of the workload's.

    Other tables may be there without the workload's doing; names in back quotes are not looked at.
    """
    known = tables.all()
    for part in parts:
        for match in _AFTER_TABLE_WORD.finditer(part) if isinstance(part, str) else ():
            name = match.group(1)
            if re.sub(r"\d+$", "", name) in known or name in known:
                continue
            close = nearest(name, known)
            text = written.text or ""
            if close is not None and close.lower() != name.lower() and name in text:
                message = "unknown table"
                allowed = ", ".join(known) + ", or `" + name + "` in back quotes for another"
                raise written.at(text.index(name), message, name, allowed, close)
