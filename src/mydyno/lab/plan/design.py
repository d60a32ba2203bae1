"""What a plan keeps of the design: which points, when it stops, what its order keeps together."""

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from mydyno.core.facts import HostFacts
from mydyno.core.record import Record
from mydyno.core.units import format_duration
from mydyno.lab.plan.layers import LAYERS, layer_keys
from mydyno.lab.plan.point import Point
from mydyno.lab.plan.slices import obstacles, slice_seconds
from mydyno.lab.spec import Experiment, PointsKind, SpecErrors
from mydyno.lab.spec.conditions import short_names

OrderName = Literal["slices", "blocked", "sequential"]


class PlannedDesign(Record):
    """Plain values; `results.records.DesignRecord` says what each means."""

    points: PointsKind = "all"
    aliases: tuple[str, ...] = ()
    defining: tuple[str, ...] = ()
    resolution: int | None = None
    until: float | None = None
    first_look: int | None = None
    at_most: int | None = None
    hard_factors: tuple[tuple[str, ...], ...] = ()
    rest_s: float = 0.0
    sliced: tuple[tuple[str, ...], ...] = ()
    slice_s: tuple[float, ...] = ()
    """Length of a slice of each group of `sliced`."""
    no_slices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Order:
    """The order in which the points of a block are measured, chosen for this machine."""

    name: OrderName
    sliced: tuple[tuple[Point, ...], ...] = ()
    """Groups of points that are measured together in slices; what is in none is measured by itself."""
    no_slices: tuple[str, ...] = ()
    """Why some are in none, or all, where `auto` would have taken slices."""


def order_of(experiment: Experiment, points: Sequence[Point], facts: HostFacts) -> Order:
    """The order of `points`, A/A controls among them. Raises SpecErrors for slices that are not possible.

    Where not all points can be measured together, those of each load are: it is them that are compared.
    """
    design = experiment.design
    if design.order in ("blocked", "sequential"):
        return Order(design.order)
    if all(point.control_of is not None for point in points[1:]):
        return Order("blocked")
    load = experiment.load
    reasons = list(obstacles(points, facts, load))
    if not reasons:
        return Order("slices", (tuple(points),))
    loads = [
        tuple(group) for group in _by_load(points) if len({each.control_of or each.id for each in group}) > 1
    ]
    sliced = tuple(group for group in loads if not any(obstacles(group, facts, load)))
    if design.order == "slices" and not sliced:
        message = f"slices are not possible here: {'; '.join(reasons)}"
        allowed = "blocked; or auto, which takes slices where they are possible"
        variant = experiment.variant(points[0].levels)
        raise SpecErrors([variant.problem(("design", "order"), message, allowed)])
    if not sliced:
        return Order("blocked", no_slices=tuple(reasons))
    missing = [
        obstacle for group in loads if group not in sliced for obstacle in obstacles(group, facts, load)
    ]
    return Order("slices", sliced, tuple(dict.fromkeys(missing)))


def _by_load(points: Sequence[Point]) -> list[list[Point]]:
    """Points of the same workload together."""
    groups: dict[str, list[Point]] = {}
    for point in points:
        groups.setdefault(dict(layer_keys(point))["workload"], []).append(point)
    return list(groups.values())


def planned_design(experiment: Experiment, points: Sequence[Point], order: Order) -> PlannedDesign:
    """The design of `points`, A/A controls among them."""
    design, chosen = experiment.design, experiment.chosen
    compared = [point for point in points if point.control_of is None]
    looks = design.until is not None
    return PlannedDesign(
        points=design.points.kind,
        aliases=chosen.aliases,
        defining=chosen.defining,
        resolution=chosen.resolution,
        until=design.until,
        first_look=design.at_least if looks else None,
        at_most=design.at_most if looks else None,
        hard_factors=tuple(hard_factors(compared)) if order.name == "blocked" else (),
        rest_s=design.rest,
        sliced=tuple(tuple(point.id for point in group) for group in order.sliced),
        slice_s=tuple(design.slice or slice_seconds(group) for group in order.sliced),
        no_slices=order.no_slices,
    )


def hard_factors(points: Sequence[Point]) -> Iterator[tuple[str, ...]]:
    """Groups of factors whose levels stay together inside a block, as `order.blocked` shuffles: the factors
    that the layers down to one decide, where several points share those layers."""
    keys = {point.id: layer_keys(point) for point in points}
    open_factors = list(dict.fromkeys(factor for point in points for factor in point.levels))
    for depth in range(1, len(LAYERS)):
        plots: dict[tuple[tuple[str, str], ...], list[Point]] = {}
        for point in points:
            plots.setdefault(keys[point.id][:depth], []).append(point)
        if all(len(plot) == 1 for plot in plots.values()):
            return
        decided = tuple(
            factor
            for factor in open_factors
            if all(len({point.levels.get(factor) for point in plot}) == 1 for plot in plots.values())
        )
        if decided:
            yield decided
            open_factors = [factor for factor in open_factors if factor not in decided]


def factors_of(points: Sequence[Point]) -> tuple[str, ...]:
    """The factors in the order of the file; a nested one is not at every point."""
    longest = max(points, key=lambda point: len(point.levels))
    known = dict.fromkeys(longest.levels)
    return tuple(known | dict.fromkeys(factor for point in points for factor in point.levels))


def lettered(factors: Sequence[str]) -> dict[str, str]:
    """`A`, `B`... -> the last part of each factor's name, or all of it where two end alike. No I: that is
    the letter of what is always the same."""
    letters = (
        *string.ascii_uppercase.replace("I", ""),
        *(f"F{number}" for number in range(26, len(factors) + 1)),
    )
    return dict(zip(letters, short_names(factors), strict=False))


def described(design: PlannedDesign, points: Sequence[Point], blocks: int) -> Iterator[str]:
    """The design in sentences for people, where it is more than all points a number of times."""
    if design.points != "all":
        yield f"points: {_POINTS[design.points]}{_resolution(design)}"
    letters = {name: letter for letter, name in lettered(factors_of(points)).items()}
    if design.defining:
        yield f"defining relation: {', '.join(_in_letters(each, letters) for each in design.defining)}"
    yield from (f"not distinguished: {_in_letters(each, letters)}" for each in design.aliases)
    if design.until is not None:
        yield (
            f"{design.first_look} to {design.at_most} repetitions: stops when every comparison with the "
            f"first level is known to ±{design.until * 100:g}%, at an error rate of 5% over all looks"
        )
    yield from _in_slices(design, points)
    for point in points:
        if point.control_of is not None:
            yield f"{point.id} is {point.control_of} measured again: the difference between them is noise"
    for group in design.hard_factors:
        names = ", ".join(short_names(group))
        yield f"whole plots of {names}: trials of one level follow each other, shuffled again in each block"
    if design.rest_s and blocks > 1:
        yield f"pauses {format_duration(design.rest_s)} between blocks"


def _in_slices(design: PlannedDesign, points: Sequence[Point]) -> Iterator[str]:
    for group, seconds in zip(design.sliced, design.slice_s, strict=True):
        which = f"all {len(group)} points" if len(group) == len(points) else ", ".join(group)
        yield (
            f"slices of {format_duration(seconds)}: in each block the servers of {which} run at the same "
            "time and are driven in turn"
        )
    if design.no_slices:
        others = "blocks" if not design.sliced else "the others in blocks"
        yield f"{others}, not slices: {'; '.join(design.no_slices)}"


def _in_letters(sentence: str, letters: Mapping[str, str]) -> str:
    """`A = B×C` for `pool = log×raid`: names are long, and here they stand above."""
    return "".join(letters.get(word, word) for word in re.split(r"(×|\s+|(?<= )-)", sentence))


_POINTS: dict[PointsKind, str] = {
    "all": "all combinations of levels",
    "one-at-a-time": "one factor at a time; interactions are not measured",
    "plackett-burman": "Plackett-Burman",
    "fraction": "a fraction of all combinations",
}
_ROMAN = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
_MEANS = {
    3: "main effects are mixed with interactions of two factors",
    4: "main effects are distinguished from interactions of two factors, but not these from each other",
}


def _resolution(design: PlannedDesign) -> str:
    if design.resolution is None:
        return ""
    means = _MEANS.get(design.resolution, "main effects and interactions of two factors are distinguished")
    roman = _ROMAN[design.resolution] if design.resolution < len(_ROMAN) else str(design.resolution)
    return f" of resolution {roman}: {means}"
