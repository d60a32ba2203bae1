"""In which order the tables of a join are best read, as far as the statement and the schema show."""

from __future__ import annotations

from collections.abc import Sequence

from mydyno.queries.candidates.access import Access
from mydyno.queries.candidates.existing import different_values

_UNKNOWN_ROWS = 100_000
# What is left of a table after a condition, where no cardinality says so. MySQL's optimizer, too, guesses 0.1
# for an equality and 0.3333 for a range (COND_FILTER_EQUALITY, COND_FILTER_INEQUALITY in its sql/item.h).
_EQUAL, _LIST, _RANGE, _FIRST_ROWS = 0.1, 0.2, 0.3333, 0.01


def reading_order(accesses: Sequence[Access], *, is_straight: bool, before: frozenset[str]) -> list[Access]:
    """The one with the fewest rows left first, then always the next that is joined to what was read.

    `before`: aliases that are there from the start. An outer join's inner table comes after the outer ones.
    """
    if is_straight:
        return list(accesses)
    left, ordered, read = list(accesses), list[Access](), before
    while left:
        possible = [each for each in left if each.follows <= read] or left
        joined = [each for each in possible if any(others <= read for _, others in each.joins)]
        following = min(joined if joined and read else possible, key=_rows_left)
        ordered.append(following)
        left.remove(following)
        read |= {following.alias}
    return ordered


def _rows_left(access: Access) -> float:
    """After the conditions with constants."""
    definition = access.definition
    rows = definition.rows if definition is not None and definition.rows is not None else _UNKNOWN_ROWS
    share = _LIST ** len(access.lists) * _RANGE ** len(access.ranges)
    for column in access.equal:
        different = different_values(definition, column) if definition is not None else None
        share *= 1 / different if different else _EQUAL
    if access.sorting is not None and access.limited:
        share *= _FIRST_ROWS
    return rows * share
