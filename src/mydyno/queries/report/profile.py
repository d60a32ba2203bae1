"""The profile: every group of a digest in one row, to be sorted and searched."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from mydyno.page.format import MISSING, count, number, printable
from mydyno.page.time_zones import Zone
from mydyno.queries.records import Digest, Group
from mydyno.queries.report.statement_table import MOST_ROWS, Column, StatementTable, cut, statement_table
from mydyno.queries.report.words import amount, called, examined_per_sent, others, share

_NAMES = 3
_NAME = 60


def profile(digest: Digest, detailed: Collection[str], zone: Zone) -> StatementTable:
    """`detailed`: the ids of groups that have a section of their own."""

    def row(group: Group) -> tuple[str, str, str]:
        return group.id, group.fingerprint, "" if group.id in detailed else _more(group)

    columns = tuple(_columns(digest, zone))
    return statement_table(
        digest.groups[:MOST_ROWS],
        columns,
        row,
        caption="All statements, the most total time first",
        order="total",
        beyond=_beyond(digest, [column.key for column in columns]),
    )


def _columns(digest: Digest, zone: Zone) -> Iterator[Column[Group]]:
    whole = digest.total.query_time_us
    yield Column(
        "share", "share", lambda group: group.query_time_us, lambda group: share(group.query_time_us, whole)
    )
    yield _time("total", "sum")
    yield Column("count", "calls", lambda group: group.count, lambda group: count(group.count))
    for name in ("mean", "p50", "p95", "p99", "max"):
        yield _time(name, name)
    yield Column("lock", "lock", _mean("lock_time"), lambda group: amount(_mean("lock_time")(group), "us"))
    for name in ("rows_examined", "rows_sent"):
        yield _rows(name)
    yield Column(
        "per_sent", "examined per sent", examined_per_sent, lambda group: number(examined_per_sent(group))
    )
    day = _one_day(digest, zone)
    for key, value in (
        ("first", lambda group: group.first_us),
        ("last", lambda group: group.last_us),
    ):
        yield _seen(key, value, zone, day)


def _time(key: str, of: str) -> Column[Group]:
    def value(group: Group) -> float | None:
        measure = group.measures.get("query_time")
        found: float | None = getattr(measure, of) if measure else None
        return found

    return Column(key, key, value, lambda group: amount(value(group), "us"))


def _mean(name: str) -> Callable[[Group], float | None]:
    def value(group: Group) -> float | None:
        measure = group.measures.get(name)
        return measure.mean if measure else None

    return value


def _rows(name: str) -> Column[Group]:
    value = _mean(name)

    def written(group: Group) -> str:
        mean = value(group)
        return count(mean) if mean is not None and mean >= 100 else amount(mean, "count")

    return Column(name, called(name), value, written)


def _seen(key: str, value: Callable[[Group], int | None], zone: Zone, day: str | None) -> Column[Group]:
    def written(group: Group) -> str:
        text = zone.moment(value(group))
        return text.removeprefix(f"{day} ") if day else text

    return Column(key, f"{key} seen", value, written)


def _one_day(digest: Digest, zone: Zone) -> str | None:
    """The day of all that was seen, if it was one."""
    first, last = zone.moment(digest.total.first_us), zone.moment(digest.total.last_us)
    return first[:10] if first != MISSING and first[:10] == last[:10] else None


def _more(group: Group) -> str:
    """Who ran it, and what stands out."""
    names = (("user", group.users), ("host", group.hosts), ("database", group.databases))
    parts = [f"{what} {_names(of)}" for what, of in names if of]
    flags = [f"{called(name)} {share(flag.yes, flag.told)}" for name, flag in group.flags.items() if flag.yes]
    return "; ".join([f"id {printable(group.id)}", *parts, *flags])


def _names(of: Sequence[tuple[str, int]]) -> str:
    text = ", ".join(cut(name, _NAME) or '""' for name, _ in of[:_NAMES])
    return f"{text} and {len(of) - _NAMES} more" if len(of) > _NAMES else text


def _beyond(digest: Digest, keys: Sequence[str]) -> tuple[str, ...]:
    """What has no row: the groups beyond the limit, and those that would be too many for a page."""
    without_row, rest = digest.groups[MOST_ROWS:], digest.rest
    groups = len(without_row) + (rest.groups if rest else 0)
    if not groups:
        return ()
    calls = sum(group.count for group in without_row) + (rest.count if rest else 0)
    time = sum(group.query_time_us for group in without_row) + (rest.query_time_us if rest else 0)
    known = {
        "count": count(calls),
        "total": amount(time, "us"),
        "share": share(time, digest.total.query_time_us),
        "mean": amount(time / calls if calls else None, "us"),
    }
    return (others(groups), *(known.get(key, "") for key in keys))
