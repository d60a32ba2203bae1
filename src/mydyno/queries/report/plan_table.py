"""EXPLAIN as a table for a page."""

from __future__ import annotations

from collections.abc import Sequence

from mydyno.page.format import MISSING, count, number, printable
from mydyno.page.table import Table
from mydyno.queries.records import Plan, PlanRow
from mydyno.queries.report.plan_words import remarks

_NAMED = ("id", "select_type", "table", "partitions", "type", "possible_keys", "key", "key_len", "ref")


def plan_table(plan: Plan) -> Table:
    """As EXPLAIN has it, the remarks in front: there they are seen on every screen. Partitions are told where
    there are some."""
    named = [name for name in _NAMED if name != "partitions" or any(row.partitions for row in plan.rows)]
    heads = ("worth a look", *named, "rows", "filtered", "Extra")
    rows = tuple(_cells(row, named) for row in plan.rows)
    return Table(heads, rows, frozenset({*range(len(named) + 1), len(heads) - 1}))


def _cells(row: PlanRow, named: Sequence[str]) -> tuple[str, ...]:
    cells = (getattr(row, name) for name in named)
    return (
        "\n".join(remarks(row)),
        *(MISSING if each is None else printable(str(each)) for each in cells),
        count(row.rows),
        number(row.filtered),
        MISSING if row.extra is None else printable(row.extra),
    )
