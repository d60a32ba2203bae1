"""What a block's conditions need of each of its tables: what an index could look up, and what it cannot."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from mydyno.core.server_version import Version
from mydyno.queries.candidates import obstacles
from mydyno.queries.candidates.blocks import Block, Source, inside

Kind = Literal["equal", "list", "range"]
_RANGES = (exp.GT, exp.GTE, exp.LT, exp.LTE)
_SAME = (exp.EQ, exp.NullSafeEQ)
_DRAWN = (exp.Rand, exp.Uuid)


@dataclass(frozen=True)
class Lookup:
    """A comparison that an index on the column could look up."""

    source: Source
    column: str
    kind: Kind
    others: frozenset[str] = frozenset()
    """The tables (aliases) whose rows give the value; none for a constant."""


@dataclass(frozen=True)
class Blocked:
    """One that it could not."""

    source: Source
    columns: tuple[str, ...]
    """Those of which an index is of no use; none where one may still help."""
    says: str


Lookups = list[Lookup | Blocked]


@dataclass(frozen=True)
class Conditions:
    block: Block
    release: Version | None

    def lookups(self) -> Lookups:
        lookups: Lookups = []
        for condition in self.block.conditions:
            only = condition.only
            lookups += [
                each for each in self._of(condition.tree) if only is None or each.source.alias in only
            ]
        for column, alias, others in self.block.using:
            source = next(each for each in self.block.sources if each.alias == alias)
            lookups.append(Lookup(source, column, "equal", others))
        return lookups

    def _of(self, tree: exp.Expr) -> Lookups:
        if isinstance(tree, exp.Paren):
            return self._of(tree.this)
        if isinstance(tree, exp.And):
            return [lookup for part in tree.flatten() for lookup in self._of(part)]
        if isinstance(tree, exp.Or):
            return self._either(list(tree.flatten()))
        if isinstance(tree, _SAME):
            return self._same(tree.this, tree.expression)
        if isinstance(tree, _RANGES):
            return self._range(tree.this, [tree.expression]) or self._range(tree.expression, [tree.this])
        if isinstance(tree, exp.Between):
            return self._between(tree.this, tree.args["low"], tree.args["high"])
        if isinstance(tree, exp.In):
            return self._in(tree)
        if isinstance(tree, exp.Is):
            return self._is(tree)
        if isinstance(tree, exp.Like):
            return self._like(tree)
        return self._other(tree)

    def _same(self, left: exp.Expr, right: exp.Expr) -> Lookups:
        left, right = _bare(left), _bare(right)
        if isinstance(left, exp.Tuple) and isinstance(right, exp.Tuple):
            pairs = zip(left.expressions, right.expressions, strict=False)
            return [lookup for one, other in pairs for lookup in self._same(one, other)]
        return [*self._side(left, right, "equal"), *self._side(right, left, "equal")]

    def _side(self, side: exp.Expr, other: exp.Expr, kind: Kind) -> Lookups:
        """What an index on `side` could do, with `other` as the value that is looked for."""
        mine, theirs = self._sources(side), self._sources(other)
        if len(mine) != 1 or None in mine or None in theirs:
            return []
        (source,) = mine
        assert source is not None, "checked above"
        if source in theirs:
            return []
        names = _columns(side)
        if any(isinstance(node, _DRAWN) for node in inside(self.block, other)):
            return [Blocked(source, names, obstacles.RANDOM.format(obstacles.written(other)))]
        if not isinstance(side, exp.Column):
            if obstacles.is_date_range(side, self.release):
                return [Lookup(source, names[0], "range")] if not theirs else []
            return [Blocked(source, names, obstacles.of_expression(side, ", ".join(names)))]
        known = source.definition.column(side.name) if source.definition else None
        if known is not None and obstacles.is_converted_number(known, other):
            return [Blocked(source, names, obstacles.of_number(known))]
        if isinstance(other, exp.Column) and theirs:
            (another,) = theirs
            of_other = another.definition.column(other.name) if another and another.definition else None
            if (why := obstacles.of_join(known, of_other, self.release)) is not None:
                return [Blocked(source, names, why)]
        others = frozenset(each.alias for each in theirs if each is not None)
        # A range whose end is another table's row is looked at again for each row, and hardly ever taken.
        return [] if others and kind != "equal" else [Lookup(source, names[0], kind, others)]

    def _range(self, side: exp.Expr, ends: list[exp.Expr]) -> Lookups:
        side = _bare(side)
        if isinstance(side, exp.Tuple):
            return [
                Blocked(source, _columns(side), obstacles.ROWS.format(", ".join(_columns(side))))
                for source in self._sources(side)
                if source is not None
            ]
        lookups = [self._side(side, _bare(end), "range") for end in ends]
        return lookups[0] if all(lookups) and lookups else []

    def _between(self, side: exp.Expr, low: exp.Expr, high: exp.Expr) -> Lookups:
        if self._sources(side):
            return self._range(side, [low, high])
        # A value between two columns: each has a range, open at one end.
        return [*self._range(low, [side]), *self._range(high, [side])]

    def _in(self, tree: exp.In) -> Lookups:
        side, values = _bare(tree.this), tree.expressions
        kind: Kind = "equal" if len(values) == 1 and not isinstance(values[0], exp.Placeholder) else "list"
        if isinstance(side, exp.Tuple):
            return self._in_rows(side, [_bare(each) for each in values], kind)
        if tree.args.get("query") is not None:
            return self._in_query(side, tree.args["query"])
        return self._in_list(side, values, kind)

    def _in_rows(self, side: exp.Tuple, rows: list[exp.Expr], kind: Kind) -> Lookups:
        """(a, b) IN ((1, 2), (3, 4)); a row of a fingerprint is a mere `?`."""
        lookups: Lookups = []
        for at, column in enumerate(side.expressions):
            values = [row.expressions[at] if _has(row, at) else row for row in rows]
            lookups += self._in_list(column, values, kind) if isinstance(column, exp.Column) else []
        return lookups

    def _in_list(self, side: exp.Expr, values: list[exp.Expr], kind: Kind) -> Lookups:
        lookups = [self._side(side, _bare(value), kind) for value in values]
        blocked = next((each for each in lookups if any(isinstance(one, Blocked) for one in each)), None)
        return blocked if blocked is not None else (lookups[0] if lookups and all(lookups) else [])

    def _in_query(self, side: exp.Expr, query: exp.Expr) -> Lookups:
        """Values that come from a subquery which does not look at this block's rows."""
        if any(self.block.own(column) for column in query.find_all(exp.Column)):
            return []
        mine = self._sources(side)
        if not isinstance(side, exp.Column) or len(mine) != 1 or None in mine:
            return []
        (source,) = mine
        return [Lookup(source, side.name.casefold(), "list")] if source is not None else []

    def _is(self, tree: exp.Is) -> Lookups:
        if isinstance(tree.expression, exp.Null):
            return self._side(_bare(tree.this), tree.expression, "equal")
        return self._truth(tree.this)

    def _like(self, tree: exp.Like) -> Lookups:
        side, pattern = _bare(tree.this), tree.expression
        if isinstance(side, exp.Column) and isinstance(pattern, exp.Literal) and pattern.is_string:
            source = self.block.own(side)
            if source is not None and pattern.name[:1] in ("%", "_"):
                return [Blocked(source, _columns(side), obstacles.of_like(side.name, pattern.name))]
        if isinstance(pattern, exp.Concat) and pattern.expressions and _begins_wild(pattern.expressions[0]):
            source = self.block.own(side) if isinstance(side, exp.Column) else None
            return [Blocked(source, _columns(side), obstacles.of_like(side.name, "%"))] if source else []
        return self._side(side, pattern, "range")

    def _truth(self, tree: exp.Expr) -> Lookups:
        tree = _bare(tree)
        source = self.block.own(tree) if isinstance(tree, exp.Column) else None
        return [Blocked(source, (), obstacles.TRUTH.format(tree.name))] if source else []

    def _other(self, tree: exp.Expr) -> Lookups:
        if isinstance(tree, exp.Column):
            return self._truth(tree)
        if isinstance(tree, exp.RegexpLike | exp.MatchAgainst):
            columns = [each for each in inside(self.block, tree) if isinstance(each, exp.Column)]
            names = tuple(each.name.casefold() for each in columns)
            shown = ", ".join(each.name for each in columns)
            is_match = isinstance(tree, exp.MatchAgainst)
            says = (obstacles.WORDS if is_match else obstacles.REGULAR_EXPRESSION).format(shown)
            sources = {source for each in columns if (source := self.block.own(each)) is not None}
            return [Blocked(source, names, says) for source in sources]
        return []

    def _either(self, branches: list[exp.Expr]) -> Lookups:
        """OR: an index helps with a column that every branch compares."""
        of_branches = [self._of(branch) for branch in branches]
        compared = [
            {(each.source, each.column): each for each in branch if isinstance(each, Lookup)}
            for branch in of_branches
        ]
        blocked: Lookups = [each for branch in of_branches for each in branch if isinstance(each, Blocked)]
        common = [key for key in compared[0] if all(key in branch for branch in compared[1:])]
        shared: Lookups = []
        for source, column in common:
            each = [branch[source, column] for branch in compared]
            if any(one.others for one in each):
                continue
            kind: Kind = "range" if any(one.kind == "range" for one in each) else "list"
            shared.append(Lookup(source, column, kind))
        if shared:
            return [*shared, *blocked]
        named: dict[Source, list[str]] = {}
        for branch in compared:
            for source, column in branch:
                named.setdefault(source, []).append(column)
        return [*blocked, *(_over(source, columns) for source, columns in named.items())]

    def _sources(self, tree: exp.Expr) -> set[Source | None]:
        """Whose columns are in it; None for one of unknown origin, none for an outer block's."""
        columns = (node for node in tree.walk() if isinstance(node, exp.Column))
        return {self.block.own(column) for column in columns if self.block.is_own(column)}


def _over(source: Source, columns: Iterable[str]) -> Blocked:
    names = dict.fromkeys(columns)
    return Blocked(source, (), obstacles.EITHER.format(" and ".join(names)))


def _bare(tree: exp.Expr) -> exp.Expr:
    while isinstance(tree, exp.Paren):
        tree = tree.this
    return tree


def _columns(tree: exp.Expr) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.name.casefold() for each in tree.find_all(exp.Column)))


def _has(row: exp.Expr, place: int) -> bool:
    return isinstance(row, exp.Tuple) and place < len(row.expressions)


def _begins_wild(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Literal) and tree.name[:1] in ("%", "_")
