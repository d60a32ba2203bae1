"""An A/A control: the first point measured a second time in each block, as a point of its own.

What differs between the two is noise, and so is any difference as small between other points.
"""

from __future__ import annotations

from collections.abc import Sequence

from mydyno.lab.plan.layers import layer_keys
from mydyno.lab.plan.order import Keys
from mydyno.lab.plan.point import Point
from mydyno.lab.spec import Design

FEWEST_BLOCKS = 3
"""Repetitions that an interval needs."""
LONGER = 0.1
"""The share by which `control: auto` may lengthen a run."""


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
