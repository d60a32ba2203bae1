"""A digest as a page for a terminal: what was read, what takes the time, and the first groups at length."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mydyno.core.plurals import plural
from mydyno.core.units import format_bytes
from mydyno.page.blocks import bar
from mydyno.page.format import MISSING, count, duration, number, shorten
from mydyno.page.lines import Line, wrapped
from mydyno.page.time_zones import Zone
from mydyno.queries.records import Digest, Figures, Group, IndexCandidate, Problem, Source, Unit
from mydyno.queries.report import words
from mydyno.queries.report.group_text import group_lines
from mydyno.queries.report.sql_lines import abbreviated

_MOST_SOURCES = 8
_MOST_OF_BANNER = 60
"""Characters of what a server calls itself; some have a slogan in it."""
_LABEL = 9
_GRAVE = ("unreadable", "not-a-slow-log", "broken-compression", "interrupted")
_BAR = 8
_STATEMENT = 30
"""Characters that a statement needs to be known again; columns give way to it."""


def digest_lines(
    digest: Digest, width: int, zone: Zone, details: int, order: str | None = None
) -> Iterator[Line]:
    """The page; its groups in the digest's order, the first `details` of them at length, then indexes to try.

    `order` is what that order is called, where it is not that of total time.
    """
    yield from header_lines(digest, width, zone)
    yield Line()
    of_time = order is None or not digest.groups
    text = f"{words.headline(digest)}." if of_time else f"The first by {order}."
    yield from wrapped(text, width, style="heading")
    if not digest.groups:
        return
    yield Line()
    yield from table_lines(digest, width)
    if digest.rest is not None:
        yield from wrapped(_beyond(digest), width, first="    ", style="faint")
    for rank, group in enumerate(digest.groups[:details], 1):
        yield Line()
        yield from group_lines(rank, group, digest, width, zone)
    if not digest.candidates or not details:
        return
    yield Line()
    yield Line("Indexes to try", "heading")
    for place, candidate in enumerate(digest.candidates, 1):
        yield from _candidate(place, candidate, digest, width)


def header_lines(digest: Digest, width: int, zone: Zone) -> Iterator[Line]:
    """What was read, from when to when, what it comes to, and what could not be read."""
    for source in digest.sources[:_MOST_SOURCES]:
        yield from wrapped(_source(source), width, rest="  ")
    if len(digest.sources) > _MOST_SOURCES:
        yield from wrapped(_more_sources(digest), width, rest="  ")
    if (window := digest.window_us) is not None:
        length = f", {duration(digest.seconds)}" if digest.seconds else ""
        yield from wrapped(f"{zone.span(*window)}{length}", width, rest="  ")
    yield from wrapped(_totals(digest), width, rest="  ")
    if digest.filtered:
        yield from wrapped(f"{_entries(digest.filtered)} left out by --filter", width, rest="  ")
    for text in words.cautions(digest, zone):
        yield from wrapped(text, width, first=f"{'note':{_LABEL}}", style="medium")
    for problem in digest.problems:
        grave = problem.kind in _GRAVE
        label = f"{'problem':{_LABEL}}"
        yield from wrapped(problem_text(problem), width, first=label, style="high" if grave else "medium")


def problem_text(problem: Problem) -> str:
    """`slow.log:158211: the last entry ends within its statement (12 times)`"""
    where = f":{problem.line}" if problem.line is not None else ""
    often = f" ({words.how_often(problem)})" if problem.count > 1 else ""
    return f"{problem.source}{where}: {problem.says}{often}"


def _source(source: Source) -> str:
    packed = f" in {source.compression}" if source.compression != "none" else ""
    parts = [f"{format_bytes(source.bytes)}{packed}"] if source.bytes else []
    parts += [_entries(source.entries), *([shorten(source.server, _MOST_OF_BANNER)] if source.server else [])]
    return f"{source.name}: {', '.join(parts)}"


def _more_sources(digest: Digest) -> str:
    more = digest.sources[_MOST_SOURCES:]
    entries = _entries(sum(each.entries for each in more))
    return f"and {len(more)} more: {format_bytes(sum(each.bytes for each in more))}, {entries}"


def _entries(number: int) -> str:
    return f"{count(number)} {plural(number, 'entry')}"


def _statements(number: int) -> str:
    return f"{count(number)} {plural(number, 'statement')}"


def _totals(digest: Digest) -> str:
    groups, total = words.all_groups(digest), digest.total
    kinds = f" of {count(groups)} {plural(groups, 'kind')}" if total.count != 1 else ""
    text = f"{_statements(total.count)}{kinds}"
    if "query_time" in total.measures:
        text += f", {_length(total.query_time_us)} of query time"
    if (lock := total.figure("lock_time")) is not None and total.query_time_us:
        text += f" ({words.share(lock, total.query_time_us)} waiting for locks)"
    if digest.seconds and digest.load is not None:
        text += (
            f"; {number(words.per_second(total, digest))} a second,"
            f" load {number(digest.load)} (running at once, on average)"
        )
    return text


def _length(time_us: int) -> str:
    return words.time_text(time_us) if time_us < 10_000_000 else duration(time_us / 1e6)


def _beyond(digest: Digest) -> str:
    rest = digest.rest
    if rest is None:
        return ""
    of_time = words.share(rest.query_time_us, digest.total.query_time_us)
    return (
        f"and {count(rest.groups)} more with {of_time} of the time ({_statements(rest.count)},"
        f" {words.time_text(rest.query_time_us)}); --limit shows more"
    )


def _candidate(place: int, candidate: IndexCandidate, digest: Digest, width: int) -> Iterator[Line]:
    ranks = [str(rank) for rank, group in enumerate(digest.groups, 1) if group.id in candidate.groups]
    beyond = len(candidate.groups) - len(ranks)
    serves = [f"{plural(len(ranks), 'statement')} {', '.join(ranks)}"] if ranks else []
    serves += [f"{beyond} not shown"] if beyond else []
    of_time = words.share(candidate.query_time_us, digest.total.query_time_us)
    yield Line()
    yield from wrapped(candidate.statement, width, first=f"{place:3}. ", style="do")
    yield from wrapped(f"serves {' and '.join(serves)}, with {of_time} of the time", width, first=" " * 5)
    for text in candidate.reasons:
        yield from wrapped(text, width, first="     + ", rest=" " * 7)
    for text in candidate.caveats:
        yield from wrapped(text, width, first="     - ", rest=" " * 7, style="faint")


@dataclass(frozen=True)
class _Column:
    head: str
    cell: Callable[[Group, Figures], str]
    importance: int
    """Of columns without room, that with the least goes first."""
    left: bool = False


def _measured(name: str, what: str, unit: Unit = "us") -> Callable[[Group, Figures], str]:
    return lambda group, total: words.amount(group.figure(name, what), unit)


def _share(group: Group, total: Figures) -> float:
    return group.query_time_us / total.query_time_us if total.query_time_us else 0.0


_COLUMNS = (
    _Column("", lambda group, total: bar(_share(group, total), _BAR), 2, left=True),
    _Column("share", lambda group, total: words.share(group.query_time_us, total.query_time_us), 9),
    _Column("count", lambda group, total: count(group.count), 8),
    _Column("total", _measured("query_time", "sum"), 4),
    _Column("mean", _measured("query_time", "mean"), 7),
    _Column("p95", _measured("query_time", "p95"), 6),
    _Column("max", _measured("query_time", "max"), 3),
    _Column("examined", _measured("rows_examined", "mean", "count"), 5),
    _Column("sent", _measured("rows_sent", "mean", "count"), 1),
)


def table_lines(digest: Digest, width: int) -> Iterator[Line]:
    """A heading, then a line a group, numbered in the digest's order."""
    rows = [[column.cell(group, digest.total) for column in _COLUMNS] for group in digest.groups]
    total = next(place for place, column in enumerate(_COLUMNS) if column.head == "total")
    sums = [group.query_time.sum if group.query_time else None for group in digest.groups]
    for row, text in zip(rows, words.amounts_us(sums), strict=True):
        row[total] = text
    rank = len(str(len(digest.groups)))
    columns = [
        place
        for place, column in enumerate(_COLUMNS)
        if any(row[place].strip() not in ("", MISSING) for row in rows)
    ]
    sizes = {
        place: max(len(_COLUMNS[place].head), *(len(row[place]) for row in rows)) if rows else 0
        for place in columns
    }
    while columns and _room(width, rank, [sizes[place] for place in columns]) < _STATEMENT:
        columns.remove(min(columns, key=lambda place: _COLUMNS[place].importance))
    room = max(_room(width, rank, [sizes[place] for place in columns]), _STATEMENT)
    heads = [_set(_COLUMNS[place].head, place, sizes) for place in columns]
    yield Line("  ".join([" " * rank, *heads, digest.grouping.noun]), "heading")
    for position, (group, row) in enumerate(zip(digest.groups, rows, strict=True), 1):
        cells = [_set(row[place], place, sizes) for place in columns]
        yield Line("  ".join([f"{position:{rank}}", *cells, abbreviated(group.fingerprint, room)]))


def _room(width: int, rank: int, sizes: Sequence[int]) -> int:
    return width - rank - sum(sizes) - 2 * (len(sizes) + 1)


def _set(text: str, place: int, sizes: dict[int, int]) -> str:
    return text.ljust(sizes[place]) if _COLUMNS[place].left else text.rjust(sizes[place])
