"""A digest in words and figures, for the page and the terminal."""

from collections.abc import Iterator, Sequence

from mydyno.core.plurals import plural
from mydyno.core.units import format_bytes
from mydyno.page.blocks import heights
from mydyno.page.format import MISSING, count, latency, number, printable, ratio
from mydyno.page.time_zones import Zone
from mydyno.queries.attributes import title
from mydyno.queries.history import times_of_before
from mydyno.queries.records import Digest, Example, Figures, Group, History, Problem, Unit
from mydyno.server.access import dbapi

_MOST = 0.8
"""Groups are named in the headline, the largest first, until they have this share."""
_HANDFUL = 5
"""Groups that a reader can look at one by one; of more, one that has a _LARGE share is named alone."""
_LARGE = 0.25
_HALF = 0.5
"""Of all groups; when more are needed, none stands out."""


def headline(digest: Digest) -> str:
    """`3 of 214 statements take 81% of the time`; of the calls, where no entry has a time."""
    groups = all_groups(digest)
    if not groups:
        return "No statement was found"
    timed = digest.total.query_time_us > 0
    parts = sorted((each.query_time_us if timed else each.count for each in digest.groups), reverse=True)
    whole = digest.total.query_time_us if timed else digest.total.count
    of = "of the time" if timed else "of the calls"
    if groups == 1:
        return f"One statement takes all {of}"
    taken = _needed(parts, whole * _MOST)
    most_is_known = sum(parts[:taken]) >= whole * _MOST
    is_large = parts[0] > whole * _HALF or parts[0] >= whole * max(_LARGE, 1.5 / groups)
    if (taken > _HANDFUL or taken > groups * _HALF or not most_is_known) and is_large:
        taken = 1
    elif taken > groups * _HALF or not most_is_known:
        return f"No statement stands out: the first of {count(groups)} takes {share(parts[0], whole)} {of}"
    text = f"{share(sum(parts[:taken]), whole)} {of}"
    if taken == 1:
        return f"One of {count(groups)} statements takes {text}"
    return f"{count(taken)} of {count(groups)} statements take {text}"


def _needed(parts: Sequence[int], wanted: float) -> int:
    """How many of them, from the first on, come to `wanted`; all of them where they never do."""
    so_far = 0
    for place, part in enumerate(parts, 1):
        so_far += part
        if so_far >= wanted:
            return place
    return len(parts)


def all_groups(digest: Digest) -> int:
    """Those beyond the limit too."""
    return len(digest.groups) + (digest.rest.groups if digest.rest else 0)


def cautions(digest: Digest, zone: Zone) -> Iterator[str]:
    """What makes the numbers other than they look."""
    was_narrowed = digest.filtered or digest.since_us is not None or digest.until_us is not None
    if was_narrowed and not digest.total.count and (known := _known(digest)) is not None:
        yield f"no entry matched; the entries are from {zone.span(*known)}"
    rate = digest.total.measures.get("log_slow_rate_limit")
    if rate is not None and rate.max is not None and rate.max > 1:
        yield (
            f"the server logged one in {count(rate.max)} (log_slow_rate_limit): counts and totals here are of"
            " what was logged, not of what ran"
        )


def _known(digest: Digest) -> tuple[int, int] | None:
    """From when to when the sources are, without --since and --until."""
    return digest.model_copy(update={"since_us": None, "until_us": None}).window_us


def others(groups: int) -> str:
    """Those that are not shown one by one: `the other 13 statements`."""
    return "one other statement" if groups == 1 else f"the other {count(groups)} statements"


def share(part: float, whole: float) -> str:
    """`81%`, `0.3%`; a dash where there is no whole. What is not all never reads `100%`."""
    if whole <= 0:
        return MISSING
    percent = part / whole * 100
    if 0 < percent < 0.1:
        return "< 0.1%"
    if 99.5 <= percent < 100:
        return "> 99%"
    return f"{percent:.0f}%" if percent >= 10 or percent == 0 else f"{percent:.1f}%"


def share_of_time(group: Group, total: Figures) -> str:
    return share(group.query_time_us, total.query_time_us)


def examined_per_sent(figures: Figures) -> float | None:
    """Rows examined for each that was sent; None where one of them is not known, or none was sent."""
    examined, sent = figures.figure("rows_examined"), figures.figure("rows_sent")
    return examined / sent if examined is not None and sent else None


def per_second(figures: Figures, digest: Digest) -> float | None:
    """Calls in a second of the digest's window; None where that has no length."""
    return figures.count / digest.seconds if digest.seconds else None


def amount(value: float | None, unit: Unit) -> str:
    """A number of an attribute in its unit: `12.3 ms`, `46,153`, `1.5K`."""
    if value is None:
        return MISSING
    if unit == "us":
        return latency(value * 1000) if value else "0"
    if unit == "bytes":
        return format_bytes(round(value))
    return count(value) if value == int(value) else number(value)


def time_text(microseconds: float | None) -> str:
    return amount(microseconds, "us")


def amounts_us(values: Sequence[int | None]) -> list[str]:
    """Times in the unit that suits the largest of them: a column of them is compared at a glance."""
    largest = max((value for value in values if value), default=0)
    unit, size = next((each for each in _UNITS if largest >= each[1]), ("µs", 1))
    return [
        MISSING if value is None else f"{_digits(value / size)} {unit}" if value else "0" for value in values
    ]


_UNITS = (("s", 1_000_000), ("ms", 1_000), ("µs", 1))


def _digits(value: float) -> str:
    """Two decimals below 10 and none from 100 on; what is less than the last of them says so."""
    decimals = 2 if value < 10 else 1 if value < 100 else 0
    if value < 10**-decimals / 2:
        return f"< {10**-decimals:.{decimals}f}"
    return f"{value:,.{decimals}f}"


def called(name: str) -> str:
    """An attribute's title, on one line: logs may hold unknown attributes."""
    return printable(title(name).short)


def error_names(errors: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """`1205 LOCK_WAIT_TIMEOUT` and how often; a number alone where the client library has no name for it."""
    if not errors:
        return []

    names = {str(value): name for name, value in vars(dbapi.ER).items() if name.isupper()}
    return [(f"{number} {names.get(number, '')}".rstrip(), times) for number, times in errors]


def history_words(history: History, zone: Zone) -> str:
    """`first seen 2026-11-01 03:00:00; in 12 of 14 earlier digests; mean 120 ms -> 220 ms`."""
    if not history.digests:
        return "no earlier digest"
    earlier = f"{count(history.digests)} earlier {plural(history.digests, 'digest')}"
    if len(history.runs) < 2:
        return f"new: in none of {earlier}, the first of {zone.moment(history.since_us)}"
    means = [run.mean_us for run in history.runs if run.mean_us]
    text = f"first seen {zone.moment(history.first_us)}; in {count(len(history.runs) - 1)} of {earlier}"
    if (times := times_of_before(history)) is not None:
        text += f"; mean {heights(means)} {amount(means[0], 'us')} -> {amount(means[-1], 'us')}"
        text += f", {ratio(times)} the median before"
    return text


def where(at: Example | Problem) -> str:
    """`slow.log, line 31,802, byte 1,204,113`: its place, on one line. Empty where that is not known."""
    line = f"line {count(at.line)}" if at.line is not None else ""
    byte = f"byte {count(at.at_byte)}" if at.at_byte is not None else ""
    return ", ".join(part for part in (printable(at.source or ""), line, byte) if part)


def how_often(problem: Problem) -> str:
    """`once`, `12 times`."""
    return "once" if problem.count == 1 else f"{count(problem.count)} times"
