"""The accesses of a statement: what each of its blocks needs of each table, as plain records."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from mydyno.queries.candidates.access import Access, Obstacle, Verb
from mydyno.queries.candidates.blocks import Block, Source, blocks_of
from mydyno.queries.candidates.conditions import Blocked, Conditions, Lookup, Lookups
from mydyno.queries.candidates.parsing import NOT_UNDERSTOOD, Refused, refused
from mydyno.queries.candidates.schema import Schema
from mydyno.queries.candidates.sorting import Sorted, is_limited, sorted_by


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
