"""Whether a group reads more than it gives back, by its figures, its flags and its plan."""

from __future__ import annotations

from dataclasses import dataclass

from mydyno.core.plurals import plural
from mydyno.queries.records import Group, PlanRow

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
