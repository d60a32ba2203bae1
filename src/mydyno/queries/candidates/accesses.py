"""The accesses of a statement: what each of its blocks needs of each table, as plain records."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from mydyno.queries.candidates.blocks import Block, Source, blocks_of, inside
from mydyno.queries.candidates.conditions import Blocked, Conditions, Lookup, Lookups
from mydyno.queries.candidates.parsing import NOT_UNDERSTOOD, Refused, refused
from mydyno.queries.candidates.schema import Access, Clause, Obstacle, Schema, Sorting, Verb


@dataclass(frozen=True)
class BlockAccesses:
    accesses: tuple[Access, ...]
    """In the order in which the statement names the tables."""
    derived: frozenset[str]
    """Aliases of sources that are not tables."""
    is_straight: bool
    """Whether the statement demands its own order of tables."""
    unattributed: tuple[str, ...]
    """Columns of conditions that could be of several tables."""


def accesses_of(tree: exp.Expr, schema: Schema | None, database: str) -> list[BlockAccesses] | Refused:
    """Of each block that reads a table. `database`: the session's, empty where it is not known.

    The parser takes much that no server would, and then gives trees of which parts are missing or of another
    kind: such a statement is refused, as one that it does not take.
    """
    try:
        return _accesses(tree, schema, database)
    except NOT_UNDERSTOOD as error:
        return refused(error)


def _accesses(tree: exp.Expr, schema: Schema | None, database: str) -> list[BlockAccesses]:
    release = schema.release if schema is not None else None
    of_blocks: list[BlockAccesses] = []
    for block in blocks_of(tree, schema, database):
        conditions, order = Conditions(block, release).lookups(), sorted_by(block)
        read = _read(block)
        accesses = [
            _access(block, source, conditions, order, read.get(source.alias))
            for source in block.sources
            if source.table is not None
        ]
        if accesses:
            derived = frozenset(each.alias for each in block.sources if each.table is None)
            of_blocks.append(BlockAccesses(tuple(accesses), derived, block.is_straight, block.unattributed()))
    return of_blocks


def _access(
    block: Block, source: Source, conditions: Lookups, order: Sorted, read: frozenset[str] | None
) -> Access:
    assert source.table is not None, "the caller has checked"
    lookups = [each for each in conditions if isinstance(each, Lookup) and each.source is source]
    blocked = [each for each in conditions if isinstance(each, Blocked) and each.source is source]
    constant = [each for each in lookups if not each.others]
    return Access(
        table=source.table,
        alias=source.alias,
        verb=_verb(block),
        definition=source.definition,
        equal=_names(constant, "equal"),
        lists=_names(constant, "list"),
        ranges=_names(constant, "range"),
        joins=tuple((each.column, each.others) for each in lookups if each.others),
        sorting=order.sorting if order.source is source else None,
        unsorted=order.unsorted,
        limited=is_limited(block),
        locks=not isinstance(block.node, exp.Select) or bool(block.node.args.get("locks")),
        follows=block.follows.get(source.alias, frozenset()),
        read=read,
        obstacles=tuple(dict.fromkeys(Obstacle(each.columns, each.says) for each in blocked)),
        spelled=_spelled(block, source),
    )


def _names(lookups: list[Lookup], kind: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.column for each in lookups if each.kind == kind))


def _verb(block: Block) -> Verb:
    if isinstance(block.node, exp.Update):
        return "UPDATE"
    return "DELETE" if isinstance(block.node, exp.Delete) else "SELECT"


def _read(block: Block) -> dict[str, frozenset[str] | None]:
    """The columns that a block uses, by the source's alias; None for all, or where that is not known."""
    whole = {each.alias: None for each in block.sources}
    if not isinstance(block.node, exp.Select) or any(
        isinstance(each, exp.Star) for each in block.node.expressions
    ):
        return dict(whole)
    used: dict[str, set[str]] = {each.alias: set() for each in block.sources}
    all_of: set[str] = set()
    for column in block.node.find_all(exp.Column):
        source = block.own(column)
        if source is not None and isinstance(column.this, exp.Star):
            all_of.add(source.alias)
        elif source is not None:
            used[source.alias].add(column.name.casefold())
        elif block.is_own(column):
            return dict(whole)
    return {alias: None if alias in all_of else frozenset(names) for alias, names in used.items()}


def _spelled(block: Block, source: Source) -> dict[str, str]:
    """Columns as the schema, else the statement, spells them."""
    spelled: dict[str, str] = {}
    for column in block.node.find_all(exp.Column):
        if block.own(column) is source and isinstance(column.this, exp.Identifier):
            spelled.setdefault(column.name.casefold(), column.name)
    for name, _, _ in block.using:
        spelled.setdefault(name, name)
    if source.definition is not None:
        spelled |= {each.name.casefold(): each.name for each in source.definition.columns}
    return spelled


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
