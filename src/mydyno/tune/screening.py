"""Which settings of a large space matter at all: a two-level design before the search. Pure.

Plackett and Burman's design (Biometrika 33, 1946) sets every dimension low and high in half of its points, so
that each effect is the difference of two means over all of them. Low and high are an eighth away from the
ends: the ends themselves are where servers do not start.
"""

from collections.abc import Sequence

from mydyno.lab.spec.designs.fraction import MOST_SCREENED, plackett_burman
from mydyno.lab.spec.search import Scalar
from mydyno.tune.history import Score
from mydyno.tune.space import Dimension, Point, Space, same

ORIGIN = "screening"
LARGE = 9
"""A space of so many dimensions is screened."""
KEPT = 6
"""Dimensions that are varied afterwards."""
_FROM_THE_ENDS = 1 / 8


def points_left(space: Space, done: int) -> list[Point]:
    """The points of the design after the first `done`; none for a space that is small enough."""
    if len(space) < LARGE:
        return []
    free = _independent(space)
    rows = sorted(map(tuple, plackett_burman(len(free)).tolist()))
    return [_point(space, free, row) for row in rows[done:]]


def _independent(space: Space) -> list[Dimension]:
    """Those that are there at every point: one that depends on another is kept or dropped with it."""
    return [each for each in space.dimensions if not each.when][:MOST_SCREENED]


def _point(space: Space, free: Sequence[Dimension], signs: Sequence[float]) -> Point:
    chosen = {each.path: _ends(each)[sign > 0] for each, sign in zip(free, signs, strict=True)}
    return space.nearest(chosen)


def _ends(each: Dimension) -> tuple[Scalar, Scalar]:
    last = len(each.values) - 1
    low = round(_FROM_THE_ENDS * last)
    return each.values[low], each.values[last - low]


def effects(space: Space, scores: Sequence[Score], objective: str) -> dict[str, float]:
    """Path -> mean logarithm of the ratio at its high end, less that at its low end, of what was screened."""
    used = [each for each in scores if each.candidate.origin == ORIGIN and objective in each.ratios]
    found = {}
    for each in _independent(space):
        sides = []
        for end in _ends(each):
            values = [
                one.ratios[objective] for one in used if same(one.candidate.point.get(each.path, ""), end)
            ]
            sides.append(sum(values) / len(values) if values else None)
        if sides[0] is not None and sides[1] is not None:
            found[each.path] = sides[1] - sides[0]
    return found


def dropped(space: Space, scores: Sequence[Score], objective: str) -> tuple[str, ...]:
    """All but the dimensions with the largest effects; what has no effect measured is kept."""
    found = effects(space, scores, objective)
    by_size = sorted(found, key=lambda path: -abs(found[path]))
    return tuple(by_size[KEPT:])
