"""Which points to hold against each other."""

from __future__ import annotations

import itertools

from mydyno.results.records import ExperimentRecord, PointRecord


def level_pairs(
    experiment: ExperimentRecord, factor: str, left: str, right: str
) -> list[tuple[PointRecord, PointRecord]]:
    """Pairs of points that differ in `factor` alone, at its levels `left` and `right`; in the order of the
    points."""

    def others(point: PointRecord) -> dict[str, str]:
        return {name: level for name, level in point.levels.items() if name != factor}

    return [
        (one, other)
        for one, other in itertools.permutations(experiment.points, 2)
        if one.levels.get(factor) == left
        and other.levels.get(factor) == right
        and others(one) == others(other)
    ]
