"""Which points are tried next: by a Gaussian process, by Optuna's tree-structured Parzen estimator, at
random, or one factor at a time.

Each is a function of what was measured and of a seed, so that a search that goes on after a kill proposes
what it would have proposed. Optuna keeps nothing: its study is made from the history each time.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from mydyno.lab.spec.search import Scalar
from mydyno.tune.space import Dimension, Point, Space, key_of

if TYPE_CHECKING:
    import optuna

    from mydyno.tune.gaussian import Array

_STARTUP = {"gp": 7, "tpe": 10}
"""Points, references included, before a model has enough to go by. Of 4, 7 and 10, and of 4, 6 and 10, these
had the least regret (docs/reference/performance.md)."""
_DRAWN = 600
"""Points of the space among which the process looks for the best."""
_SECOND = 0.05
"""Weight of the sum of all objectives next to the one that is worst, as in ParEGO."""
_LEAST_SPREAD = 1e-9
_MOST_ASKS = 40
_BROKEN = "constraints broken"


@dataclass(frozen=True)
class Observation:
    """A point that was tried. `values`: one for each objective, larger is better; of one that could not be
    measured, None. `broken`: constraints that it does not keep."""

    point: Point
    values: tuple[float, ...] | None
    broken: int = 0


Sampler = Callable[[Space, Sequence[Observation], set[str], int, int], list[Point]]
"""Space, what was observed, keys of points that are not to be tried again, seed, how many -> points; fewer
where the space has no more."""


def random(space: Space, seen: Sequence[Observation], taken: set[str], seed: int, count: int) -> list[Point]:
    chosen, known = Random(f"{seed} {len(seen)}"), set(taken)
    points: list[Point] = []
    while len(points) < count and (point := space.unseen(known, chosen)) is not None:
        points.append(point)
        known.add(key_of(point))
    return points


def one_at_a_time(
    space: Space, seen: Sequence[Observation], taken: set[str], seed: int, count: int
) -> list[Point]:
    """From the best point so far: each value of the first dimension, then of the next. Coordinate descent."""
    best = _best(space, seen)
    points: list[Point] = []
    known = set(taken)
    for each in space.active(best):
        for value in each.values:
            point = space.nearest({**best, each.path: value})
            if key_of(point) not in known and len(points) < count:
                points.append(point)
                known.add(key_of(point))
        if points:
            return points
    return points


def _best(space: Space, seen: Sequence[Observation]) -> Point:
    usable = [each for each in seen if each.values is not None and not each.broken]
    if not usable:
        return space.nearest({})
    return max(usable, key=lambda each: each.values or ()).point


def gp(space: Space, seen: Sequence[Observation], taken: set[str], seed: int, count: int) -> list[Point]:
    """Those with the largest expected improvement under a Gaussian process. What could not be measured, and
    what breaks a constraint, counts as the worst that was measured."""
    from mydyno.tune.gaussian import fitted

    if len(seen) < _STARTUP["gp"]:
        return random(space, seen, taken, seed, count)
    chosen = Random(f"{seed} {len(seen)}")
    candidates = _drawn(space, _best(space, seen), taken, chosen)
    rows = _coordinates(space, candidates)
    process = fitted(_coordinates(space, [each.point for each in seen]), _one_value(seen, chosen))
    points: list[Point] = []
    while candidates and len(points) < count:
        # Rounded, so that equal ones come in their order, however a CPU adds up.
        best = int(np.round(process.improvement(rows), 9).argmax())
        points.append(candidates.pop(best))
        process, rows = process.believing(rows[best]), np.delete(rows, best, axis=0)
    return points


def _drawn(space: Space, best: Point, taken: set[str], chosen: Random) -> list[Point]:
    """Points that were not tried: at random, and those that differ from the best one in one path."""
    near = (space.nearest({**best, each.path: value}) for each in space.active(best) for value in each.values)
    points = {key_of(point): point for point in (*near, *(space.random(chosen) for _ in range(_DRAWN)))}
    return [point for key, point in points.items() if key not in taken]


def _coordinates(space: Space, points: Sequence[Point]) -> Array:
    """A row for each point, from 0 to 1: two words are as far from each other as the ends of a range; a path
    that is not varied at a point is in the middle."""
    return np.array([[at for each in space.dimensions for at in _place(each, point)] for point in points])


def _place(each: Dimension, point: Point) -> Iterator[float]:
    index = each.index(point[each.path]) if each.path in point else None
    if each.ordered:
        yield 0.5 if index is None else index / max(1, len(each.values) - 1)
    else:
        yield from (math.sqrt(0.5) * (at == index) for at in range(len(each.values)))


def _one_value(seen: Sequence[Observation], chosen: Random) -> Array:
    """Standardized values. Several objectives are one by weights that are drawn for each heat, so that all
    parts of the front are tried (Knowles, *ParEGO*, IEEE Transactions on Evolutionary Computation 10, 2006).
    """
    worst = _worst(seen)
    values = np.array([worst if each.values is None or each.broken else each.values for each in seen])
    values = (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), _LEAST_SPREAD)
    weights = np.array([chosen.expovariate(1.0) for _ in worst])
    weighted = values * weights / weights.sum()
    one: Array = weighted.min(axis=1) + _SECOND * weighted.sum(axis=1)
    standardized: Array = (one - one.mean()) / max(float(one.std()), _LEAST_SPREAD)
    return standardized


def tpe(space: Space, seen: Sequence[Observation], taken: set[str], seed: int, count: int) -> list[Point]:
    """Points with more than one objective are ranked by dominance; broken constraints count before values."""
    study = _study(space, seen, seed)
    points: list[Point] = []
    known = set(taken)
    for _ in range(_MOST_ASKS):
        if len(points) == count:
            return points
        trial = study.ask()
        point = _suggested(space, trial)
        if key_of(point) not in known:
            points.append(point)
            known.add(key_of(point))
    return [*points, *random(space, seen, known, seed, count - len(points))]


def _study(space: Space, seen: Sequence[Observation], seed: int) -> optuna.Study:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    worst = _worst(seen)
    with warnings.catch_warnings():
        # Parts of its interface that have been the same for years are still marked as experimental.
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(
            n_startup_trials=_STARTUP["tpe"],
            multivariate=True,
            group=True,
            constant_liar=True,
            constraints_func=lambda trial: (float(trial.user_attrs.get(_BROKEN, 0)),),
            seed=(seed * 1_000_003 + len(seen)) % (1 << 32),
        )
    study = optuna.create_study(sampler=sampler, directions=["maximize"] * len(worst))
    for each in seen:
        study.enqueue_trial(_encoded(space, each.point))
        trial = study.ask()
        _suggested(space, trial)
        trial.set_user_attr(_BROKEN, each.broken + (each.values is None))
        study.tell(trial, list(each.values or worst))
    return study


def _worst(seen: Sequence[Observation]) -> tuple[float, ...]:
    """What a point that could not be measured counts as: no better than anything that could."""
    values = [each.values for each in seen if each.values is not None]
    return tuple(map(min, zip(*values, strict=True))) if values else (0.0,)


def _suggested(space: Space, trial: optuna.Trial) -> Point:
    point: dict[str, Scalar] = {}
    for each in space.dimensions:
        if each.active(point):
            point[each.path] = each.values[_index(each, trial)]
    return point


def _index(each: Dimension, trial: optuna.Trial) -> int:
    last = len(each.values) - 1
    if each.ordered:
        return trial.suggest_int(each.path, 0, last)
    return int(trial.suggest_categorical(each.path, list(range(last + 1))))


def _encoded(space: Space, point: Point) -> dict[str, Any]:
    return {each.path: each.index(point[each.path]) for each in space.active(point)}


SAMPLERS: Mapping[str, Sampler] = {"gp": gp, "tpe": tpe, "random": random, "one-at-a-time": one_at_a_time}


def proposals(
    name: str,
    space: Space,
    seen: Sequence[Observation],
    taken: set[str],
    seed: int,
    count: int,
    costly: Collection[str] = (),
) -> list[Point]:
    """What the sampler of this name proposes for one heat: as long as there are such points, all have the
    values of the first on the `costly` paths, so that what takes long to build is built once."""
    sampler = SAMPLERS[name]
    if not costly or count < 2:
        return sampler(space, seen, taken, seed, count)
    points = sampler(space, seen, taken, seed, 1)
    if not points:
        return []
    part = space.at({path: value for path, value in points[0].items() if path in costly})
    # Another file system may have other paths: what was seen there says nothing about these.
    comparable = [each for each in seen if set(part.nearest(each.point)) == set(each.point)]
    points += sampler(part, comparable, taken | {key_of(points[0])}, seed, count - 1)
    if len(points) < count:
        known = taken | {key_of(point) for point in points}
        points += sampler(space, seen, known, seed, count - len(points))
    return points
