"""The plan of a run as a grid: a row for each point, a column for each block, a cell for each trial. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mydyno.lab.results.overviews import AttemptSummary
from mydyno.lab.results.records import CONTROL_BLOCK, PointRecord
from mydyno.page.format import printable

CellState = Literal["planned", "running", "valid", "invalid", "failed", "damaged"]
SIGNS: Mapping[CellState, str] = {
    "planned": "·", "running": "▶", "valid": "✓", "invalid": "✗", "failed": "!", "damaged": "?",
}  # fmt: skip
MOST_BLOCKS = 60
"""Of more, the last ones are shown."""


@dataclass(frozen=True)
class Planned:
    trial: str
    block: int
    point_id: str


@dataclass(frozen=True)
class Cell:
    trial: str
    block: int
    state: CellState
    reasons: tuple[str, ...] = ()
    attempts: int = 0

    @property
    def sign(self) -> str:
        return SIGNS[self.state]

    @property
    def words(self) -> str:
        """`t003, invalid: the server died`"""
        again = f", attempt {self.attempts}" if self.attempts > 1 else ""
        why = f": {'; '.join(self.reasons)}" if self.reasons else ""
        return f"{self.trial}{again}, {self.state}{why}"


@dataclass(frozen=True)
class GridRow:
    title: str
    cells: tuple[Cell | None, ...]
    """One for each block of the grid; None where the point has no trial in it."""


@dataclass(frozen=True)
class Grid:
    blocks: tuple[int, ...]
    rows: tuple[GridRow, ...]
    left_out: int
    """Blocks before the first one shown."""

    @property
    def states(self) -> tuple[CellState, ...]:
        """Those that occur, for the legend."""
        seen = {cell.state for row in self.rows for cell in row.cells if cell is not None}
        return tuple(state for state in SIGNS if state in seen)


def planned_trials(plan: str) -> tuple[Planned, ...]:
    """Those of a plan's JSON; none where it cannot be read (a plan of another version, a damaged file)."""
    try:
        document: Any = json.loads(plan)
        return tuple(
            Planned(str(one["id"]), int(one["block"]), str(one["point_id"])) for one in document["trials"]
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        return ()


def known_trials(attempts: Iterable[AttemptSummary]) -> tuple[Planned, ...]:
    """The trials that there are, for a run without a plan."""
    named = {one.trial_id: one for one in attempts if one.block >= 0}
    return tuple(Planned(name, one.block, one.point_id) for name, one in named.items())


def grid(
    planned: Sequence[Planned],
    points: Sequence[PointRecord],
    attempts: Sequence[AttemptSummary],
    running: Iterable[str] = (),
    lost: Mapping[str, str] | None = None,
) -> Grid:
    """`planned`: the trials that make the run complete. `running`: trials under way. `lost`: trial -> what of
    its files cannot be read."""
    last: dict[str, AttemptSummary] = {}
    count: dict[str, int] = {}
    for one in attempts:
        if one.block == CONTROL_BLOCK and one.fault is None:
            continue
        last[one.trial_id] = one
        count[one.trial_id] = count.get(one.trial_id, 0) + 1
    under_way, damaged = set(running), lost or {}

    def cell(one: Planned) -> Cell:
        if one.trial in under_way:
            return Cell(one.trial, one.block, "running", (), count.get(one.trial, 0) + 1)
        ended = last.get(one.trial)
        if ended is None:
            return Cell(one.trial, one.block, "planned")
        fault = ended.fault or damaged.get(one.trial)
        if fault is not None:
            return Cell(one.trial, one.block, "damaged", (printable(fault),), count[one.trial])
        state: CellState = ended.status if ended.measured else "failed"
        return Cell(one.trial, one.block, state, tuple(map(printable, ended.reasons)), count[one.trial])

    blocks = sorted({one.block for one in planned})
    shown = blocks[-MOST_BLOCKS:]
    cells = {(one.point_id, one.block): cell(one) for one in planned}
    rows = tuple(
        GridRow(
            printable(point.title) or "the only point",
            tuple(cells.get((point.point_id, block)) for block in shown),
        )
        for point in points
    )
    return Grid(tuple(shown), rows, len(blocks) - len(shown))


def complete_blocks(planned: Sequence[Planned], attempts: Sequence[AttemptSummary]) -> tuple[int, ...]:
    """The blocks of which every trial has ended, ascending."""
    ended = {one.trial_id for one in attempts}
    left = {one.block for one in planned if one.trial not in ended}
    return tuple(sorted({one.block for one in planned} - left))
