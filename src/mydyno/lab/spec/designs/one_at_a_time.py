"""One factor at a time: the first level of everything, and from there each other level by itself.

Few points, and each is compared with the first one directly. What it cannot see are interactions: that a
larger log helps only beside a larger pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mydyno.lab.spec.designs.full import Levels
from mydyno.lab.spec.factors import Factor


def one_at_a_time(factors: Sequence[Factor]) -> Iterator[Levels]:
    """The base, then every change of it, in the order of the file."""
    seen: list[Levels] = []
    for levels in _changes(factors):
        # Where a nested factor begins to vary may be a point already.
        if levels not in seen:
            seen.append(levels)
            yield levels


def _changes(factors: Sequence[Factor]) -> Iterator[Levels]:
    base = _completed({}, factors)
    yield base
    for factor in factors:
        start = base if factor.applies(base) else _where_it_applies(factor, factors)
        yield start
        for level in factor.levels[1:]:
            yield _completed({**start, factor.name: level.name}, factors)


def _where_it_applies(factor: Factor, factors: Sequence[Factor]) -> Levels:
    """As near to the base as a nested factor allows: with the first levels of those it is nested in."""
    wanted: Levels = {}
    while factor.when is not None:
        wanted |= {name: levels[0] for name, levels in factor.when.levels.items() if name not in wanted}
        nested = [each for each in factors if each.name in factor.when.levels and each.when is not None]
        if not nested:
            break
        factor = nested[0]
    return _completed(wanted, factors)


def _completed(chosen: Levels, factors: Sequence[Factor]) -> Levels:
    """With the first level of every factor that applies and is not chosen; without those that do not."""
    levels: Levels = {}
    for factor in factors:
        if factor.applies(levels):
            levels[factor.name] = chosen.get(factor.name, factor.levels[0].name)
    return levels
