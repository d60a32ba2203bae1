"""The blocks of a statement (its SELECTs, UPDATEs and DELETEs), their tables, and whose each column is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from mydyno.queries.candidates.schema import Definition, Schema, TableName

BLOCKS = (exp.Select, exp.Update, exp.Delete)
_OWN = frozenset({"mysql", "information_schema", "performance_schema", "sys"})


@dataclass(eq=False)
class Source:
    """What a block reads from, by its alias in lower case."""

    alias: str
    table: TableName | None
    """None for a source that is not a table: a subquery, a WITH, a function."""
    definition: Definition | None = None
    columns: frozenset[str] | None = None
    """In lower case; None where they are not known."""


@dataclass(frozen=True)
class Condition:
    """`only`: the aliases whose rows it can leave out; None for all.

    The ON of an outer join leaves out no outer row.
    """

    tree: exp.Expr
    only: frozenset[str] | None = None


@dataclass(eq=False)
class Block:
    node: exp.Expr
    parent: Block | None
    all: dict[int, Block] = field(repr=False)
    """Every block of the statement, by the identity of its node."""
    sources: list[Source] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    using: list[tuple[str, str, frozenset[str]]] = field(default_factory=list)
    """Column, alias, the aliases before it: JOIN ... USING."""
    follows: dict[str, frozenset[str]] = field(default_factory=dict)
    """By alias, those that an outer join reads before it."""
    is_straight: bool = False

    def own(self, column: exp.Column) -> Source | None:
        """The source of this block that a column is of; None where it is of another block, or not known."""
        source = self._source_of(column)
        return source if source in self.sources else None

    def is_own(self, column: exp.Column) -> bool:
        """Whether its value changes with the rows of this block; one of unknown origin may."""
        source = self._source_of(column)
        return source in self.sources or (source is None and column.find_ancestor(*BLOCKS) is self.node)

    def _source_of(self, column: exp.Column) -> Source | None:
        """As the innermost block around it names its sources, then the blocks around that one."""
        innermost = column.find_ancestor(*BLOCKS)
        block = self.all.get(id(innermost)) if innermost is not None else None
        return block._resolve(column) if block is not None else None

    def _resolve(self, column: exp.Column) -> Source | None:
        alias, database = column.table.casefold(), column.db.casefold()
        if alias:
            source = next((each for each in self.sources if _is_called(each, alias, database)), None)
        else:
            source = self._owner(column.name)
        if source is None and self.parent is not None and (alias or not self._may_own(column.name)):
            return self.parent._resolve(column)
        return source

    def _owner(self, name: str) -> Source | None:
        """The one source that has a column of this name, as far as that is known."""
        folded = name.casefold()
        having = [each for each in self.sources if each.columns is not None and folded in each.columns]
        unknown = [each for each in self.sources if each.columns is None]
        if len(having) == 1 and not unknown:
            return having[0]
        return unknown[0] if not having and len(unknown) == 1 and len(self.sources) == 1 else None

    def _may_own(self, name: str) -> bool:
        return any(each.columns is None or name.casefold() in each.columns for each in self.sources)

    def unattributed(self) -> tuple[str, ...]:
        """Columns of its conditions that could be of several of its sources."""
        columns = (column for each in self.conditions for column in each.tree.find_all(exp.Column))
        return tuple(
            dict.fromkeys(
                each.name
                for each in columns
                if self.is_own(each) and self.own(each) is None and not each.table
            )
        )


def blocks_of(tree: exp.Expr, schema: Schema | None, database: str) -> list[Block]:
    """The blocks, outer ones first. `database`: the session's, empty where it is not known."""
    withs = {each.alias.casefold(): _given_by(each) for each in tree.find_all(exp.CTE)}
    made: dict[int, Block] = {}
    for node in tree.walk(bfs=False):
        if isinstance(node, BLOCKS):
            parent = node.find_ancestor(*BLOCKS)
            block = Block(node, made.get(id(parent)) if parent is not None else None, made)
            made[id(node)] = block
            _Reader(block, schema, database, withs).read()
    return list(made.values())


def inside(block: Block, tree: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of a block's expression, without those of blocks nested in it."""
    for node in tree.walk(prune=lambda each: each is not tree and isinstance(each, BLOCKS)):
        if node is block.node or not isinstance(node, BLOCKS):
            yield node


@dataclass
class _Reader:
    """Fills in a block's sources and conditions."""

    block: Block
    schema: Schema | None
    database: str
    withs: dict[str, frozenset[str] | None]
    """The columns of each WITH."""

    def read(self) -> None:
        node = self.block.node
        if isinstance(node, exp.Select):
            start = node.args.get("from_")
            self._source(start.this if start is not None else None)
            modifiers = node.args.get("operation_modifiers") or []
            self.block.is_straight = any(each.name.upper() == "STRAIGHT_JOIN" for each in modifiers)
        else:
            using = node.args.get("using")
            for each in using if isinstance(using, list) and using else [node.this]:
                self._source(each)
        self._joins(node)
        where = node.args.get("where")
        if where is not None:
            self.block.conditions.append(Condition(where.this))

    def _source(self, node: exp.Expr | None) -> None:
        if isinstance(node, exp.Subquery | exp.Paren) and isinstance(node.this, exp.Table):
            self._source(node.this)
            self._joins(node)
        elif isinstance(node, exp.Table):
            self._add(node.alias_or_name, self._table(node), self.withs.get(node.name.casefold()))
            self._joins(node)
        elif node is not None:
            self._add(node.alias_or_name, None, _given_by(node))

    def _table(self, node: exp.Table) -> TableName | None:
        if not isinstance(node.this, exp.Identifier):
            return None
        if not node.db and node.name.casefold() in self.withs:
            return None
        name = TableName(node.name, node.db or self.database)
        return None if name.database.casefold() in _OWN or name.name.casefold() == "dual" else name

    def _add(self, alias: str, table: TableName | None, given: frozenset[str] | None) -> None:
        """`given`: the columns of a source that is not a table."""
        if table is None:
            self.block.sources.append(Source(alias.casefold(), None, None, given))
            return
        definition = self.schema.find(table) if self.schema is not None else None
        name = definition.name if definition is not None else table
        columns = frozenset(each.name.casefold() for each in definition.columns) if definition else None
        self.block.sources.append(Source(alias.casefold(), name, definition, columns))

    def _joins(self, node: exp.Expr) -> None:
        for join in node.args.get("joins") or []:
            before = [each.alias for each in self.block.sources]
            self._source(join.this)
            added = [each.alias for each in self.block.sources if each.alias not in before]
            inner = {"LEFT": frozenset(added), "RIGHT": frozenset(before)}.get(join.side)
            for name in join.args.get("using") or []:
                column = name.name.casefold()
                self.block.using += [(column, alias, frozenset(before)) for alias in added]
                self.block.using += [(column, alias, frozenset(added)) for alias in before[-1:]]
            if join.args.get("on") is not None:
                self.block.conditions.append(Condition(join.args["on"], inner))
            if inner:
                outer = frozenset([*before, *added]) - inner
                for alias in inner:
                    self.block.follows[alias] = self.block.follows.get(alias, frozenset()) | outer
            if join.kind == "STRAIGHT_JOIN":
                for alias in added:
                    self.block.follows[alias] = self.block.follows.get(alias, frozenset()) | frozenset(before)


def _given_by(node: exp.Expr) -> frozenset[str] | None:
    """The columns that a subquery gives; None where they are not known."""
    named = node.args.get("alias")
    if named is not None and named.args.get("columns"):
        return frozenset(each.name.casefold() for each in named.args["columns"])
    inner = node.this
    while isinstance(inner, exp.Subquery | exp.SetOperation):
        inner = inner.this
    if not isinstance(inner, exp.Select) or any(each.is_star for each in inner.expressions):
        return None
    return frozenset(each.alias_or_name.casefold() for each in inner.expressions)


def _is_called(source: Source, alias: str, database: str) -> bool:
    if source.alias != alias:
        return False
    return not database or source.table is None or source.table.database.casefold() in ("", database)
