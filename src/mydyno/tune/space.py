"""The paths that a search varies, each with the values that are tried, in steps. Pure."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from mydyno.core.units import bytes_or_none
from mydyno.lab.spec.search import Parameter, Scalar, number_of

STEPS = 17
"""Values of a range: 16 equal steps. What lies between two of them is below what a search can distinguish."""
_MOST_DRAWS = 1000

Point = Mapping[str, Scalar]
"""Path -> value, of the dimensions that are varied at this point."""


@dataclass(frozen=True)
class Dimension:
    """One path with its values; in their order where they are numbers or sizes."""

    path: str
    values: tuple[Scalar, ...]
    ordered: bool
    when: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)

    def active(self, point: Point) -> bool:
        """Whether it is varied at a point that has the dimensions above it."""
        return all(
            path in point and any(same(point[path], value) for value in values)
            for path, values in self.when.items()
        )

    def index(self, value: Scalar) -> int:
        """Of this value, or of the nearest number; a word that is none of the values is the first."""
        for at, each in enumerate(self.values):
            if same(each, value):
                return at
        number = number_of(value)
        if not self.ordered or number is None:
            return 0
        own = [number_of(each) or 0.0 for each in self.values]
        return min(range(len(own)), key=lambda at: abs(own[at] - number))


@dataclass(frozen=True)
class Space:
    dimensions: tuple[Dimension, ...]

    def __len__(self) -> int:
        return len(self.dimensions)

    def of(self, path: str) -> Dimension | None:
        return next((each for each in self.dimensions if each.path == path), None)

    def active(self, point: Point) -> Iterator[Dimension]:
        """The dimensions that this point has."""
        known: dict[str, Scalar] = {}
        for each in self.dimensions:
            if each.active(known) and each.path in point:
                known[each.path] = point[each.path]
                yield each

    def nearest(self, settings: Mapping[str, Scalar]) -> Point:
        """The point of the space that is nearest to these settings, of which it takes what it knows."""
        point: dict[str, Scalar] = {}
        for each in self.dimensions:
            if each.active(point):
                point[each.path] = each.values[each.index(settings.get(each.path, each.values[0]))]
        return point

    def random(self, chosen: Random) -> Point:
        point: dict[str, Scalar] = {}
        for each in self.dimensions:
            if each.active(point):
                point[each.path] = chosen.choice(each.values)
        return point

    def without(self, paths: Sequence[str]) -> Space:
        """The space of the other dimensions, and of those that depend on none of `paths`."""
        gone = set(paths)
        kept = []
        for each in self.dimensions:
            if each.path in gone or gone & set(each.when):
                gone.add(each.path)
            else:
                kept.append(each)
        return Space(tuple(kept))

    def at(self, point: Point) -> Space:
        """The part of the space that has these values."""
        return Space(
            tuple(
                replace(each, values=(point[each.path],)) if each.path in point else each
                for each in self.dimensions
            )
        )

    def unseen(self, taken: set[str], chosen: Random) -> Point | None:
        """A random point that is not among those `taken` (their keys); None when none was met."""
        for _ in range(_MOST_DRAWS):
            point = self.random(chosen)
            if key_of(point) not in taken:
                return point
        return None


def key_of(settings: Mapping[str, Scalar]) -> str:
    """Equal for settings that mean the same: 64M and 67108864, ON and true."""
    return " ".join(f"{path}={_meaning(settings[path])}" for path in sorted(settings))


def same(one: Scalar, other: Scalar) -> bool:
    return _meaning(one) == _meaning(other)


@functools.lru_cache(maxsize=4096, typed=True)  # A sampler compares thousands of points, of a few values.
def _meaning(value: Scalar) -> str:
    number = number_of(value)
    if number is not None:
        return f"{number:.12g}"
    return {"true": "on", "false": "off"}.get(str(value).casefold(), str(value).casefold())


def dimension(path: str, parameter: Parameter) -> Dimension:
    """A parameter of the file in steps."""
    when = parameter.conditions()
    if parameter.values is not None:
        numbers = [number_of(value) for value in parameter.values]
        if None in numbers:
            return Dimension(path, parameter.values, False, when)
        pairs = zip(numbers, parameter.values, strict=True)
        ordered = sorted(pairs, key=lambda pair: pair[0] or 0.0)
        return Dimension(path, tuple(value for _, value in ordered), True, when)
    assert parameter.numbers is not None
    assert parameter.range is not None
    low, high = parameter.numbers
    return Dimension(path, steps(low, high, parameter.log, kind_of(parameter.range)), True, when)


def kind_of(ends: Sequence[Scalar]) -> str:
    """`size` where an end has a unit, `real` where one has a fraction, else `whole`."""
    texts = [str(each).strip() for each in ends]
    if any(text[-1:].isalpha() and bytes_or_none(text) is not None for text in texts):
        return "size"
    return "real" if any("." in text for text in texts) else "whole"


def steps(low: float, high: float, log: bool, kind: str) -> tuple[Scalar, ...]:
    """At most STEPS values from `low` to `high`, both included, each once, as an option file takes them."""
    parts = [at / (STEPS - 1) for at in range(STEPS)]
    if log:
        exact = [math.exp(math.log(low) + part * (math.log(high) - math.log(low))) for part in parts]
    else:
        exact = [low + part * (high - low) for part in parts]
    return tuple(dict.fromkeys(written(value, kind, low, high) for value in exact))


def written(value: float, kind: str, low: float, high: float) -> Scalar:
    """Sizes in whole mebibytes, or kibibytes below one; numbers without more digits than a person types."""
    if kind == "size":
        unit, letter = (1 << 20, "M") if min(low, value) >= 1 << 20 else (1 << 10, "K")
        return f"{max(1, round(value / unit))}{letter}" if value >= unit / 2 else round(value)
    if kind == "real":
        return float(f"{value:.3g}")
    rounded = int(float(f"{value:.2g}")) if value >= 100 else round(value)
    return min(max(rounded, math.ceil(low)), math.floor(high))
