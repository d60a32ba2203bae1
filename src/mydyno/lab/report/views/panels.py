"""Curves as panels: one for each combination of the factors that are not across, and for each metric.

Within a panel lines differ in one factor, as in the figures of a Korean comparison of 2012: throughput
against threads, a line for each RAID level, a panel for each size of the buffer pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mydyno.core.factors import last_part
from mydyno.lab.analysis.grid import Grid, GridRow
from mydyno.lab.report.evidence import Evidence
from mydyno.lab.report.views.curves import Curve, Curves


@dataclass(frozen=True)
class Panel:
    title: str
    """Empty where it is the only one."""
    subtitle: str
    """What the title is a level of; empty where that is clear."""
    curves: Curves
    own_names: bool
    """Its lines are named after the levels of one factor, not after settings."""


def panels(evidence: Evidence, of: Sequence[Curves]) -> tuple[Panel, ...]:
    """Without those of which nothing was measured."""
    grid = evidence.grid
    views = [view for view in of if not view.empty]
    if grid is None or not evidence.crossed:
        return tuple(Panel(view.metric.noun if len(views) > 1 else "", "", view, False) for view in views)
    names = tuple(last_part(factor) for factor in grid.others)
    found = (
        Panel(
            row.name,
            ", ".join((*names, *((view.metric.noun,) if len(views) > 1 else ()))),
            _of_row(grid, row, view),
            True,
        )
        for row in grid.rows
        for view in views
    )
    return tuple(panel for panel in found if not panel.curves.empty)


def _of_row(grid: Grid, row: GridRow, view: Curves) -> Curves:
    by_point = {curve.setting.point_id: curve for curve in view.curves}

    def curves() -> Iterator[Curve]:
        for level, point in zip(grid.columns, row.points, strict=True):
            if point is not None:
                curve = by_point[point.point_id]
                yield replace(curve, name=f"{level}{curve.setting.sign}")

    return replace(view, curves=tuple(curves()))
