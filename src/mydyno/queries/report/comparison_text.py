"""A comparison of two digests as a page for a terminal: the largest changes of the load first, in words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from mydyno.core.plurals import plural
from mydyno.page.format import MINUS, change, count, number, ratio, shorten
from mydyno.page.lines import Line, Style, wrapped
from mydyno.page.time_zones import Zone
from mydyno.queries.change import FEWEST, NOTABLE
from mydyno.queries.comparison import Change, Comparison, Run, Times
from mydyno.queries.records import Digest
from mydyno.queries.report.text import header_lines
from mydyno.queries.report.words import time_text

AS_BEFORE = "as before"
NOT_SHOWN = "no change shown"
_INDENT = " " * 5
_LEAST_LOAD = 0.0001
"""Less is not worth its digits: 9 seconds of a day."""
_STYLES: dict[Times, Style] = {"new": "high", "slower": "high", "gone": "do", "faster": "do"}


def comparison_lines(
    comparison: Comparison, width: int, zone: Zone, limit: int | None = None
) -> Iterator[Line]:
    """The page, with the first `limit` changes."""
    for title, digest in (("OLD", comparison.old), ("NEW", comparison.new)):
        yield Line(title, "heading")
        yield from header_lines(digest, width, zone)
        yield Line()
    yield from wrapped(_load(comparison), width, style="heading")
    for text in notes(comparison):
        yield from wrapped(text, width, first="note     ", style="medium")
    changes = filter(is_notable, comparison.changes)
    shown = 0
    for shown, each in enumerate(islice(changes, limit), 1):
        yield Line()
        yield from _change(shown, each, width)
    beyond = [each.load for each in changes]
    last = [_beyond(beyond)] if beyond else []
    if alike := len(comparison.changes) - shown - len(beyond):
        last.append(f"{count(alike)} in which nothing changed")
    if last:
        yield Line()
        yield from wrapped(f"and {'; '.join(last)}", width, style="faint")


def is_notable(each: Change) -> bool:
    """Whether something changed, or so much of the load is in question that one wants to know."""
    if verdict(each) == AS_BEFORE:
        return False
    return verdict(each) != NOT_SHOWN or each.load is None or abs(each.load) >= _LEAST_LOAD


def notes(comparison: Comparison) -> Iterator[str]:
    """What makes the two sides less alike than they look."""
    old, new = comparison.old, comparison.new
    for name, one, word in (("OLD", old, "new"), ("NEW", new, "gone")):
        if one.rest is not None:
            yield (
                f"{name} has its first {count(len(one.groups))} statements only and leaves"
                f" {count(one.rest.groups)} out: '{word}' may mean that a statement is among those"
            )
    least = [_least_us(digest) for digest in (old, new)]
    if least[0] is not None and least[1] is not None and _far_apart(least[0], least[1]):
        yield (
            f"the quickest statement of OLD took {time_text(least[0])}, that of NEW"
            f" {time_text(least[1])}: with another long_query_time statements come and go that ran just"
            " the same"
        )
    if old.seconds is None or new.seconds is None:
        yield "without the length of both windows calls in a second and load cannot be compared"
    if _servers(old) and _servers(new) and _servers(old) != _servers(new):
        yield f"the servers differ: {', '.join(_servers(old))}; {', '.join(_servers(new))}"


def _servers(digest: Digest) -> list[str]:
    return sorted({shorten(source.server, 60) for source in digest.sources if source.server})


def _least_us(digest: Digest) -> int | None:
    return digest.total.query_time.min if digest.total.query_time else None


def _far_apart(one: int, other: int) -> bool:
    """Both logs have statements from their threshold on, so that the quickest lies just above it."""
    low, high = sorted((one, other))
    return high >= 10_000 and high >= 3 * low


def _load(comparison: Comparison) -> str:
    old, new, changed = comparison.old.load, comparison.new.load, comparison.load
    kinds = Counter(each.times for each in comparison.changes)
    text = ", ".join(f"{count(kinds[word])} {word}" for word in _STYLES if kinds[word]) or "none changed"
    if old is None or new is None or changed is None:
        return f"Statements: {text}."
    return f"Load {number(old)} -> {number(new)} ({signed(changed)}). Statements: {text}."


def _change(rank: int, each: Change, width: int) -> Iterator[Line]:
    word = verdict(each)
    if each.load is not None:
        word += f", load {_load_of(each.old)} -> {_load_of(each.new)} ({signed(each.load)})"
    yield Line(f"{rank:3}. {word}", _STYLES.get(each.times, "heading"))
    yield from wrapped(each.fingerprint, width, first=_INDENT)
    for text in change_words(each):
        yield from wrapped(text, width, first=f"{_INDENT}  ", rest=f"{_INDENT}    ")
    yield Line(f"{_INDENT}  id {each.id}", "faint")


def verdict(each: Change) -> str:
    """`slower`, `slower, called more often`, `new`, `no change shown`"""
    if each.times in ("new", "gone"):
        return each.times
    words: list[str] = [each.times] if each.times in ("slower", "faster") else []
    words += {"more": ["called more often"], "fewer": ["called less often"]}.get(each.calls or "", [])
    return ", ".join(words) or (AS_BEFORE if each.times == each.calls == "alike" else NOT_SHOWN)


def change_words(each: Change) -> Iterator[str]:
    """The numbers behind the verdict, in sentences."""
    if each.old is None or each.new is None:
        run = each.new or each.old
        if run is not None:
            rate = f", {number(run.per_second)} a second" if run.per_second is not None else ""
            calls = f"{count(run.count)} {plural(run.count, 'call')}"
            yield f"{calls}{rate}, mean {time_text(run.mean_us)}, p95 {time_text(run.p95_us)}"
        return
    yield f"mean {time_text(each.old.mean_us)} -> {time_text(each.new.mean_us)}{_mean_words(each)}"
    calls = f"calls {count(each.old.count)} -> {count(each.new.count)}"
    if each.rate_ratio is not None:
        of = each.rate_ratio
        calls += (
            f", a second {number(each.old.per_second)} -> {number(each.new.per_second)}: {change(of.value)}"
            f" ({change(of.low)} to {change(of.high)})"
        )
    yield calls
    if each.by_calls is not None and each.by_times is not None:
        yield f"load changes by {signed(each.by_times)} for its times, {signed(each.by_calls)} for its calls"


def _mean_words(each: Change) -> str:
    means = each.mean_ratio
    if means is None:
        return ""
    text = f": {ratio(means.value)}"
    if means.low is None:
        few = min(run.count for run in (each.old, each.new) if run) < FEWEST
        why = f"too few calls to judge (under {FEWEST})" if few else "sums alone cannot be judged"
        return f"{text}; {why}"
    text += f" ({ratio(means.low)} to {ratio(means.high)})"
    if each.times == "unsure":
        text += f", neither a change of {NOTABLE * 100:.0f}% nor its absence is shown"
    if each.chance_slower is not None:
        text += f"; of 100 pairs, the new call is slower in {each.chance_slower * 100:.0f}"
    return text


def _beyond(loads: Sequence[float | None]) -> str:
    known = [load for load in loads if load is not None]
    text = f", whose loads change by {signed(sum(known))} together" if known else ""
    return f"{count(len(loads))} more{text} (--limit)"


def signed(load: float) -> str:
    """`+0.45`, `−0.02`, `±0` for what is too little."""
    if abs(load) < _LEAST_LOAD:
        return "±0"
    return f"{MINUS if load < 0 else '+'}{number(abs(load))}"


def load_text(load: float) -> str:
    """`0.326`, `< 0.0001`"""
    return "0" if not load else f"< {_LEAST_LOAD}" if load < _LEAST_LOAD else number(load)


def _load_of(run: Run | None) -> str:
    return "0" if run is None or run.load is None else load_text(run.load)
