"""design: which points are measured, how often, and in which order.
`design.points`: all combinations of levels, or which of them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError

from mydyno.core.document.base import Fault, Section, clash, refuse
from mydyno.core.document.quantities import Duration, DurationRule, Rule
from mydyno.core.document.tree import Mapping as Tree
from mydyno.core.document.tree import find
from mydyno.core.nearest import nearest
from mydyno.core.percent import AmbiguousPercentError, parse_percent
from mydyno.lab.spec.conditions import Condition

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


Order = Literal["auto", "slices", "blocked", "sequential"]

SHORTEST_SLICE_S, LONGEST_SLICE_S = 0.05, 60.0
"""Seconds. The engine needs about a millisecond to switch, and a statement some to be answered."""
SEQUENTIAL = ("until", "at_most", "at_least")
"""Keys that say when repeating ends, where `repeats` gives a number."""
_FINEST, _COARSEST = 0.001, 0.5


@dataclass(frozen=True)
class PrecisionRule(Rule):
    """`±3%`, `3%` or 0.03, as a share of the ratio."""

    schema: ClassVar[JsonSchemaValue] = {
        "anyOf": [
            {"type": "string", "pattern": r"^\s*(±|\+/-|\+-)?\s*\d+(\.\d+)?\s*%\s*$"},
            {"type": "number", "minimum": _FINEST, "maximum": _COARSEST},
        ]
    }

    def read(self, raw: Any) -> float:
        allowed = "±3%, 3% or 0.03"
        is_number = isinstance(raw, int | float) and not isinstance(raw, bool)
        try:
            share = parse_percent(f"{raw:f}" if is_number else raw if isinstance(raw, str) else "")
        except AmbiguousPercentError:
            raise refuse(Fault("has no unit", allowed, f"±{raw}%")) from None
        except ValueError:
            raise refuse(Fault("is not a precision", allowed)) from None
        if not _FINEST <= share <= _COARSEST:
            raise refuse(Fault("is out of bounds", f"from ±{_FINEST:.1%} to ±{_COARSEST:.0%}"))
        return share

    def write(self, value: float) -> float:
        return value


@dataclass(frozen=True)
class ControlRule(Rule):
    """`auto`, or a switch."""

    schema: ClassVar[JsonSchemaValue] = {"enum": ["auto", True, False, "yes", "no"]}

    def read(self, raw: Any) -> Literal["auto"] | bool:
        if raw == "auto" or isinstance(raw, bool):
            return "auto" if raw == "auto" else bool(raw)
        if raw in ("yes", "no"):
            return bool(raw == "yes")
        close = {"on": "true", "off": "false", "1": "true", "0": "false"}
        raise refuse(Fault("unknown choice", "auto, true, false", close.get(str(raw).lower())))


class Design(Section):
    """Points, repetition and order of the trials."""

    repeats: int = Field(default=5, ge=1, le=1_000, description="Trials of each point.")
    until: Annotated[float, PrecisionRule()] | None = Field(
        default=None,
        description="Instead of `repeats`: repeat until every comparison with the first level is known so "
        "well, at 95% over all looks together.",
    )
    at_most: int = Field(
        default=20, ge=3, le=1_000, description="With `until`: trials of each point at most."
    )
    at_least: int = Field(
        default=3, ge=3, le=1_000, description="With `until`: trials of each point before the first look."
    )
    points: Annotated[Points, PointsRule()] = Field(
        default=Points(),
        description="Which combinations of levels are measured: `all`, `one-at-a-time` (each level with "
        "the first ones of all other factors), `plackett-burman` (main effects of many factors of two "
        "levels), or a fraction of all points of factors of two levels.",
    )
    exclude: tuple[Condition, ...] = Field(
        default=(), description="Combinations that are not measured: `[{array: raid1, pool: [1G, 2G]}]`."
    )
    only: tuple[Condition, ...] = Field(default=(), description="The only combinations that are measured.")
    control: Annotated[Literal["auto"] | bool, ControlRule()] = Field(
        default="auto",
        description="Measure the first point twice in each block (an A/A control), to see how far two "
        "measurements of the same differ. `auto`: where the run takes at most a tenth longer.",
    )
    order: Order = Field(
        default="auto",
        description="`slices`: in each block the servers of all points run at the same time and are driven "
        "in turn, in slices of 0.1 s, so that a busy machine meets all points alike. `blocked`: each "
        "block holds each point once, one after the other, shuffled again; points that share expensive "
        "layers stay together. `sequential`: as written. `auto`: slices where they are sound (`mydyno plan` "
        "says why not), else blocked.",
    )
    slice: Annotated[float, DurationRule(SHORTEST_SLICE_S, LONGEST_SLICE_S)] | None = Field(
        default=None,
        description="Length of a slice, from 50ms to 60s. By default 0.1 s, and 2 s for a load that writes "
        "(a fifth of `measure` where that is less); longer where statements take long.",
    )
    rest: Duration = Field(
        default=0.0, description="Pause between blocks, so that repetitions are spread over a longer time."
    )
    seed: int = Field(
        default=1,
        ge=0,
        le=2**32 - 1,
        description="Everything random follows from it: the order, the load, the data.",
    )
    data_seed: int | None = Field(
        default=None,
        ge=0,
        le=2**32 - 1,
        description="Seed of the data, for runs of different seeds on one dataset; by default `seed`.",
    )

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        if "until" in raw:
            if "repeats" in raw:
                yield clash("repeats", "repeats and until exclude each other", "one of them")
        else:
            for key in SEQUENTIAL[1:]:
                if key in raw:
                    yield clash(
                        key, f"{key} has no meaning without until", f"until: ±3%, or repeats: {raw[key]}"
                    )
        if raw.get("slice") is not None and raw.get("order", "auto") not in ("auto", "slices"):
            yield clash("slice", f"slice has no meaning with order: {raw['order']}", "order: slices")
        least, most = raw.get("at_least", 3), raw.get("at_most", 20)
        if isinstance(least, int) and isinstance(most, int) and least > most:
            key = "at_least" if "at_least" in raw else "at_most"
            yield clash(
                key, f"at_least is {least}, which is more than at_most = {most}", "at_least below at_most"
            )

    @property
    def blocks(self) -> int:
        """Repetitions of each point; where it stops by itself, at most."""
        return self.repeats if self.until is None else self.at_most
