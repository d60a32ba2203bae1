"""Which settings of a large space matter: a two-level design around the leader of the references. Pure.

Each dimension is at the leader's value, or far from it. Plackett and Burman's design (Biometrika 33, 1946)
changes half of them at each point, so that an effect is estimated from all points. Effects are those of a
linear model of the logarithm; its standard error is that of one trial times 2 over the root of their number.

The buffer pool is left at the leader's: the references have measured it, and with a small one no other
setting shows. Far is an eighth away from the end: the ends themselves are where servers do not start.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mydyno.lab.spec.designs.fraction import MOST_SCREENED, plackett_burman
from mydyno.lab.spec.search import Scalar
from mydyno.server.program.chunks import POOL
from mydyno.tune.history import SERVER_CONFIG, Candidate, Score
from mydyno.tune.space import Dimension, Point, Space, same

ORIGIN, PREDICTED = "screening", "predicted"
LARGE = 9
"""A space of so many dimensions is screened."""
KEPT = 6
"""Screened dimensions that are varied afterwards."""
_FROM_THE_ENDS = 1 / 8
_POOL = f"{SERVER_CONFIG}.{POOL}"


@dataclass(frozen=True)
class Screening:
    """The design of a space around the leader; of a space that is small enough it has no points. `defaults`:
    path -> the value of what the leader does not set."""

    space: Space
    leader: Candidate
    defaults: Mapping[str, Scalar]

    @property
    def dimensions(self) -> list[Dimension]:
        """Those that are there at every point: one that depends on another is kept or dropped with it."""
        if len(self.space) < LARGE:
            return []
        free = [each for each in self.space.dimensions if not each.when]
        return [each for each in free if each.path != _POOL][:MOST_SCREENED]

    @property
    def points(self) -> list[Point]:
        """In their order, without the one that changes nothing, which is the leader."""
        if len(self.dimensions) < 2:
            return []
        rows = sorted(map(tuple, plackett_burman(len(self.dimensions)).tolist()))
        return [self._changed(row) for row in rows if max(row) > 0]

    def _changed(self, row: Sequence[float]) -> Point:
        signs = zip(self.dimensions, row, strict=True)
        return self._with(each for each, sign in signs if sign > 0)

    def _with(self, changed: Iterable[Dimension]) -> Point:
        far = {each.path: self.far(each) for each in changed}
        return self.space.nearest({**self.defaults, **self.leader.point, **far})

    def far(self, dimension: Dimension) -> Scalar:
        """The value that is tried instead of the leader's."""
        at, values = dimension.index(self.leader.point[dimension.path]), dimension.values
        if not dimension.ordered:
            return values[(at + 1) % len(values)]
        low = round(_FROM_THE_ENDS * (len(values) - 1))
        return max((values[low], values[-1 - low]), key=lambda value: abs(dimension.index(value) - at))

    def effects(self, scores: Sequence[Score], objective: str) -> dict[str, float]:
        """Path -> what the far value adds to the logarithm of the ratio, the largest effect first. A setting
        that was measured at one value only, as one with which no server starts, has none."""
        used = [
            each
            for each in scores
            if objective in each.ratios
            and (each.candidate.origin == ORIGIN or each.candidate.number == self.leader.number)
        ]
        columns = {
            each.path: [self._sign(each, one.candidate.point) for one in used] for each in self.dimensions
        }
        varied = {path: signs for path, signs in columns.items() if len(set(signs)) > 1}
        if not varied:
            return {}
        model = np.column_stack([np.ones(len(used)), *varied.values()])
        fitted = np.linalg.lstsq(model, np.array([each.ratios[objective] for each in used]), rcond=None)[0]
        found = dict(zip(varied, (2 * float(each) for each in fitted[1:]), strict=True))
        return dict(sorted(found.items(), key=lambda each: -abs(each[1])))

    def _sign(self, dimension: Dimension, point: Point) -> float:
        return 1.0 if same(point[dimension.path], self.far(dimension)) else -1.0

    def error(self, one: float) -> float:
        """The standard error of an effect; `one`: that of the logarithm of one trial."""
        return 2 * one / math.sqrt(len(self.points) + 1)

    def half_width(self, one: float) -> float:
        """Of an effect's 95% interval."""
        return 1.96 * self.error(one)

    def predicted(self, scores: Sequence[Score], objective: str, one: float) -> list[Point]:
        """The leader with all changes that look better by more than the standard error, and with all that
        look better at all; `one`: as in `error`."""
        found = self.effects(scores, objective)
        points: list[Point] = []
        for least in (self.error(one), 0.0):
            better = [each for each in self.dimensions if found.get(each.path, 0.0) > least]
            point = self._with(better)
            if better and point not in points:
                points.append(point)
        return points

    def dropped(self, scores: Sequence[Score], objective: str) -> tuple[str, ...]:
        """All with an effect but those with the largest, and a pool that is the largest already; nothing
        where nothing was measured."""
        found = self.effects(scores, objective)
        pool = self.space.of(_POOL)
        largest = [_POOL] if found and pool and same(self.leader.point[_POOL], pool.values[-1]) else []
        return (*list(found)[KEPT:], *largest)
