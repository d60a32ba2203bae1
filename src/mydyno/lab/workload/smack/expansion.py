"""The text of a query with its `$dictionary` names found: what is sent as it is, what is drawn."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from mydyno.core.document.problems import Position, SpecErrors
from mydyno.core.nearest import nearest
from mydyno.lab.workload.smack.grammar import Section
from mydyno.lab.workload.smack.traps import TrapAt, trap_at

_NAME = re.compile(r"\$([A-Za-z0-9_]+)")


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
