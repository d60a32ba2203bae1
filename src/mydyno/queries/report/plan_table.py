"""EXPLAIN as a table for a page, and what is worth knowing of its lines, in words.

Source: MySQL Reference Manual, "EXPLAIN Output Format" (join types, Extra); MariaDB documentation, "EXPLAIN".
"""

from collections.abc import Sequence

from mydyno.page.format import MISSING, count, number, printable
from mydyno.page.table import Table
from mydyno.queries.records import Plan, PlanRow

_NAMED = ("id", "select_type", "table", "partitions", "type", "possible_keys", "key", "key_len", "ref")

_TYPES = {"ALL": "reads the whole table", "index": "reads the whole index"}
_EXTRA = {
    "Using temporary": "makes a temporary table",
    "Using filesort": "sorts",
    "Using join buffer": "joins through a buffer, without an index",
    "Range checked for each record": "searches for an index again for each row",
    "Full scan on NULL key": "reads the whole table where the key is NULL",
}


def plan_table(plan: Plan) -> Table:
    """As EXPLAIN has it, the remarks in front: there they are seen on every screen. Partitions are shown
    where there are some."""
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


def remarks(row: PlanRow) -> tuple[str, ...]:
    """What makes it slow, the most important first; none for a line that finds its rows by an index."""
    scans = [_TYPES[row.type]] if row.type in _TYPES else []
    if scans and row.possible_keys and not row.key:
        scans.append(f"though it could use {printable(row.possible_keys)}")
    extra = row.extra or ""
    return (*scans, *(words for text, words in _EXTRA.items() if text.lower() in extra.lower()))
