"""Which columns an index for one access has, and in which order.

The rules are those of a B-tree that is read from left to right: columns with one value first, since whatever
follows is then in order; after a column with a range or several values nothing further narrows what is read,
or comes in order. Sources: MySQL Reference Manual, "Multiple-Column Indexes", "Range Optimization", "ORDER BY
Optimization"; Lahdenmäki and Leach, "Relational Database Index Design and the Optimizers", chapter 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mydyno.queries.candidates.schema import Access

MOST_COLUMNS = 6
"""More make an index wide and hardly narrower to search; a server takes at least 16."""
_UP_AND_DOWN = "goes up and down: only an index with DESC columns has that order (MySQL 8.0, MariaDB 10.8)"
Pattern = tuple[frozenset[str], ...]
"""An index in the making: blocks of columns, where the order inside a block is still free. Columns that are
compared with one value may be in any order before the rest, so `a = ? AND b = ?` is one block of two; with
`b = ?` alone it becomes (b, a), and one index serves both statements."""


@dataclass(frozen=True)
class Choice:
    pattern: Pattern
    """Empty: nothing that an index could look up or read in order."""
    joined: frozenset[str]
    """Of its columns those that come from a join."""
    rule: str
    """Why these columns in this order."""
    caveats: tuple[str, ...] = ()


def choose(access: Access, before: frozenset[str], *, in_order: bool) -> Choice:
    """`before`: the tables (aliases) read before this one; `in_order`: whether reading it in order pays."""
    joined = [column for column, others in access.joins if others <= before]
    equal = list(dict.fromkeys([*access.equal, *joined]))
    lists = [column for column in access.lists if column not in equal]
    ranges = [column for column in access.ranges if column not in equal and column not in lists]
    sort = _sort(access, equal) if in_order else ()
    unsorted = access.unsorted
    if access.sorting is not None and 0 < len(access.sorting.descending & {*sort}) < len(sort):
        unsorted, sort = f"{access.sorting.clause} {_UP_AND_DOWN}", ()
    clause = access.sorting.clause if access.sorting else ""
    blocks: list[frozenset[str]] = [frozenset(block) for block in (equal, lists) if block]
    parts: list[str] = []
    caveats: list[str] = []
    if equal:
        parts.append(f"{_named(access, equal)} with one value")
    if lists:
        parts.append(f"{_named(access, lists)} with several")
    if ranges:
        ranged = sort[0] if sort and sort[0] in ranges else ranges[0]
        others = [column for column in ranges if column != ranged]
        is_sorted = bool(sort) and sort[0] == ranged and not lists
        blocks += [frozenset((column,)) for column in (sort if is_sorted else (ranged,))]
        parts.append(
            f"the range of {_named(access, [ranged])}" + (f", which {clause} follows" if is_sorted else "")
        )
        if others:
            caveats.append(f"after the range of {ranged} {_named(access, others)} cannot narrow the search")
        if sort and not is_sorted:
            caveats.append(f"{clause} {_named(access, sort)} is still sorted: a range comes before it")
    elif sort and lists:
        caveats.append(f"{clause} {_named(access, sort)} is still sorted: a list of values comes before it")
    elif sort and (equal or access.limited):
        blocks += [frozenset((column,)) for column in sort]
        parts.append(f"{_named(access, sort)} in the order of {clause}")
    if unsorted and blocks:
        caveats.append(unsorted)
    pattern, dropped = _bounded(tuple(blocks), equal)
    if dropped:
        caveats.append(f"left out to keep it narrow: {_named(access, dropped)}")
    rule = f"{'looks up' if equal or lists or ranges else 'reads'} {', then '.join(parts)}"
    return Choice(pattern, frozenset(joined), rule, tuple(caveats))


def _sort(access: Access, equal: list[str]) -> tuple[str, ...]:
    """What is left to sort by: a column with one value is in any order."""
    if access.sorting is None:
        return ()
    return tuple(dict.fromkeys(column for column in access.sorting.columns if column not in equal))


def _bounded(pattern: Pattern, equal: list[str]) -> tuple[Pattern, list[str]]:
    """The pattern without what is too much; of columns with one value the first named stay."""
    room, kept, dropped = MOST_COLUMNS, list[frozenset[str]](), list[str]()
    for block in pattern:
        ordered = sorted(block, key=lambda column: equal.index(column) if column in equal else -1)
        taken = frozenset(ordered[:room]) if not dropped else frozenset()
        dropped += ordered[len(taken) :]
        kept += [taken] if taken else []
        room -= len(taken)
    return tuple(kept), dropped


def _named(access: Access, columns: list[str] | tuple[str, ...]) -> str:
    names = [access.spelled.get(column, column) for column in columns]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def is_covering(access: Access, pattern: Pattern) -> bool:
    """Whether an index on it holds everything that the block reads of the table."""
    return access.read is not None and access.read <= columns_of(pattern)


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
