"""Which picture an experiment gets: chosen by the shape of its factors and loads, in this one place.

| picture | when |
|---|---|
| curves | several loads, one factor of few levels: a line a setting |
| panels | several loads and factors: a line for each level of the first, a panel for each of the others |
| bars | one load, or named jobs, or more settings than colours |
| heat map | several factors with many levels, one load or test programs |
| programs | test programs, few settings |
"""

from __future__ import annotations

from typing import Literal

from mydyno.lab.analysis.observations import places
from mydyno.lab.report.evidence import COLORS, Evidence

Shape = Literal["curves", "panels", "bars", "heat map", "programs"]

MOST_PANELS = 24
"""Of more combinations a heat map shows each as one cell."""


def shape(evidence: Evidence) -> Shape:
    loads = [place for place in places(evidence.trials) if place not in evidence.programs]
    many = evidence.crossed and len(evidence.settings) > COLORS
    if not loads:
        if evidence.programs and not many:
            return "programs"
        return "heat map" if many else "bars"
    numbered = all(isinstance(place, int) for place in loads)
    if numbered and len(loads) > 1:
        if evidence.crossed and _curves_in_every_row(evidence):
            return "panels"
        if not evidence.crossed and len(evidence.settings) <= COLORS:
            return "curves"
    return "heat map" if many and len(loads) == 1 and not evidence.programs else "bars"


def _curves_in_every_row(evidence: Evidence) -> bool:
    """Where a load has one number of connections only, or is of test programs, there is no curve of it."""
    grid = evidence.grid
    if grid is None or len(grid.columns) > COLORS or len(grid.rows) > MOST_PANELS:
        return False
    for row in grid.rows:
        found = places(row.of(evidence.trials))
        if len(found) == 1 or any(isinstance(place, str) for place in found):
            return False
    return True
