"""design.points: all combinations of levels, or which of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError

from mydyno.core.document.base import Fault, refuse
from mydyno.core.document.quantities import Rule
from mydyno.core.document.tree import Mapping as Tree
from mydyno.core.document.tree import find
from mydyno.core.nearest import nearest

PointsKind = Literal["all", "one-at-a-time", "plackett-burman", "fraction"]
_WORDS: tuple[PointsKind, ...] = ("all", "one-at-a-time", "plackett-burman")
_ALLOWED = f"{', '.join(_WORDS)}, {{fraction: 1/2}}"
_FRACTION = re.compile(r"\s*1\s*/\s*(\d{1,6})\s*")


@dataclass(frozen=True)
class Points:
    """Which combinations are measured."""

    kind: PointsKind = "all"
    halvings: int = 0
    """Of a fraction: 1 for a half of all points, 2 for a quarter..."""

    def __str__(self) -> str:
        return f"fraction: 1/{2**self.halvings}" if self.kind == "fraction" else self.kind


@dataclass(frozen=True)
class PointsRule(Rule):
    """A word, or `{fraction: 1/4}`."""

    schema: ClassVar[JsonSchemaValue] = {
        "anyOf": [
            {"enum": list(_WORDS)},
            {
                "type": "object",
                "properties": {"fraction": {"type": "string", "pattern": r"^\s*1\s*/\s*\d{1,6}\s*$"}},
                "required": ["fraction"],
                "additionalProperties": False,
            },
        ]
    }

    def read(self, raw: Any) -> Points:
        if isinstance(raw, Points):
            return raw
        for word in _WORDS:
            if raw == word:
                return Points(word)
        if isinstance(raw, Mapping) and raw.keys() == {"fraction"}:
            return _fraction(raw["fraction"])
        close = nearest(raw, [*_WORDS, "fraction"]) if isinstance(raw, str) else None
        likely = "{fraction: 1/2}" if close == "fraction" else close
        if isinstance(raw, str) and _FRACTION.fullmatch(raw):
            likely = f"{{fraction: {raw.strip()}}}"
        raise refuse(Fault("unknown choice of points", _ALLOWED, likely))

    def write(self, value: Points) -> Any:
        return {"fraction": f"1/{2**value.halvings}"} if value.kind == "fraction" else value.kind


def _fraction(raw: Any) -> Points:
    match = _FRACTION.fullmatch(raw) if isinstance(raw, str) else None
    parts = int(match[1]) if match else 0
    if parts < 2 or parts & (parts - 1):
        allowed = "1/2, 1/4, 1/8 and so on: factors of two levels are halved"
        near = f"1/{1 << (parts.bit_length() - 1)}" if parts > 2 else None
        raise refuse(Fault("is not a fraction of a two-level design", allowed, near, at=("fraction",)))
    return Points("fraction", parts.bit_length() - 1)


def read_points(tree: Tree) -> Points | None:
    """What the document says, before its sections are checked; None when that is wrong."""
    node = find(tree, ("design", "points"))
    try:
        return Points() if node is None else PointsRule().read(node.plain())
    except PydanticCustomError:
        return None
