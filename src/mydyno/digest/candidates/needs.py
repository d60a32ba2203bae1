"""What a group needs of an index, table by table; or why it needs none."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mydyno.digest.candidates.access import Access
from mydyno.digest.candidates.accesses import BlockAccesses, accesses_of
from mydyno.digest.candidates.choosing import Choice, choose
from mydyno.digest.candidates.evidence import FEW_ROWS, Evidence, evidence, is_served, plan_reason, plan_row
from mydyno.digest.candidates.existing import (
    LARGE_SHARE,
    begins_with_any,
    serving,
    shown,
    why_not_used,
)
from mydyno.digest.candidates.joins import reading_order
from mydyno.digest.candidates.key_parts import can_be_indexed, fitted, values
from mydyno.digest.candidates.parsing import Parsed, Refused, parse_group
from mydyno.digest.candidates.pattern import Pattern, columns_of
from mydyno.digest.candidates.schema import Definition, Schema, TableName
from mydyno.digest.records import Group

TINY_ROWS = 1_000
"""A table of so few is read whole in less than a millisecond."""


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
class Looked:
    needs: tuple[Need, ...] = ()
    why: tuple[str, ...] = ()
    """Why there are no others."""


def needs_of(group: Group, schema: Schema | None) -> Looked:
    if group.kind != "statement":
        return Looked(why=("it is no statement",))
    shown_by = evidence(group)
    if shown_by.refusal is not None:
        return Looked(why=(shown_by.refusal,))
    parsed = parse_group(group)
    if isinstance(parsed, Refused):
        return Looked(why=(parsed.why,))
    database = database_of(group)
    needs: list[Need] = []
    why: list[str] = []
    blocks = accesses_of(parsed.tree, schema, database)
    if isinstance(blocks, Refused):
        return Looked(why=(blocks.why,))
    caveats = _caveats(group, parsed, schema, database)
    is_join = sum(len(block.accesses) for block in blocks) > 1
    for block in blocks:
        _look(group, block, shown_by, schema, caveats, needs, why, is_join=is_join)
    if not needs and not why:
        why.append("it looks for no rows of a table")
    return Looked(tuple(needs), tuple(dict.fromkeys(why)))


def tables_of_group(group: Group) -> list[TableName]:
    """The tables that its statement reads, as it names them."""
    parsed = parse_group(group) if evidence(group).refusal is None and group.kind == "statement" else None
    if not isinstance(parsed, Parsed):
        return []
    blocks = accesses_of(parsed.tree, None, database_of(group))
    return [] if isinstance(blocks, Refused) else [each.table for block in blocks for each in block.accesses]


def database_of(group: Group) -> str:
    """Where its example ran; else the one in which all of it ran; else empty."""
    if group.example is not None and group.example.database:
        return group.example.database
    return group.databases[0][0] if len(group.databases) == 1 else ""


def _look(
    group: Group,
    block: BlockAccesses,
    shown_by: Evidence,
    schema: Schema | None,
    caveats: tuple[str, ...],
    needs: list[Need],
    why: list[str],
    *,
    is_join: bool,
) -> None:
    """Adds what it finds to `needs` and `why`; `is_join`: the statement reads other tables, too."""
    before = block.derived
    if block.unattributed:
        names = ", ".join(block.unattributed)
        caveats = (*caveats, f"of which table {names} is could not be told: left out")
    for access in reading_order(block.accesses, is_straight=block.is_straight, before=before):
        choice = choose(access, before, in_order=not before and _pays_in_order(block, access, shown_by))
        before |= {access.alias}
        named = [*access.equal, *choice.joined, *access.lists]
        release = schema.release if schema is not None else None
        pattern = _indexable(choice.pattern, access.definition)
        pattern, left_out = fitted(pattern, access.definition, named, release)
        refusals = _refusals(group, access, choice, pattern, schema, shown_by, is_join=is_join)
        if refusals:
            why += refusals
            continue
        row = plan_row(group, access.alias)
        needs.append(
            Need(
                group,
                access,
                Choice(pattern, choice.joined, choice.rule, choice.caveats),
                (*shown_by.reasons, *((plan_reason(row),) if row is not None else ())),
                (*caveats, *(obstacle.says for obstacle in access.obstacles), *left_out),
                shown_by.per_row,
            )
        )


def _pays_in_order(block: BlockAccesses, access: Access, shown_by: Evidence) -> bool:
    """Whether it stops early; else a sort is spared, of rows of one table, and of more than a few."""
    if access.limited:
        return True
    is_by = access.sorting.clause if access.sorting else None
    few = shown_by.sent is not None and shown_by.sent < FEW_ROWS
    return len(block.accesses) == 1 and not (few and is_by == "ORDER BY")


def _refusals(
    group: Group,
    access: Access,
    choice: Choice,
    pattern: Pattern,
    schema: Schema | None,
    shown_by: Evidence,
    *,
    is_join: bool,
) -> list[str]:
    """Why this access gets no index, the reason first; empty when it should have one."""
    table, definition = str(access.table), access.definition
    if definition is not None and definition.is_view:
        return [f"{table} is a view: EXPLAIN names the tables behind it"]
    if schema is not None and definition is None:
        return [_unseen(table, schema)]
    if definition is not None and definition.rows is not None and definition.rows < TINY_ROWS:
        return [f"{table} has about {definition.rows:,} rows: so few are read as fast as an index"]
    row = plan_row(group, access.alias)
    if row is not None and is_served(row):
        return [f"{table}: {plan_reason(row)}"]
    obstacles = [obstacle.says for obstacle in access.obstacles]
    if not pattern:
        if not obstacles:
            return [f"{table}: it has no condition, and no order with a LIMIT, that an index could serve"]
        return [*obstacles, *_in_vain(access)]
    if definition is None:
        return _like_a_key(access, _single(access, choice) or columns_of(pattern))
    served = serving(definition, columns_of(pattern) & _single(access, choice), pattern)
    if served is not None:
        examined = None if is_join else shown_by.examined
        return [f"{table}: {why_not_used(served, definition, access, examined)}", *obstacles]
    if is_join and not access.limited and _is_found(definition, shown_by):
        return [f"{table} has more rows than the statement examines: an index finds them already"]
    return _few_values(definition, access, pattern, choice)


def _unseen(table: str, schema: Schema) -> str:
    """Why nothing is known of a table, and what would help."""
    unread = next((each for each in schema.unread if each.what == f"table {table}"), None)
    if unread is None:
        return f"{table} was not found in the schema"
    return f"{unread.what}: {unread.why}" + (f" ({unread.hint})" if unread.hint else "")


def _is_found(definition: Definition, shown_by: Evidence) -> bool:
    """Whether a table of a join was not read whole. (With LIMIT it may have been, from its beginning.)"""
    return (
        shown_by.examined is not None
        and definition.rows is not None
        and shown_by.examined < definition.rows / 2
    )


def _single(access: Access, choice: Choice) -> frozenset[str]:
    """The columns that are compared with one value at a time."""
    return frozenset(access.equal) | choice.joined


def _in_vain(access: Access) -> list[str]:
    """Indexes that are there and cannot be used as the condition is written."""
    if access.definition is None:
        return []
    columns = tuple(column for obstacle in access.obstacles for column in obstacle.columns)
    index = begins_with_any(access.definition, columns)
    return [f"{shown(index)} of {access.table} is there and cannot be used for it"] if index else []


def _like_a_key(access: Access, columns: frozenset[str]) -> list[str]:
    """Without the schema nobody knows the primary key, but its name mostly tells it."""
    table = access.table.name.casefold()
    names = {"id", f"{table}_id", f"{table.removesuffix('s')}_id", f"{table}id", f"id_{table}"}
    keys = sorted(columns & names)
    return [f"{access.table}: {keys[0]} looks like its primary key; the schema would tell"] if keys else []


def _few_values(definition: Definition, access: Access, pattern: Pattern, choice: Choice) -> list[str]:
    """A condition that leaves a large part of the table is not worth an index, unless the order is."""
    if columns_of(pattern) != columns_of(pattern) & _single(access, choice):
        return []
    share = 1.0
    for column in columns_of(pattern):
        different = values(definition, column)
        if different is None:
            return []
        share /= max(1, different)
    if share < LARGE_SHARE:
        return []
    names = ", ".join(sorted(columns_of(pattern)))
    return [f"{access.table}: {names} has so few values that each stands for about {share:.0%} of the rows"]


def _indexable(pattern: Pattern, definition: Definition | None) -> Pattern:
    """The pattern up to the first column that no index can hold, or that the table does not have."""
    if definition is None:
        return pattern
    kept: list[frozenset[str]] = []
    for block in pattern:
        fits = frozenset(
            name for name in block if (found := definition.column(name)) and can_be_indexed(found)
        )
        kept += [fits] if fits else []
        if fits != block:
            break
    return tuple(kept)


def _caveats(group: Group, parsed: Parsed, schema: Schema | None, database: str) -> tuple[str, ...]:
    caveats: list[str] = []
    if parsed.of_fingerprint and schema is None:
        caveats.append("made from the fingerprint: its names are in lower case")
    if parsed.of_fingerprint and re.search(r"\blike\s+\?", group.fingerprint, re.IGNORECASE):
        caveats.append(
            "whether a pattern of LIKE begins with a wildcard is not known: then no index serves it"
        )
    if len(group.databases) > 1 and database:
        caveats.append(f"the statement runs in {len(group.databases)} databases, and this is {database}'s")
    return tuple(caveats)
