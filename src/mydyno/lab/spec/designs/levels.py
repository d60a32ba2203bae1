"""Combinations of levels: all of them, one factor at a time, and what `exclude` and `only` leave."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mydyno.core.document.problems import Findings
from mydyno.core.document.tree import Mapping, find
from mydyno.lab.spec.conditions import Condition, read_conditions
from mydyno.lab.spec.factors import Factor, FactorSource

Levels = dict[str, str]
"""Factor -> level; a nested factor is missing where it does not apply."""


def full(factors: Sequence[Factor]) -> Iterator[Levels]:
    """All of them; the last factor varies fastest. A nested factor comes after those it is nested in."""
    return _below(factors, {})


def _below(factors: Sequence[Factor], chosen: Levels) -> Iterator[Levels]:
    if not factors:
        yield chosen
        return
    factor, *rest = factors
    if factor.applies(chosen):
        for level in factor.levels:
            yield from _below(rest, {**chosen, factor.name: level.name})
    else:
        yield from _below(rest, chosen)


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


@dataclass(frozen=True)
class Constraints:
    """What `exclude` and `only` of a design leave."""

    exclude: tuple[Condition, ...] = ()
    only: tuple[Condition, ...] = ()

    def allow(self, levels: Levels) -> bool:
        wanted = not self.only or any(each.holds(levels) for each in self.only)
        return wanted and not any(each.holds(levels) for each in self.exclude)

    def __bool__(self) -> bool:
        return bool(self.exclude or self.only)


def read_constraints(tree: Mapping, factors: Sequence[FactorSource], findings: Findings) -> Constraints:
    """Those of the document; one that is wrong leaves nothing out and goes to `findings`."""
    known = {factor.name: tuple(level.name for level in factor.levels) for factor in factors}
    found: dict[str, tuple[Condition, ...]] = {}
    for key in ("exclude", "only"):
        node = find(tree, ("design", key))
        if node is not None:
            found[key] = read_conditions(node, f"design.{key}", known, findings) or ()
    return Constraints(**found)
