"""The order of the trials: whole blocks, each shuffled separately, expensive layers kept together.

A block is one repetition of every point. Inside it the points that share a layer follow each other,
layer by layer from the most expensive one: groups are shuffled among themselves, and inside a group
the groups of the next layer, down to the points. That is a split-plot order: factors that are hard
to change are randomised in whole plots, cheap ones inside them.

Nothing is drawn. A group's place is decided by a hash of the seed, the block and the group's keys,
which is as good as a shuffle, and stays the same on every machine and in every version of Python.
"""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

from mydyno.lab.plan.layers import layer_keys
from mydyno.lab.plan.point import Point
from mydyno.lab.spec import Design

Keys = tuple[tuple[str, str], ...]
_Item = TypeVar("_Item")


FEWEST_BLOCKS = 3
"""Repetitions that an interval needs."""
LONGER = 0.1
"""The share by which `control: auto` may lengthen a run."""


def blocked(items: Sequence[tuple[_Item, Keys]], seed: int, block: int) -> list[_Item]:
    """`items`, each with its layer keys, in the order of one block.

    Every item comes once. Items with equal keys are distinguished by their position in `items`.
    """
    numbered = [(item, (*keys, ("item", str(index)))) for index, (item, keys) in enumerate(items)]
    ordered = sorted(numbered, key=lambda pair: _places(pair[1], seed, block))
    return [item for item, _ in ordered]


def trial_seed(seed: int, block: int) -> int:
    """The seed of the load in a block. All points of a block meet the same random numbers: they are pairs."""
    return int.from_bytes(_hash(seed, block, "trial")[:4], "big")


def _places(keys: Keys, seed: int, block: int) -> tuple[bytes, ...]:
    """The place at each layer. Points with an equal prefix of keys have an equal prefix of places."""
    return tuple(_hash(seed, block, repr(keys[: depth + 1])) for depth in range(len(keys)))


def _hash(seed: int, block: int, what: str) -> bytes:
    return hashlib.sha256(f"{seed}/{block}/{what}".encode()).digest()


def control_of(point: Point) -> Point:
    return point.model_copy(update={"id": f"{point.id}-control", "control_of": point.id})


def is_controlled(design: Design, points: int, longer: float) -> bool:
    """`longer`: the time that the run takes with a control over that without. By itself there is none where
    a single point is compared with nothing, or where the repetitions are too few for an interval."""
    if design.control != "auto":
        return design.control
    return points > 1 and design.blocks >= FEWEST_BLOCKS and longer <= 1 + LONGER


def order_keys(points: Sequence[Point]) -> list[tuple[Point, Keys]]:
    """The layers by which a block is ordered. A control goes its own way where other points part from its
    twin: always next to it, it would show less noise than there is between them."""
    keys = {point.id: layer_keys(point) for point in points if point.control_of is None}
    return [(point, _apart(point, keys)) for point in points]


def _apart(point: Point, keys: dict[str, Keys]) -> Keys:
    if point.control_of is None:
        return keys[point.id]
    own = keys[point.control_of]
    others = [each for point_id, each in keys.items() if point_id != point.control_of]
    parts = next(
        (depth for depth in range(1, len(own)) if all(own[:depth] != each[:depth] for each in others)),
        len(own),
    )
    return (*own[: parts - 1], *((layer, f"{key} control") for layer, key in own[parts - 1 :]))
