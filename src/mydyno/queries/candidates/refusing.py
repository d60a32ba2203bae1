"""Why an access gets no index."""

from dataclasses import dataclass

from mydyno.core.plurals import plural
from mydyno.queries.candidates.choosing import Choice, columns_of
from mydyno.queries.candidates.existing import LARGE_SHARE, begins_with_any, serving, shown, why_not_used
from mydyno.queries.candidates.key_parts import values
from mydyno.queries.candidates.schema import Access, Definition, Schema
from mydyno.queries.records import Group, PlanRow

TINY_ROWS = 1_000
"""A table of so few is read whole in less than a millisecond."""
HARDLY_MORE = 5.0
"""Rows examined for each row of use. Below, an index would hardly be chosen: a row found through a secondary
index costs about as much as several that are read one after the other."""
FEW_ROWS = 100
"""Examined at once: a page or two."""
_SERVED = frozenset({"system", "const", "eq_ref", "unique_subquery"})
_WHOLE = frozenset({"ALL", "index"})
_SCAN_FLAGS = ("full_scan", "full_join", "no_index_used", "no_good_index_used")


@dataclass(frozen=True)
class Evidence:
    reasons: tuple[str, ...] = ()
    per_row: float | None = None
    """Rows examined for each that is sent or changed; None where it is not known."""
    examined: float | None = None
    """Rows examined in a run, on average."""
    sent: float | None = None
    refusal: str | None = None
    """Why an index would bring nothing."""


def evidence(group: Group) -> Evidence:
    """What speaks for an index. EXPLAIN is read for each table, by `plan_row` and `is_served`."""
    examined, useful = group.measures.get("rows_examined"), _useful(group)
    flagged = tuple(_flag_reasons(group))
    if examined is None or not examined.count:
        if not flagged and group.flags and group.plan is None:
            return Evidence(refusal="it scans no table, and its rows examined are not known")
        return Evidence(flagged)
    runs = examined.count
    mean = examined.sum / runs
    per_row = examined.sum / max(useful, runs)
    numbers = f"it examines {mean:,.0f} rows a run"
    if mean < FEW_ROWS:
        return Evidence(refusal=f"{numbers}: too few to need an index", per_row=per_row, examined=mean)
    if per_row < HARDLY_MORE:
        why = f"{numbers}, hardly more than it needs ({per_row:,.1f} for each)"
        return Evidence(refusal=why, per_row=per_row, examined=mean)
    reason = f"{numbers}, {per_row:,.0f} for each row that it sends or changes"
    return Evidence((reason, *flagged), per_row, mean, group.figure("rows_sent", "mean"))


def plan_row(group: Group, alias: str) -> PlanRow | None:
    """What EXPLAIN says of one table; None without a plan, or where the table is not in it."""
    rows = group.plan.rows if group.plan else ()
    return next((row for row in rows if (row.table or "").casefold() == alias.casefold()), None)


def is_served(row: PlanRow) -> bool:
    """Whether the plan reads the table by a key, hardly a row too much, and sorts nothing."""
    extra = row.extra or ""
    if row.key is None or row.type in _WHOLE or "filesort" in extra or "temporary" in extra:
        return row.type in _SERVED
    return row.type in _SERVED or (row.rows or 0) < FEW_ROWS


def plan_reason(row: PlanRow) -> str:
    """The row in words: `EXPLAIN reads it with type ALL, no key, 20,000 rows, Using filesort`."""
    parts = [f"type {row.type}", f"key {row.key}" if row.key else "no key"]
    parts += [f"{row.rows:,} {plural(row.rows, 'row')}"] if row.rows is not None else []
    parts += [row.extra] if row.extra else []
    return f"EXPLAIN reads it with {', '.join(parts)}"


def _useful(group: Group) -> int:
    """Rows that the client got, or that were changed, as far as that is known."""
    return int(sum(group.figure(name) or 0 for name in ("rows_sent", "rows_affected")))


def _flag_reasons(group: Group) -> list[str]:
    flags = ((name, group.flags.get(name)) for name in _SCAN_FLAGS)
    return [
        f"{name.replace('_', ' ')} in {flag.yes:,} of {flag.told:,} runs"
        for name, flag in flags
        if flag and flag.yes
    ]


@dataclass(frozen=True)
class Wish:
    """An index that an access would have, before it is known whether it needs one."""

    access: Access
    choice: Choice
    evidence: Evidence
    plan: PlanRow | None
    is_join: bool
    """Whether the statement reads other tables, too."""
    left_out: tuple[str, ...]
    """What does not fit into a key."""

    @property
    def single(self) -> frozenset[str]:
        """Its columns that are compared with one value at a time."""
        return (frozenset(self.access.equal) | self.choice.joined) & columns_of(self.choice.pattern)


def refusals(wish: Wish, schema: Schema | None) -> list[str]:
    """The reason first, then what would help instead; empty for an access that should have its index."""
    access, definition = wish.access, wish.access.definition
    table = str(access.table)
    if definition is not None and definition.is_view:
        return [f"{table} is a view: EXPLAIN names the tables behind it"]
    if schema is not None and definition is None:
        return [_unseen(table, schema)]
    if definition is not None and definition.rows is not None and definition.rows < TINY_ROWS:
        return [f"{table} has about {definition.rows:,} rows: too few to need an index"]
    if wish.plan is not None and is_served(wish.plan):
        return [f"{table}: {plan_reason(wish.plan)}"]
    obstacles = [obstacle.says for obstacle in access.obstacles]
    if not wish.choice.pattern:
        if not obstacles:
            return [f"{table}: no condition and no ORDER BY with LIMIT that an index could serve"]
        return [*obstacles, *_in_vain(access)]
    if definition is None:
        return _like_a_key(access, wish.single or columns_of(wish.choice.pattern))
    served = serving(definition, wish.single, wish.choice.pattern)
    if served is not None:
        examined = None if wish.is_join else wish.evidence.examined
        return [f"{table}: {why_not_used(served, definition, access, examined)}", *obstacles]
    if wish.is_join and not access.limited and _is_found(definition, wish.evidence):
        return [f"{table} has more rows than the statement examines: an index is used already"]
    return _few_values(definition, wish)


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


def _in_vain(access: Access) -> list[str]:
    """Indexes that are there and cannot be used as the condition is written."""
    if access.definition is None:
        return []
    columns = tuple(column for obstacle in access.obstacles for column in obstacle.columns)
    index = begins_with_any(access.definition, columns)
    return [f"{shown(index)} of {access.table} exists and cannot be used for it"] if index else []


def _like_a_key(access: Access, columns: frozenset[str]) -> list[str]:
    """Without the schema the primary key is not known, but its name usually shows it."""
    table = access.table.name.casefold()
    names = {"id", f"{table}_id", f"{table.removesuffix('s')}_id", f"{table}id", f"id_{table}"}
    keys = sorted(columns & names)
    if not keys:
        return []
    return [f"{access.table}: {keys[0]} looks like its primary key (from its name; the schema is not known)"]


def _few_values(definition: Definition, wish: Wish) -> list[str]:
    """A condition that leaves a large part of the table is not worth an index, unless the order is."""
    columns = columns_of(wish.choice.pattern)
    if columns != wish.single:
        return []
    share = 1.0
    for column in columns:
        different = values(definition, column)
        if different is None:
            return []
        share /= max(1, different)
    if share < LARGE_SHARE:
        return []
    names = ", ".join(sorted(columns))
    return [f"{wish.access.table}: {names} has so few values that each matches about {share:.0%} of the rows"]
