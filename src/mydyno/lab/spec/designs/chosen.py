"""The points of an experiment by the way that its design names, or what is wrong with that."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mydyno.core.document.problems import Findings
from mydyno.core.document.tree import Mapping, locate
from mydyno.core.plurals import plural
from mydyno.lab.spec.conditions import short_names
from mydyno.lab.spec.design import Points
from mydyno.lab.spec.designs import fraction as fractions
from mydyno.lab.spec.designs.aliases import aliases, mixes_mains, named
from mydyno.lab.spec.designs.fraction import Signs
from mydyno.lab.spec.designs.levels import Constraints, Levels, full, one_at_a_time
from mydyno.lab.spec.factors import Factor, FactorSource

MOST_POINTS = 1_000
"""More is a mistake: at ten seconds a trial, one repetition of so many takes three hours."""
_MOST_TRIED = 1_000_000
"""Combinations that are looked at to see which of them are left."""


@dataclass(frozen=True)
class Chosen:
    """The points of a design, and which of its effects are aliases."""

    combinations: tuple[Levels, ...] = ()
    aliases: tuple[str, ...] = ()
    defining: tuple[str, ...] = ()
    resolution: int | None = None


def choose(
    sources: Sequence[FactorSource],
    points: Points,
    constraints: Constraints,
    tree: Mapping,
    findings: Findings,
) -> Chosen | None:
    """None, with reasons in `findings`, when there is no such design of these factors."""
    factors = [source.factor for source in sources]
    before = len(findings.problems)
    if points.kind in ("plackett-burman", "fraction"):
        _check_two_levels(sources, points, constraints, tree, findings)
        chosen = _of_signs(factors, points) if len(findings.problems) == before else None
    else:
        chosen = _of_combinations(factors, points, constraints, tree, findings)
    if chosen is not None and len(chosen.combinations) > MOST_POINTS:
        _too_many(len(chosen.combinations), tree, findings)
        return None
    return chosen


def _of_combinations(
    factors: Sequence[Factor], points: Points, constraints: Constraints, tree: Mapping, findings: Findings
) -> Chosen | None:
    everything: Iterable[Levels] = full(factors) if points.kind == "all" else one_at_a_time(factors)
    most = math.prod(len(factor.levels) for factor in factors) if points.kind == "all" else 0
    if most > _MOST_TRIED or (
        most > MOST_POINTS and not constraints and not any(each.when for each in factors)
    ):
        _too_many(most, tree, findings)
        return None
    tried = list(everything)
    kept = tuple(levels for levels in tried if constraints.allow(levels))
    keys = [key for key in ("exclude", "only") if getattr(constraints, key)]
    place = locate(tree, ("design", *keys[:1])).key
    if not kept:
        message = f"{' and '.join(f'design.{key}' for key in keys)} leave none of {len(tried):,} points"
        findings.add(place, message, allowed="one point or more")
        return None
    if points.kind == "one-at-a-time" and kept[0] != tried[0]:
        allowed = "the first level of every factor together: all others differ from that in one factor"
        findings.add(
            place, f"design.{keys[0]} removes the point that all others are compared with", allowed=allowed
        )
        return None
    return Chosen(kept)


def _check_two_levels(
    sources: Sequence[FactorSource],
    points: Points,
    constraints: Constraints,
    tree: Mapping,
    findings: Findings,
) -> None:
    place = locate(tree, ("design", "points")).node.position
    instead = "points: all, or one-at-a-time"
    for source in sources:
        if len(source.levels) != 2:
            message = f"{points} needs factors of two levels, and {source.name} has {len(source.levels)}"
            findings.add(source.position, message, allowed=f"two levels; or {instead}")
        if source.when is not None:
            message = f"{points} needs every factor at every point, and {source.name} is nested"
            findings.add(source.position, message, allowed=f"no when; or {instead}")
    for key in ("exclude", "only"):
        if getattr(constraints, key):
            message = (
                f"design.{key} removes points of {points}, which needs all of them to distinguish effects"
            )
            findings.add(locate(tree, ("design", key)).key, message, allowed=instead)
    count, most = len(sources), min(fractions.MOST_SCREENED, fractions.MOST_FACTORS)
    if not 2 <= count <= most:
        findings.add(place, f"{points} of {_factors(count)}", allowed=f"2 to {most} factors")
    elif points.kind == "fraction":
        _check_fraction(count, points, findings, tree)


def _check_fraction(count: int, points: Points, findings: Findings, tree: Mapping) -> None:
    place = locate(tree, ("design", "points")).node.position
    free = count - points.halvings
    fewest = next(size for size in range(2, 64) if 2**size > count)
    if count < 3:
        findings.add(place, f"{points} of {_factors(count)}", allowed="3 factors or more")
    elif free < fewest:
        smallest = f"fraction: 1/{2 ** (count - fewest)}"
        have = f"{2**free} points" if free >= 0 else "less than a point"
        message = f"{points} of {count} factors is {have}, too few to distinguish {count} factors"
        findings.add(place, message, allowed=f"{smallest} at the smallest")


def _of_signs(factors: Sequence[Factor], points: Points) -> Chosen:
    names = short_names([factor.name for factor in factors])
    defining: tuple[str, ...] = ()
    if points.kind == "fraction":
        runs = fractions.fraction(len(factors), points.halvings)
        relation = fractions.words(len(factors), points.halvings)
        resolution: int | None = len(relation[0])
        # Odd products are -1, since the run of first levels is one of the runs.
        signed = [f"{'-' if len(word) % 2 else ''}{named(word, names)}" for word in relation]
        shown = signed[: fractions.MOST_WORDS]
        more = [f"{len(signed) - len(shown):,} longer words"] if len(signed) > len(shown) else []
        defining = tuple(f"I = {word}" for word in shown) + tuple(more)
    else:
        runs = fractions.plackett_burman(len(factors))
        resolution = 3 if mixes_mains(runs) else 4 if len(factors) > 3 else None
    return Chosen(tuple(_levels(runs, factors)), aliases(runs, names), defining, resolution)


def _levels(runs: Signs, factors: Sequence[Factor]) -> Iterator[Levels]:
    """In the order of all combinations, so that the point of first levels is the first."""
    for run in sorted(map(tuple, runs.tolist())):
        yield {
            factor.name: factor.levels[int(sign > 0)].name for factor, sign in zip(factors, run, strict=True)
        }


def _factors(count: int) -> str:
    return f"{count or 'no'} {plural(count, 'factor')}"


def _too_many(count: int, tree: Mapping, findings: Findings) -> None:
    allowed = f"at most {MOST_POINTS:,}; or design.points: one-at-a-time, plackett-burman or a fraction"
    findings.add(locate(tree, ("factors",)).key, f"the factors make {count:,} points", allowed=allowed)
