"""What the JSON Schema says of each server variable that the catalogue knows: its kind, meaning and history.

An editor completes their names, shows the text, refuses a word where a number belongs, and marks those that a
release named in the same file does not have. Other names stay allowed: only the binary knows them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from mydyno.core.server_variables import CONTROLLED, OFF_WORDS, ON_WORDS
from mydyno.server.variables import catalogue
from mydyno.server.variables.release import Family
from mydyno.server.variables.row import Row

Schema = dict[str, Any]
_SERIES = re.compile(r"(mysql|mariadb)-(\d+)\.(\d+)")
_NEWEST_PATCH = 999
_NUMBERS = {
    *("bytes", "pages", "rows", "count", "percent", "number"),
    *("days", "seconds", "milliseconds", "microseconds", "port"),
}
_NUMBER = "^ *-?[0-9]+(\\.[0-9]+)?[KMGTPEkmgtpe]? *$"
_SHARE = "^ *[0-9]+(\\.[0-9]+)? *% +of +(memory|data) *$"


def variables() -> Schema:
    """The schema of the value of each variable, by its name."""
    return {
        name: _value(row)
        | {"description": f"{row.means} Unit: {row.unit}. {row.history()}.", "$comment": row.layer}
        for name, row in catalogue().variables.items()
        if row.where != "running" and name not in CONTROLLED
    }


def of_releases(releases: Iterable[str]) -> list[Schema]:
    """For each release whose name says its series: the variables that it does not have are `deprecated`.

    They are not errors: what another release has in their place may be known (docs/reference/variables.md).
    """
    return [
        {
            "if": {"properties": {"release": {"const": name}}, "required": ["release"]},
            "then": {"properties": {"config": {"properties": dict(_missing(name, match))}}},
        }
        for name in releases
        if (match := _SERIES.fullmatch(name)) is not None
    ]


def _missing(release: str, series: re.Match[str]) -> Iterator[tuple[str, Schema]]:
    family, numbers = Family(series[1]), (int(series[2]), int(series[3]), _NEWEST_PATCH)
    for name, row in catalogue().variables.items():
        life = row.life(family)
        if name not in CONTROLLED and (life is None or not life.covers(numbers)):
            yield name, {"deprecated": True, "description": f"{release} does not have it: {row.history()}."}


def _value(row: Row) -> Schema:
    words = {word.lower() for word in _words(row)}
    if row.unit == "switch" and words <= ON_WORDS | OFF_WORDS:
        spelled = sorted(
            {form for word in ON_WORDS | OFF_WORDS for form in (word, word.upper(), word.title())}
        )
        return {"enum": [True, False, 1, 0, *spelled]}
    if row.unit in _NUMBERS and all(re.match(_NUMBER, word) for word in words):
        text = f"{_NUMBER}|{_SHARE}" if row.unit == "bytes" else _NUMBER
        return {"anyOf": [{"type": "number"}, {"type": "string", "pattern": text}]}
    return {"$ref": "#/$defs/ConfigValue"}


def _words(row: Row) -> Iterator[str]:
    """The values that the table names: some numbers and switches take words, too."""
    for dropped in row.dropped:
        yield from () if dropped.values == "any" else dropped.values
    yield from (each.value for each in row.refused)
    for loss in row.losses:
        yield from (each for each in (loss.value, *loss.other_than) if each is not None)
    for becomes in row.becomes:
        yield from becomes.words
    for hint in row.hints:
        yield from hint.words
