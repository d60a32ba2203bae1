"""Two digests compared, for a page: what the load changed by, statement by statement."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import islice

from markupsafe import Markup

from mydyno.page.drawing import Figure
from mydyno.page.format import MISSING, capitalised, change, count, number, ratio
from mydyno.page.table import Table
from mydyno.page.time_zones import Zone
from mydyno.queries.comparison import Change, Comparison
from mydyno.queries.comparison import Times as Verdict
from mydyno.queries.records import Group
from mydyno.queries.report.chart import Shift, changes_chart
from mydyno.queries.report.comparison_text import change_words, is_notable, load_text, signed, verdict
from mydyno.queries.report.figures import figure, span
from mydyno.queries.report.sql_lines import abbreviated, sql_markup
from mydyno.queries.report.statement_table import MOST_ROWS, Column, StatementTable, statement_table
from mydyno.queries.report.times import Axis, Times, axis, times
from mydyno.queries.report.words import all_groups, per_second, time_text

_BARS = 12
_SEEN = 0.01
"""Of the longest bar: a shorter one is none."""
_MOST = 25
"""Statements with a separate section."""
_TITLE = 110
"""Characters of the statement in a section's first line."""
_WORSE = ("new", "slower")
_KINDS: tuple[Verdict, ...] = ("new", "gone", "slower", "faster")


@dataclass(frozen=True)
class ChangeSection:
    change: Change
    rank: int
    verdict: str
    is_worse: bool
    load: str
    short: str
    statement: Markup
    words: tuple[str, ...]
    """The numbers behind the verdict, in sentences."""
    times: tuple[tuple[str, Times], ...]
    """Old and new, those that are known, on one axis."""


def comparison_headline(comparison: Comparison) -> str:
    """`The load grew from 0.326 to 0.61: 1 statement is new, 2 are slower`."""
    old, new = comparison.old.load, comparison.new.load
    kinds = Counter(each.times for each in comparison.changes)
    parts = [f"{count(kinds[kind])} {kind}" for kind in _KINDS if kinds[kind]]
    what = f"statements: {', '.join(parts)}" if parts else "no statement changed"
    if old is None or new is None:
        return capitalised(what)
    if number(old) == number(new):
        return f"The load is {number(new)} as before; {what}"
    return f"The load {'grew' if new > old else 'fell'} from {number(old)} to {number(new)}; {what}"


def comparison_figures(comparison: Comparison) -> Iterator[Figure]:
    """Those for which there is something to draw."""
    changed = (each for each in comparison.changes if each.load and is_notable(each))
    largest = list(islice(changed, _BARS))
    shifts = [_shift(each) for each in largest if abs(each.load or 0) > _SEEN * abs(largest[0].load or 0)]
    if shifts:
        caption = (
            "The load is how many statements are running at once, on average. To the right of 0 a statement "
            "takes more of it than before: for slower calls, for more calls, or since it is new."
        )
        title, headline = "What the load changed by", comparison_headline(comparison)
        yield figure("shifts", title, caption, lambda size: changes_chart(shifts, size), headline)


def _shift(each: Change) -> Shift:
    whole = each.load or 0.0
    details = f"{verdict(each)}, {signed(whole)}"
    if each.by_times is None or each.by_calls is None:
        return Shift(each.fingerprint, details, whole=whole)
    return Shift(each.fingerprint, details, by_times=each.by_times, by_calls=each.by_calls)


def sides_table(comparison: Comparison, zone: Zone) -> Table:
    """What each side is."""
    sides = (comparison.old, comparison.new)
    return Table(
        ("of", "old", "new"),
        (
            ("calls", *(count(each.total.count) for each in sides)),
            ("statements", *(count(all_groups(each)) for each in sides)),
            ("query time", *(time_text(each.total.query_time_us) for each in sides)),
            ("calls a second", *(number(per_second(each.total, each)) for each in sides)),
            ("running at once", *(number(each.load) for each in sides)),
            ("from", *(span(each, zone).replace(" to ", "\nto ") or MISSING for each in sides)),
        ),
        frozenset({0}),
    )


def changes_table(comparison: Comparison, detailed: Collection[str]) -> StatementTable:
    """`detailed`: the ids of statements that have a separate section."""

    def row(each: Change) -> tuple[str, str, str]:
        more = "" if each.id in detailed else "; ".join([f"id {each.id}", *change_words(each)])
        return each.id, each.fingerprint, more

    return statement_table(
        comparison.changes[:MOST_ROWS],
        _COLUMNS,
        row,
        caption="All statements, the largest change of load first",
        order="change",
    )


def _of(each: Change, part: str, name: str) -> float | None:
    """A number of `old`, `new` or one of the ratios; None where there is none."""
    value: float | None = getattr(getattr(each, part), name, None)
    return value


def _size(each: Change) -> float | None:
    if each.load is not None:
        return abs(each.load)
    return abs((_of(each, "new", "query_time_us") or 0) - (_of(each, "old", "query_time_us") or 0))


def _column(
    key: str, title: str, part: str, name: str, write: Callable[[float | None], str]
) -> Column[Change]:
    return Column(key, title, lambda each: _of(each, part, name), lambda each: write(_of(each, part, name)))


def _side(side: str, title: str, name: str, write: Callable[[float | None], str]) -> Column[Change]:
    return _column(f"{side}_{name}", f"{side} {title}", side, name, write)


def _load(value: float | None) -> str:
    return MISSING if value is None else load_text(value)


_COLUMNS: tuple[Column[Change], ...] = (
    Column(
        "verdict",
        "what changed",
        lambda each: _KINDS.index(each.times) if each.times in _KINDS else len(_KINDS),
        verdict,
    ),
    Column("change", "load", _size, lambda each: MISSING if each.load is None else signed(each.load)),
    _side("old", "load", "load", _load),
    _side("new", "load", "load", _load),
    _side("old", "mean", "mean_us", time_text),
    _side("new", "mean", "mean_us", time_text),
    _column("mean", "mean, new of old", "mean_ratio", "value", ratio),
    _side("old", "p95", "p95_us", time_text),
    _side("new", "p95", "p95_us", time_text),
    _side("old", "calls/s", "per_second", number),
    _side("new", "calls/s", "per_second", number),
    _column("rate", "calls/s, change", "rate_ratio", "value", change),
)


def change_sections(comparison: Comparison) -> tuple[ChangeSection, ...]:
    """Of the statements whose load changed most, but for those of which there is nothing to say."""
    largest = list(islice(filter(is_notable, comparison.changes), _MOST))
    ids = {each.id for each in largest}
    olds, news = (
        {group.id: group for group in each.groups if group.id in ids}
        for each in (comparison.old, comparison.new)
    )
    on = axis(
        [
            group.query_time
            for each in largest
            for side in (olds, news)
            if (group := side.get(each.id)) and group.query_time
        ]
    )
    return tuple(
        ChangeSection(
            change=each,
            rank=rank,
            verdict=verdict(each),
            is_worse=each.times in _WORSE or each.calls == "more",
            load=MISSING if each.load is None else signed(each.load),
            short=abbreviated(each.fingerprint, _TITLE),
            statement=sql_markup(each.fingerprint),
            words=tuple(capitalised(text.replace(" -> ", " → ")) for text in change_words(each)),
            times=tuple(_sides(olds.get(each.id), news.get(each.id), on)),
        )
        for rank, each in enumerate(largest, 1)
    )


def _sides(old: Group | None, new: Group | None, on: Axis) -> Iterator[tuple[str, Times]]:
    for name, group in (("old", old), ("new", new)):
        drawn = times(group.query_time, on) if group else None
        if drawn:
            yield name, drawn
