"""An index in the making: blocks of columns, where the order inside a block is still free.

Columns that are compared with one value may be in any order before the rest, so `a = ? AND b = ?` is one
block of two. That freedom lets one index serve more statements: with `b = ?` alone it becomes (b, a).
"""

from __future__ import annotations

from collections.abc import Sequence

Pattern = tuple[frozenset[str], ...]


def columns_of(pattern: Pattern) -> frozenset[str]:
    return frozenset().union(*pattern)


def merged(one: Pattern, other: Pattern) -> Pattern | None:
    """A pattern whose indexes begin with what both want; the shorter is served by the longer's beginning.

    None when there is no such order of columns.
    """
    left, right = list(one), list(other)
    together: list[frozenset[str]] = []
    while left and right:
        first, second = left[0], right[0]
        common = first & second
        if not common or (first - second and second - first):
            return None
        together.append(common)
        left[:1] = [first - second] if first - second else []
        right[:1] = [second - first] if second - first else []
    return (*together, *left, *right)


def begins(columns: Sequence[str], pattern: Pattern) -> bool:
    """Whether an index on these columns, in their order, begins with the pattern."""
    at = 0
    for block in pattern:
        if frozenset(columns[at : at + len(block)]) != block:
            return False
        at += len(block)
    return True
