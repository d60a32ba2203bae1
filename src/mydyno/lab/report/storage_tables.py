"""The environment's numbers and facts as tables of text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from mydyno.lab.report.tables import FEW
from mydyno.lab.report.views.ground import OPERATIONS, CheckRow, GroundView, StackRow
from mydyno.page.format import MISSING, count, interval
from mydyno.page.table import Table

_CELL = 60
"""Characters of a line within a cell."""


def storage_tables(view: GroundView) -> tuple[Table, ...]:
    """What differs between the settings, and what is the same in all; without those that are empty."""
    differing = [row for row in view.stack if row.differs]
    same = [row for row in view.stack if not row.differs]
    tables = []
    if differing:
        tables.append(_differing_storage(view, differing))
    if same:
        rows = tuple((_fact(view, row), _folded(row.values[0])) for row in same)
        heading = "the same in every setting" if len(view.settings) > 1 else "storage"
        tables.append(Table((heading, "read back"), rows, frozenset({0, 1})))
    return tuple(tables)


def _differing_storage(view: GroundView, facts: Sequence[StackRow]) -> Table:
    """Facts down and settings across; transposed where settings are many."""
    titles = [setting.title for setting in view.settings]
    if len(titles) <= FEW:
        down = tuple((_fact(view, row), *map(_folded, row.values)) for row in facts)
        return Table(("storage", *titles), down, frozenset(range(len(titles) + 1)))
    across = tuple(
        (title, *(_folded(row.values[place]) for row in facts)) for place, title in enumerate(titles)
    )
    names = (_fact(view, row) for row in facts)
    return Table(("setting", *names), across, frozenset(range(len(facts) + 1)))


def _fact(view: GroundView, row: StackRow) -> str:
    """`chunk`, or `data: chunk` where there are several volumes."""
    several = len({each.volume for each in view.stack}) > 1
    return f"{row.volume}: {row.name}" if several else row.name


def _folded(value: str | None) -> str:
    return MISSING if value is None else textwrap.fill(value, _CELL) or "(none)"


def self_checks_table(view: GroundView) -> Table:
    """Expected and measured IOPS of each operation on each volume."""
    columns = ("setting", "volume", "check", "n", "expected", "measured", "of expected", "least idle CPU")
    return Table(columns, tuple(map(_check_row, view.checks)), frozenset({0, 1, 2}))


def _check_row(row: CheckRow) -> tuple[str, ...]:
    least, most = min(row.measured_iops, default=None), max(row.measured_iops, default=None)
    spread = "" if len(row.measured_iops) < 2 else f" ({interval(least, most, count)})"
    return (
        row.setting.title,
        row.volume,
        f"{row.block_bytes // 1024}K {OPERATIONS[row.operation]}",
        str(len(row.measured_iops)),
        count(row.expected_iops),
        f"{count(row.mean_iops)}{spread}",
        MISSING if row.ratio is None else f"{row.ratio * 100:.0f}%",
        MISSING if row.least_idle is None else f"{row.least_idle * 100:.0f}%",
    )
