"""From a client and its barrel to the engine's program: an event is one round of the barrel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mydyno.core.document.problems import SpecErrors
from mydyno.lab.workload.smack.barrel import Draw, Pause, Shots, expand, read_barrel
from mydyno.lab.workload.smack.dictionary import Dictionary, expression
from mydyno.lab.workload.smack.grammar import Script, Section

UNTYPED = "query"
"""The name of statements whose query has no type."""


@dataclass(frozen=True)
class Round:
    """One round of a client's barrel: what it sends, and the engine's program for it."""

    program: dict[str, Any]
    types: Mapping[str, int]
    """Type -> statements of it in a round, in the order of their first shot."""
    draws: int
    """Values that a round takes from unique dictionaries, at the most from any one of them."""

    @property
    def statements(self) -> int:
        return sum(self.types.values())


@dataclass(frozen=True)
class Lane:
    """One client type among `of` that run in parallel: the unique values that are its own to draw."""

    index: int = 0
    of: int = 1
    drawn: int = 0
    """Values that its earlier unloads have drawn."""


def build(
    script: Script,
    client: Section,
    dictionaries: Iterable[Dictionary],
    lane: Lane = Lane(),
    strict: bool = False,
) -> Round:
    """The program of one round of `client`'s barrel.

    Raises SpecErrors for a barrel that is missing or wrong, an unknown dictionary, and one without words.
    """
    barrel = read_barrel(client, script)
    if not any(isinstance(one, Shots) for one in barrel):
        message = f"client {client.name} unloads its barrel, which has no query"
        raise SpecErrors.of(script.file, client.place("query_barrel"), message)
    builder = _Builder(script, {one.name: one for one in dictionaries}, lane, strict)
    return builder.round(client.name, barrel)


class _Builder:
    def __init__(
        self, script: Script, dictionaries: Mapping[str, Dictionary], lane: Lane, strict: bool
    ) -> None:
        self._script = script
        self._dictionaries = dictionaries
        self._lane = lane
        self._strict = strict
        self._used: dict[str, Dictionary] = {}
        self._drawn: dict[str, int] = {}

    def round(self, client: str, barrel: tuple[Shots | Pause, ...]) -> Round:
        types: dict[str, int] = {}
        per_round = self._uses(barrel)
        steps: list[dict[str, Any]] = []
        for number, one in enumerate(barrel):
            if isinstance(one, Pause):
                steps.append({"pause_s": one.seconds})
                continue
            label = one.query.text("type") or UNTYPED
            types[label] = types.get(label, 0) + one.times
            steps.append(self._shots(one, label, f"shot_{number}", per_round))
        program: dict[str, Any] = {
            "name": f"smack {client}",
            "prepared": False,
            # The original's clients start as they connect, one after the other.
            "open": "lazy" if self._strict else "phase",
            "retry": [],
            "dictionaries": {
                one.name: {"words": list(one.words)} for one in self._used.values() if one.words
            },
            "values": self._counters(),
            "tables": [],
            "transactions": [{"name": "round", "weight": 1, "steps": steps}],
            "checks": [],
        }
        return Round(program, types, max(per_round.values(), default=0))

    def _uses(self, barrel: tuple[Shots | Pause, ...]) -> dict[str, int]:
        """Unique dictionary -> how many values of it a round draws."""
        uses: dict[str, int] = {}
        for one in barrel:
            if isinstance(one, Shots):
                for part in self._parts(one.query):
                    if isinstance(part, Draw) and self._dictionaries[part.dictionary].type == "unique":
                        uses[part.dictionary] = uses.get(part.dictionary, 0) + one.times
        return uses

    def _parts(self, query: Section) -> list[str | Draw]:
        return expand(query, self._dictionaries, self._script.file, self._strict)[0]

    def _shots(self, shots: Shots, label: str, index: str, per_round: Mapping[str, int]) -> dict[str, Any]:
        query = shots.query
        parts = self._parts(query)
        here: dict[str, int] = {}
        for part in parts:
            if isinstance(part, Draw):
                here[part.dictionary] = here.get(part.dictionary, 0) + 1
        seen: dict[str, int] = {}
        sql: list[Any] = []
        for part in parts:
            if isinstance(part, str):
                sql.append(part)
                continue
            name = part.dictionary
            place = _Place(seen.get(name, 0), here[name], index if shots.times > 1 else None)
            sql.append({"raw": self._draw(name, place, per_round.get(name, 0))})
            seen[name] = place.nth + 1
        for name, count in here.items():
            self._drawn[name] = self._drawn.get(name, 0) + count * shots.times
        statement: dict[str, Any] = {"name": label, "sql": sql}
        if self._strict and not query.says_yes("has_result_set"):
            # The original calls mysql_store_result only where the file says that there is a result.
            statement["unread"] = True
        send = {"send": statement}
        if shots.times == 1:
            return send
        return {"repeat": {"times": shots.times, "index": index, "steps": [send]}}

    def _draw(self, name: str, place: _Place, per_round: int) -> Any:
        dictionary = self._dictionaries[name]
        if dictionary.type != "unique" and not dictionary.words:
            raise SpecErrors.of(self._script.file, self._where(name), f"dictionary {name} has no words")
        self._used[name] = dictionary
        if self._strict and dictionary.type == "unique":
            counter = self._own_counter(name, place, per_round)
            return expression(dictionary, counter, counter)
        return expression(dictionary, ["draw", name], ["var", name])

    def _own_counter(self, name: str, place: _Place, per_round: int) -> Any:
        """What a counter of the connection's own, from 0, gives at this place of the round."""
        offset = self._drawn.get(name, 0) + place.nth
        value = ["+", ["*", ["event"], per_round], offset]
        if place.index:
            value = ["+", value, ["*", ["var", place.index], place.of]]
        return value

    def _counters(self) -> dict[str, Any]:
        """Shared counters; those of parallel client types interleave, so that no two give one value."""
        if self._strict:
            return {}
        start = self._lane.index + self._lane.drawn * self._lane.of
        return {
            one.name: ["counter", one.name, start, self._lane.of, 1, 1]
            for one in self._used.values()
            if one.type == "unique"
        }

    def _where(self, name: str) -> Any:
        return self._script.named("dictionary")[name].position


@dataclass(frozen=True)
class _Place:
    """The nth draw of a dictionary, of so many, in a query that is sent in a loop over `index`."""

    nth: int
    of: int
    index: str | None
