"""What is worth knowing of a line of EXPLAIN, in words.

Source: MySQL Reference Manual, "EXPLAIN Output Format" (join types, Extra); MariaDB documentation, "EXPLAIN".
"""

from __future__ import annotations

from mydyno.page.format import printable
from mydyno.queries.records import PlanRow

_TYPES = {"ALL": "reads the whole table", "index": "reads the whole index"}
_EXTRA = {
    "Using temporary": "makes a temporary table",
    "Using filesort": "sorts",
    "Using join buffer": "joins through a buffer, without an index",
    "Range checked for each record": "searches for an index again for each row",
    "Full scan on NULL key": "reads the whole table where the key is NULL",
}


def remarks(row: PlanRow) -> tuple[str, ...]:
    """What makes it slow, the most telling first; nothing of a line that finds its rows by an index."""
    found = [_TYPES[row.type]] if row.type in _TYPES else []
    if row.type in _TYPES and row.possible_keys and not row.key:
        found.append(f"though it could use {printable(row.possible_keys)}")
    extra = row.extra or ""
    return (*found, *(words for text, words in _EXTRA.items() if text.lower() in extra.lower()))
