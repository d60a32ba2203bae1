"""What a block sorts or groups by, where an index of one table could give that order."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from mydyno.queries.candidates.access import Clause, Sorting
from mydyno.queries.candidates.blocks import Block, Source, inside


@dataclass(frozen=True)
class Sorted:
    source: Source | None = None
    sorting: Sorting | None = None
    unsorted: str | None = None
    """Why no index gives it."""


def sorted_by(block: Block) -> Sorted:
    """GROUP BY before ORDER BY, as it is done first; MIN or MAX of one column is the end of its order."""
    group, order = block.node.args.get("group"), block.node.args.get("order")
    if group is not None and group.expressions:
        return _of(block, "GROUP BY", [(each, False) for each in group.expressions])
    if order is not None and order.expressions:
        return _of(
            block, "ORDER BY", [(each.this, bool(each.args.get("desc"))) for each in order.expressions]
        )
    ends = _ends(block.node)
    return _of(block, "MIN/MAX", [(ends, False)]) if ends is not None else Sorted()


def is_limited(block: Block) -> bool:
    """Whether it stops as soon as it has its rows: with LIMIT, and nothing that needs all rows first."""
    node = block.node
    if _ends(node) is not None:
        return True
    if node.args.get("limit") is None or node.args.get("group") or node.args.get("distinct"):
        return False
    return not any(isinstance(each, exp.AggFunc) for part in node.expressions for each in inside(block, part))


def _of(block: Block, clause: Clause, terms: list[tuple[exp.Expr, bool]]) -> Sorted:
    sources: set[Source | None] = set()
    columns: list[str] = []
    for term, _ in terms:
        column = _selected(block.node, term)
        if not isinstance(column, exp.Column):
            return Sorted(unsorted=f"{clause} uses an expression, whose order no index has")
        sources.add(block.own(column))
        columns.append(column.name.casefold())
    if len(sources) != 1 or None in sources:
        return Sorted(unsorted=f"{clause} uses columns of several or unknown tables")
    down = frozenset(column for column, (_, descending) in zip(columns, terms, strict=True) if descending)
    return Sorted(sources.pop(), Sorting(tuple(columns), down, clause))


def _selected(node: exp.Expr, term: exp.Expr) -> exp.Expr:
    """What a term means: a number is a place in the SELECT list, a name may be an alias there."""
    if isinstance(term, exp.Literal) and not term.is_string and term.name.isdigit():
        place = int(term.name) - 1
        return node.expressions[place].unalias() if 0 <= place < len(node.expressions) else term
    if isinstance(term, exp.Column) and not term.table:
        for each in node.expressions:
            if isinstance(each, exp.Alias) and each.alias.casefold() == term.name.casefold():
                return each.unalias()
    return term


def _ends(node: exp.Expr) -> exp.Expr | None:
    """The column of a SELECT of nothing but its MIN or MAX."""
    if not isinstance(node, exp.Select) or len(node.expressions) != 1 or node.args.get("group"):
        return None
    only = node.expressions[0].unalias()
    return only.this if isinstance(only, exp.Min | exp.Max) and isinstance(only.this, exp.Column) else None
