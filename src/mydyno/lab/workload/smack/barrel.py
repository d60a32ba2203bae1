"""A client's query barrel: what a connection does in one round."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mydyno.core.document.problems import Position, SpecErrors
from mydyno.core.nearest import nearest
from mydyno.lab.workload.smack.grammar import Script, Section
from mydyno.lab.workload.smack.traps import TrapAt, trap_at

_PAUSE = re.compile(r"-(\d+(?:\.\d*)?|\.\d+)")


_NAME = re.compile(r"\$([A-Za-z0-9_]+)")


@dataclass(frozen=True)
class Shots:
    """`times` times the query."""

    times: int
    query: Section


@dataclass(frozen=True)
class Pause:
    seconds: float


def read_barrel(client: Section, script: Script) -> tuple[Shots | Pause, ...]:
    """The barrel of a client, empty when it has none.

    Raises SpecErrors for an element that is neither a pair `N query` nor a pause `-seconds`, and for a
    query that is not defined above the client.
    """
    place = client.place("query_barrel")

    def wrong(message: str, value: str, allowed: str, near: str | None = None) -> SpecErrors:
        return SpecErrors.of(script.file, place, message, value, allowed, near)

    queries = _above(client, script)
    words = iter(client.text("query_barrel").split())
    barrel: list[Shots | Pause] = []
    for word in words:
        if word.startswith("-"):
            if not (match := _PAUSE.fullmatch(word)):
                raise wrong("the barrel has a pause of no length", word, "seconds, as -2 or -0.5")
            barrel.append(Pause(float(match[1])))
            continue
        if not word.isdecimal():
            raise wrong("the barrel wants a number before each query", word, "pairs, as 2 my_query")
        name = next(words, None)
        if name is None:
            raise wrong("the barrel ends with a number without a query", word, "pairs, as 2 my_query")
        if name not in queries:
            below = script.named("query").get(name)
            message = "the barrel: unknown query"
            if below:
                message = (
                    f"the barrel names a query that is defined only below, on line {below.position.line}"
                )
            raise wrong(message, name, ", ".join(queries) or "define one above", nearest(name, queries))
        if int(word):
            barrel.append(Shots(int(word), queries[name]))
    return tuple(barrel)


def _above(client: Section, script: Script) -> Mapping[str, Section]:
    return {
        one.name: one for one in script.sections if one.kind == "query" and one.position < client.position
    }


@dataclass(frozen=True)
class Draw:
    """One occurrence of a dictionary: a word drawn again, escaped, put in without quotes."""

    dictionary: str


def expand(
    query: Section, dictionaries: Iterable[str], file: str, strict: bool
) -> tuple[list[str | Draw], list[TrapAt]]:
    """The parts of a query in order, and the traps in its text.

    Raises SpecErrors for a name without a dictionary, at the place of the name.
    """
    text = query.text("query")
    if not query.says_yes("parsed"):
        return ([text] if text else []), []
    known = tuple(dictionaries)
    places = query.attributes["query"].places if "query" in query.attributes else ()
    parts: list[str | Draw] = []
    traps: list[TrapAt] = []
    offset = 0
    stop = len(text)
    if "\\" in text:
        first = text.index("\\")
        traps.append(trap_at("backslash-stops-expansion", places[first]))
        stop = first if strict else stop
    for match in _NAME.finditer(text, 0, stop):
        if not strict and match.start() and text[match.start() - 1] == "\\":
            continue
        _check(match[1], known, places[match.start()], file)
        if match.end() == len(text):
            traps.append(trap_at("name-at-end-of-query", places[match.start()], match[0]))
            if strict:
                parts.append(text[offset : match.start()])
                offset = match.end()
                break
        parts += [text[offset : match.start()], Draw(match[1])]
        offset = match.end()
    parts.append(text[offset:])
    if not strict:
        parts = [part.replace("\\$", "$") if isinstance(part, str) else part for part in parts]
    return [part for part in parts if part], traps


def _check(name: str, known: tuple[str, ...], place: Position, file: str) -> None:
    if name not in known:
        allowed = ", ".join(known) or "no dictionary is defined"
        raise SpecErrors.of(file, place, "unknown dictionary", f"${name}", allowed, nearest(name, known))
