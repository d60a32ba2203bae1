"""What a group needs of an index, table by table, in the order in which a join reads them; or why none."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mydyno.queries.candidates import refusing
from mydyno.queries.candidates.accesses import BlockAccesses, accesses_of
from mydyno.queries.candidates.choosing import Choice, Pattern, choose
from mydyno.queries.candidates.existing import different_values
from mydyno.queries.candidates.key_parts import can_be_indexed, fitted
from mydyno.queries.candidates.parsing import Parsed, Refused, parse_group
from mydyno.queries.candidates.schema import Access, Definition, Schema, TableName
from mydyno.queries.records import Group

_UNKNOWN_ROWS = 100_000
# What is left of a table after a condition, where no cardinality says so. MySQL's optimizer, too, guesses 0.1
# for an equality and 0.3333 for a range (COND_FILTER_EQUALITY, COND_FILTER_INEQUALITY in its sql/item.h).
_EQUAL, _LIST, _RANGE, _FIRST_ROWS = 0.1, 0.2, 0.3333, 0.01


@dataclass(frozen=True)
class Need:
    """An index that one access of a group would be served by."""

    group: Group
    access: Access
    choice: Choice
    reasons: tuple[str, ...]
    caveats: tuple[str, ...]
    per_row: float | None


@dataclass(frozen=True)
class Examined:
    needs: tuple[Need, ...] = ()
    why: tuple[str, ...] = ()
    """Why there are no others."""


def needs_of(group: Group, schema: Schema | None) -> Examined:
    if group.kind != "statement":
        return Examined(why=("it is not a statement",))
    shown_by = refusing.evidence(group)
    if shown_by.refusal is not None:
        return Examined(why=(shown_by.refusal,))
    parsed = parse_group(group)
    if isinstance(parsed, Refused):
        return Examined(why=(parsed.why,))
    database = database_of(group)
    blocks = accesses_of(parsed.tree, schema, database)
    if isinstance(blocks, Refused):
        return Examined(why=(blocks.why,))
    is_join = sum(len(block.accesses) for block in blocks) > 1
    wished: list[refusing.Wish] = []
    why: list[str] = []
    caveats = _caveats(group, parsed, blocks, schema, database)
    for wish in (
        each for block in blocks for each in _wishes(group, block, shown_by, schema, is_join=is_join)
    ):
        refused = refusing.refusals(wish, schema)
        why += refused
        if refused:
            caveats += [obstacle.says for obstacle in wish.access.obstacles]
        else:
            wished.append(wish)
    if not wished and not why:
        why.append("it searches no rows of a table")
    return Examined(tuple(_need(group, wish, caveats) for wish in wished), tuple(dict.fromkeys(why)))


def tables_of_group(group: Group) -> list[TableName]:
    """The tables that its statement reads, as it names them."""
    parsed = (
        parse_group(group) if refusing.evidence(group).refusal is None and group.kind == "statement" else None
    )
    if not isinstance(parsed, Parsed):
        return []
    blocks = accesses_of(parsed.tree, None, database_of(group))
    return [] if isinstance(blocks, Refused) else [each.table for block in blocks for each in block.accesses]


def database_of(group: Group) -> str:
    """Where its example ran; else the one in which all of it ran; else empty."""
    if group.example is not None and group.example.database:
        return group.example.database
    return group.databases[0][0] if len(group.databases) == 1 else ""


def _wishes(
    group: Group, block: BlockAccesses, shown_by: refusing.Evidence, schema: Schema | None, *, is_join: bool
) -> Iterator[refusing.Wish]:
    before = block.derived
    release = schema.release if schema is not None else None
    for access in reading_order(block.accesses, is_straight=block.is_straight, before=before):
        choice = choose(access, before, in_order=not before and _pays_in_order(block, access, shown_by))
        before |= {access.alias}
        named = [*access.equal, *choice.joined, *access.lists]
        pattern = _indexable(choice.pattern, access.definition)
        pattern, left_out = fitted(pattern, access.definition, named, release)
        row = refusing.plan_row(group, access.alias)
        yield refusing.Wish(access, replace(choice, pattern=pattern), shown_by, row, is_join, left_out)


def _need(group: Group, wish: refusing.Wish, caveats: list[str]) -> Need:
    own = [obstacle.says for obstacle in wish.access.obstacles]
    plan = [refusing.plan_reason(wish.plan)] if wish.plan is not None else []
    return Need(
        group,
        wish.access,
        wish.choice,
        (*wish.evidence.reasons, *plan),
        (*caveats, *own, *wish.left_out),
        wish.evidence.per_row,
    )


def _pays_in_order(block: BlockAccesses, access: Access, shown_by: refusing.Evidence) -> bool:
    """Whether it stops early; else a sort is spared, of rows of one table, and of more than a few."""
    if access.limited:
        return True
    is_by = access.sorting.clause if access.sorting else None
    few = shown_by.sent is not None and shown_by.sent < refusing.FEW_ROWS
    return len(block.accesses) == 1 and not (few and is_by == "ORDER BY")


def _indexable(pattern: Pattern, definition: Definition | None) -> Pattern:
    """The pattern up to the first column that no index can hold, or that the table does not have."""
    if definition is None:
        return pattern
    kept: list[frozenset[str]] = []
    for block in pattern:
        fits = frozenset(
            name for name in block if (column := definition.column(name)) and can_be_indexed(column)
        )
        kept += [fits] if fits else []
        if fits != block:
            break
    return tuple(kept)


def _caveats(
    group: Group, parsed: Parsed, blocks: list[BlockAccesses], schema: Schema | None, database: str
) -> list[str]:
    caveats: list[str] = []
    if unattributed := [name for block in blocks for name in block.unattributed]:
        caveats.append(f"the table of {', '.join(unattributed)} is unknown: left out")
    if parsed.is_folded and schema is None:
        caveats.append("made from the fingerprint: its names are in lower case")
    if parsed.of_fingerprint and re.search(r"\blike\s+\?", group.fingerprint, re.IGNORECASE):
        caveats.append(
            "whether a pattern of LIKE begins with a wildcard is not known: then no index serves it"
        )
    if len(group.databases) > 1 and database:
        caveats.append(f"the statement runs in {len(group.databases)} databases, this is for {database}")
    return caveats


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
