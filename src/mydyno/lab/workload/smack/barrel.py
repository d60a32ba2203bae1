"""A client's query barrel: what a connection does in one round."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mydyno.core.document.problems import SpecErrors
from mydyno.core.nearest import nearest
from mydyno.lab.workload.smack.grammar import Script, Section

_PAUSE = re.compile(r"-(\d+(?:\.\d*)?|\.\d+)")


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
