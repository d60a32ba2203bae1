"""Which SQL of a workload reaches beyond its tables: to files, programs, accounts or the server itself.

mydyno's own server runs as the user who runs mydyno and lets the load do everything, so such a statement of a
foreign file is refused without `--trust` (docs/reference/trust.md). The check is of words, to be safe: a word
counts inside quotes and comments, too, since what those are depends on sql_mode.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mydyno.core.document.problems import shorten
from mydyno.core.errors import UsageError

HINT = "read the file; --trust uses it as if you had written it (docs/reference/trust.md)"
WHY_STATEMENT = "it reaches beyond the tables of the load: to files, accounts or the server itself"
_VERBS = frozenset(
    (
        *("select", "with", "values", "table", "insert", "replace", "update", "delete", "truncate", "do"),
        *("create", "alter", "drop", "rename", "begin", "start", "commit", "rollback", "savepoint"),
        *("release", "set", "show", "describe", "desc", "explain", "analyze", "check", "checksum"),
        *("optimize", "repair", "lock", "unlock", "call", "handler", "xa", "flush", "use"),
    )
)
_FILES = re.compile(
    r"\b(outfile|dumpfile|infile|load_file|soname|datafile|(data|index)\s+directory|execute_prepared_stmt"
    r"|sys_(eval|exec|get|set)|engine\s*=?\s*\W?(connect|federatedx?|spider|s3))\b",
    re.IGNORECASE,
)
"""Words that read or write files, load libraries, or run a text as a statement, wherever they stand."""
_SYSTEM_TABLES = re.compile(r"\b(mysql|sys)\W?\s*\.", re.IGNORECASE)
_READING = frozenset(("select", "show", "describe", "desc", "explain"))
_DEFINING = frozenset(("create", "alter", "drop", "rename"))
_DEFINED = frozenset(
    (
        *("table", "temporary", "index", "unique", "fulltext", "spatial", "view", "sequence", "tables"),
        *("procedure", "function", "trigger", "or", "algorithm", "definer", "sql", "online", "offline"),
        *("ignore", "aggregate", "if"),
    )
)
"""What may follow create, alter and drop; users, servers, events, tablespaces and plugins may not."""
_STORED = frozenset(("procedure", "function", "trigger"))
_ADMINISTRATION = frozenset(
    (
        *("global", "persist", "persist_only", "password", "prepare", "execute", "immediate", "install"),
        *("uninstall", "shutdown", "grant", "kill", "change", "event", "user", "role", "server"),
    )
)
"""What may not stand in SET, BEGIN and the bodies of stored programs."""
_SERVERS_WORDS = "' outfile"
"""Stands for words that come from a table, whatever they are."""
_COMMENT = re.compile(r"(\s|\(|/\*(?!M?!).*?\*/|--\s[^\n]*(\n|$)|#[^\n]*(\n|$))*", re.DOTALL)


def refuse_reaching(file: str, statements: Iterable[str]) -> None:
    """Raises UsageError for statements that need trust, as `reaching_statements` gives them."""
    if problems := [f"{file}: {shorten(sql)!r} needs --trust: {WHY_STATEMENT}" for sql in statements]:
        raise UsageError("\n".join(problems), HINT)


def reaching_statements(program: Mapping[str, Any]) -> Iterator[str]:
    """The statements of a program (docs/reference/engine-program.md) that need trust, as text."""
    shown = dict.fromkeys(_shown(parts) for parts in _statements(program) if _reaches(parts, program))
    yield from shown


def reaches(sql: str) -> bool:
    """Whether one statement needs trust."""
    if _FILES.search(sql):
        return True
    bare = sql[_end_of_comments(sql) :].lower()
    first, *rest = re.findall(r"[a-z_]\w*", bare) or [""]
    if not bare.startswith(first) or first not in _VERBS:
        return bool(bare)
    if first not in _READING and _SYSTEM_TABLES.search(sql):
        return True
    if first in _DEFINING:
        is_defined = bool(rest) and rest[0] in _DEFINED
        is_stored = bool(_STORED & set(rest))
        return not is_defined or (is_stored and bool(_ADMINISTRATION & set(rest)))
    if first == "start":
        return rest[:1] != ["transaction"]
    if first == "begin":
        return rest[:1] not in ([], ["work"])
    if first == "use":
        return rest[:1] in (["mysql"], ["sys"])
    return first == "set" and bool(_ADMINISTRATION & set(rest))


def _end_of_comments(sql: str) -> int:
    match = _COMMENT.match(sql)
    return match.end() if match else 0


def _statements(part: Any) -> Iterator[list[Any]]:
    """Every statement as its parts: texts, and values that are known at run time only."""
    if isinstance(part, list):
        for each in part:
            yield from _statements(each)
    if not isinstance(part, Mapping):
        return
    for key, value in part.items():
        if key in ("sql", "create", "query") and isinstance(value, str | list):
            yield [value] if isinstance(value, str) else value
        elif key in ("then", "session") and isinstance(value, list):
            for each in value:
                yield from [[each]] if isinstance(each, str) else _statements(each)
        else:
            yield from _statements(value)


def _reaches(parts: Sequence[Any], program: Mapping[str, Any]) -> bool:
    written = "".join(part if isinstance(part, str) else _stand_in(part) for part in parts)
    if reaches(written):
        return True
    raw = [at for at, part in enumerate(parts) if isinstance(part, Mapping) and "raw" in part]
    bare = written[_end_of_comments(written) :].lower()
    if raw and bare.startswith(("set", "create", "alter", "drop", "call", "begin", "start", "rename")):
        return True
    return any(_may_spell_words(parts, at, program) for at in raw)


def _stand_in(part: Mapping[str, Any]) -> str:
    """A value is sent as a literal; the number of a copy ends the name of its table."""
    return "0" if "copy" in part else " ? "


def _may_spell_words(parts: Sequence[Any], at: int, program: Mapping[str, Any]) -> bool:
    """Whether a part that goes into the statement as it is could be any of the words above, in pieces.

    It needs letters for that, and between quotes a quote first.
    """
    before = "".join(part if isinstance(part, str) else "?" for part in parts[:at])
    after = parts[at + 1] if at + 1 < len(parts) else ""
    quote = before[-1:]
    is_quoted = (
        quote in ("'", '"')
        and isinstance(after, str)
        and after.startswith(quote)
        and before.count(quote) % 2 == 1
        and not any(mark in before for mark in {"\\", "'", '"', "/*", "--", "#"} - {quote})
    )
    texts = _texts(parts[at]["raw"], program, ())
    if is_quoted:
        return any(map(_may_break_out, texts))
    return any(letter.isalpha() for text in texts for letter in text)


def _may_break_out(text: str) -> bool:
    """Whether a word between quotes may end them and do harm by itself; quotes keep it apart from others.

    Dictionaries escape their words, but whether a backslash escapes is a matter of sql_mode.
    """
    ends = any(mark in text for mark in "'\"`\\")
    return ends and bool(_FILES.search(text) or _SYSTEM_TABLES.search(text))


def _texts(expression: Any, program: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[str]:
    """The texts of the file's choice that may come to be in what an expression gives."""
    if isinstance(expression, str):
        yield expression
    if not isinstance(expression, list) or not expression:
        return
    operator, *arguments = expression
    if operator in ("draw", "var", "last") and arguments and isinstance(arguments[0], str):
        name = arguments[0]
        if name not in above:
            for each in (program.get("values", {}).get(name), *_assigned(name, program)):
                yield from _texts(each, program, (*above, name))
    elif operator in ("pick", "next"):
        dictionary = program.get("dictionaries", {}).get(arguments[0], {})
        yield from dictionary.get("words", () if "column" in dictionary else (_SERVERS_WORDS,))
    else:
        # A counter's first argument is its name.
        for each in arguments[1:] if operator == "counter" else arguments:
            yield from _texts(each, program, above)


def _assigned(name: str, part: Any) -> Iterator[Any]:
    """What `let` gives to a variable, anywhere in the program."""
    if isinstance(part, Mapping):
        if isinstance(pair := part.get("let"), list) and pair[:1] == [name]:
            yield from pair[1:]
        for value in part.values():
            yield from _assigned(name, value)
    elif isinstance(part, list):
        for each in part:
            yield from _assigned(name, each)


def _shown(parts: Iterable[Any]) -> str:
    return " ".join("".join(part if isinstance(part, str) else ":value" for part in parts).split())
