"""The profile: every group of a digest in one row, to be sorted and searched."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from mydyno.digest.records import Digest, Group, Measure
from mydyno.report.digest_words import amount, called, examined_per_sent, moment, others, share
from mydyno.report.format import MISSING, count, number, printable
from mydyno.report.page_data import Columns
from mydyno.report.skeleton import cells

MOST_ROWS = 5_000
"""So that a page can be opened whatever was digested; the rest is told in one row."""
AT_FIRST = 50
"""Rows shown until more are asked for."""
_TEXT = 240
"""Characters of a fingerprint in its row."""
_NAMES = 3
_NAME = 60


@dataclass(frozen=True)
class Column:
    key: str
    title: str
    value: Callable[[Group], float | None]
    write: Callable[[float | None], str]


@dataclass(frozen=True)
class Row:
    group: Group
    text: str
    """Its fingerprint on one line, cut."""
    more: str
    """Who ran it, and what stands out; empty where a section of its own tells it."""
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Profile:
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    beyond: tuple[str, ...]
    """The cells of what has no row: the groups beyond the limit; empty where there are none."""
    left_out: int
    """Groups of the digest that have no row; they are in `beyond` too."""

    @property
    def values(self) -> Columns:
        """What rows are sorted by: in the order of the rows, by the columns' keys."""
        return {
            column.key: [_rounded(column.value(row.group)) for row in self.rows] for column in self.columns
        }


def profile(digest: Digest, detailed: Collection[str]) -> Profile:
    """`detailed`: the ids of groups that have a section of their own."""
    columns = tuple(_columns(digest))
    shown = digest.groups[:MOST_ROWS]
    rows = tuple(
        Row(
            group=group,
            text=cut(group.fingerprint, _TEXT),
            more="" if group.id in detailed else _more(group),
            cells=tuple(column.write(column.value(group)) for column in columns),
        )
        for group in shown
    )
    left_out = len(digest.groups) - len(shown)
    return Profile(columns, rows, _beyond(digest, columns, left_out), left_out)


def cut(text: str, most: int) -> str:
    """On one line, its end left out where it is longer than `most` characters."""
    line = printable(text[: 2 * most])
    return line if len(line) <= most and len(text) <= 2 * most else f"{line[: most - 1].rstrip()}…"


def _columns(digest: Digest) -> Iterator[Column]:
    """Those of which some group tells something."""
    whole = digest.total.query_time_us
    day = _one_day(digest)
    candidates = (
        Column("share", "share", lambda group: group.query_time_us, lambda value: share(value or 0, whole)),
        Column("total", "total", lambda group: _time(group, "sum"), _time_text),
        Column("count", "calls", lambda group: group.count, count),
        Column("mean", "mean", lambda group: _time(group, "mean"), _time_text),
        *(_quantile(name) for name in ("p50", "p95", "p99")),
        Column("max", "max", lambda group: _time(group, "max"), _time_text),
        Column("lock", "lock", lambda group: _mean(group, "lock_time"), _time_text),
        *(_rows_of(name) for name in ("rows_examined", "rows_sent")),
        Column("per_sent", "examined per sent", examined_per_sent, number),
        Column("first", "first seen", lambda group: group.first_us, lambda value: _seen(value, day)),
        Column("last", "last seen", lambda group: group.last_us, lambda value: _seen(value, day)),
    )
    groups = digest.groups[:MOST_ROWS]
    for column in candidates:
        if any(column.value(group) is not None for group in groups):
            yield column


def _quantile(name: str) -> Column:
    return Column(name, name, lambda group: _time(group, name), _time_text)


def _rows_of(name: str) -> Column:
    return Column(
        name,
        called(name),
        lambda group: _mean(group, name),
        lambda value: amount(_whole(value), "count"),
    )


def _whole(value: float | None) -> float | None:
    """A mean of rows, to a row where there are many."""
    return round(value) if value is not None and value >= 100 else value


def _time(group: Group, of: str) -> float | None:
    measure = group.measures.get("query_time")
    found: float | None = getattr(measure, of) if measure else None
    return found


def _mean(group: Group, name: str) -> float | None:
    measure: Measure | None = group.measures.get(name)
    return measure.mean if measure else None


def _time_text(value: float | None) -> str:
    return amount(value, "us")


def _one_day(digest: Digest) -> str | None:
    """The day of all that was seen, if it was one."""
    first, last = moment(digest.total.first_us), moment(digest.total.last_us)
    return first[:10] if first != MISSING and first[:10] == last[:10] else None


def _seen(value: float | None, day: str | None) -> str:
    told = moment(None if value is None else round(value))
    return told.removeprefix(f"{day} ") if day else told


def _more(group: Group) -> str:
    names = (("user", group.users), ("host", group.hosts), ("database", group.databases))
    parts = [f"{what} {_names(of)}" for what, of in names if of]
    flags = [f"{called(name)} {share(flag.yes, flag.told)}" for name, flag in group.flags.items() if flag.yes]
    return "; ".join([f"id {printable(group.id)}", *parts, *flags])


def _names(of: Sequence[tuple[str, int]]) -> str:
    told = ", ".join(cut(name, _NAME) or '""' for name, _ in of[:_NAMES])
    return f"{told} and {len(of) - _NAMES} more" if len(of) > _NAMES else told


def _beyond(digest: Digest, columns: Sequence[Column], left_out: int) -> tuple[str, ...]:
    without_row = digest.groups[len(digest.groups) - left_out :]
    calls, time = sum(group.count for group in without_row), sum(group.query_time_us for group in without_row)
    if digest.rest:
        calls, time = calls + digest.rest.count, time + digest.rest.query_time_us
    elif not left_out:
        return ()
    known = {
        "count": count(calls),
        "total": _time_text(time),
        "share": share(time, digest.total.query_time_us),
        "mean": _time_text(time / calls if calls else None),
    }
    return tuple(known.get(column.key, "") for column in columns)


def profile_markup(view: Profile, beyond_groups: int) -> Markup:
    """The table. The rows beyond the first ones are a part of their own, which the page's script puts away
    until it is asked for; without script all are there."""
    heads = "".join(
        f'<th scope="col" data-key="{each.key}">{escape(each.title)}</th>' for each in view.columns
    )
    rows = [_row(number, row) for number, row in enumerate(view.rows, 1)]
    foot = (
        f'<tfoot><tr><td></td><td class="text">{others(beyond_groups)}</td>'
        f"{cells(view.beyond, [''] * len(view.beyond))}</tr></tfoot>"
        if view.beyond
        else ""
    )
    first, more = "\n".join(rows[:AT_FIRST]), "\n".join(rows[AT_FIRST:])
    caption = '<caption class="unseen">All statements, the most total time first</caption>'
    return Markup(
        f'<table class="profile">\n{caption}\n'
        f'<thead><tr><th scope="col">#</th><th scope="col" class="text">statement</th>{heads}</tr></thead>\n'
        f'<tbody>\n{first}\n</tbody>\n<tbody class="more">\n{more}\n</tbody>\n{foot}</table>'
    )


def _row(number: int, row: Row) -> str:
    text, id_ = escape(row.text), escape(row.group.id)
    if row.more:
        own = f' id="{id_}"'
        told = f"<details><summary><code>{text}</code></summary>{escape(row.more)}</details>"
    else:
        own, told = "", f'<a href="#{id_}"><code>{text}</code></a>'
    rest = cells(row.cells, [""] * len(row.cells))
    return f'<tr{own}><td>{number}</td><td class="text statement">{told}</td>{rest}</tr>'


def _rounded(value: float | None) -> float | int | None:
    """Short enough for 2,000 rows: sorting needs no more digits."""
    return value if value is None or isinstance(value, int) else round(value, 2)
