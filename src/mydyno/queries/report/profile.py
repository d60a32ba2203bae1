"""The profile: every group of a digest in one row, to be sorted and searched."""

from collections.abc import Callable, Collection, Iterator, Sequence

from mydyno.core.plurals import listed
from mydyno.page.format import MISSING, count, number, printable
from mydyno.page.time_zones import Zone
from mydyno.queries.records import Digest, Group
from mydyno.queries.report.statement_table import MOST_ROWS, Column, StatementTable, cut, statement_table
from mydyno.queries.report.words import amount, called, examined_per_sent, others, share, time_text

_NAMES = 3
_NAME = 60


def profile(digest: Digest, detailed: Collection[str], zone: Zone) -> StatementTable:
    """`detailed`: the ids of groups that have a separate section."""

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
    day = _one_day(digest, zone)

    def moment(at_us: float | None) -> str:
        text = zone.moment(None if at_us is None else int(at_us))
        return text.removeprefix(f"{day} ") if day else text

    yield _column("share", "share", lambda group: group.query_time_us, lambda time: share(time or 0, whole))
    yield _column("total", "total", _figure("query_time", "sum"), time_text)
    yield _column("count", "calls", lambda group: group.count, count)
    for what in ("mean", "p50", "p95", "p99", "max"):
        yield _column(what, what, _figure("query_time", what), time_text)
    yield _column("lock", "lock", _figure("lock_time", "mean"), time_text)
    for name in ("rows_examined", "rows_sent"):
        yield _column(name, called(name), _figure(name, "mean"), _rows)
    yield _column("per_sent", "examined per sent", examined_per_sent, number)
    yield _column("first", "first seen", lambda group: group.first_us, moment)
    yield _column("last", "last seen", lambda group: group.last_us, moment)


def _column(
    key: str, title: str, value: Callable[[Group], float | None], write: Callable[[float | None], str]
) -> Column[Group]:
    return Column(key, title, value, lambda group: write(value(group)))


def _figure(attribute: str, what: str) -> Callable[[Group], float | None]:
    return lambda group: group.figure(attribute, what)


def _rows(mean: float | None) -> str:
    return count(mean) if mean is not None and mean >= 100 else amount(mean, "count")


def _one_day(digest: Digest, zone: Zone) -> str | None:
    """The day of all that was seen, if it was one."""
    first, last = zone.moment(digest.total.first_us), zone.moment(digest.total.last_us)
    return first[:10] if first != MISSING and first[:10] == last[:10] else None


def _more(group: Group) -> str:
    """Who ran it, and which flags its statements had."""
    names = (("user", group.users), ("host", group.hosts), ("database", group.databases))
    parts = [f"{what} {_names(of)}" for what, of in names if of]
    flags = [f"{called(name)} {share(flag.yes, flag.told)}" for name, flag in group.flags.items() if flag.yes]
    return "; ".join([f"id {printable(group.id)}", *parts, *flags])


def _names(of: Sequence[tuple[str, int]]) -> str:
    return listed([cut(name, _NAME) or '""' for name, _ in of], _NAMES)


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
        "total": time_text(time),
        "share": share(time, digest.total.query_time_us),
        "mean": time_text(time / calls if calls else None),
    }
    return (others(groups), *(known.get(key, "") for key in keys))
