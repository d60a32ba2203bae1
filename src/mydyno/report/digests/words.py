"""What a digest says in words and figures, for the page and the terminal alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mydyno.core.units import format_bytes
from mydyno.digest.attributes import title
from mydyno.digest.records import Digest, Example, Figures, Group, Measure, Problem, Unit
from mydyno.report.format import MISSING, count, latency, number, printable
from mydyno.report.zoned import Zone

_MOST = 0.8
"""Groups are named in the headline, the largest first, until they have this share."""
_HANDFUL = 5
"""Groups that somebody can look at one by one; of more, one that has a _LARGE share is named alone."""
_LARGE = 0.25
_HALF = 0.5
"""Of all groups; when more are needed, none stands out."""


def headline(digest: Digest) -> str:
    """`3 of 214 statements take 81 % of the time`; of the calls, where nobody told times."""
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
    most_is_told = sum(parts[:taken]) >= whole * _MOST
    if (taken > _HANDFUL or not most_is_told) and parts[0] >= whole * _LARGE:
        taken = 1
    elif taken > groups * _HALF or not most_is_told:
        return f"No statement stands out: the first of {count(groups)} takes {share(parts[0], whole)} {of}"
    told = f"{share(sum(parts[:taken]), whole)} {of}"
    if taken == 1:
        return f"One of {count(groups)} statements takes {told}"
    return f"{count(taken)} of {count(groups)} statements take {told}"


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
        yield f"nothing of what was read was asked for; it is from {zone.span(*known)}"
    rate = digest.total.measures.get("log_slow_rate_limit")
    if rate is not None and rate.max is not None and rate.max > 1:
        yield (
            f"the server logged one in {count(rate.max)} (log_slow_rate_limit): counts and totals here are of"
            " what was logged, not of what ran"
        )


def _known(digest: Digest) -> tuple[int, int] | None:
    """From when to when the sources are, whatever was asked for."""
    return digest.model_copy(update={"since_us": None, "until_us": None}).window_us


def others(groups: int) -> str:
    """Those that are not told one by one: `the other 13 statements`."""
    return "one other statement" if groups == 1 else f"the other {count(groups)} statements"


def share(part: float, whole: float) -> str:
    """`81 %`, `0.3 %`; a dash where there is no whole. What is not all never reads `100 %`."""
    if whole <= 0:
        return MISSING
    percent = part / whole * 100
    if 0 < percent < 0.1:
        return "< 0.1 %"
    if 99.5 <= percent < 100:
        return "> 99 %"
    return f"{percent:.0f} %" if percent >= 10 or percent == 0 else f"{percent:.1f} %"


def share_of_time(group: Group, total: Figures) -> str:
    return share(group.query_time_us, total.query_time_us)


def examined_per_sent(figures: Figures) -> float | None:
    """Rows looked at for each that was sent; None where nobody told both, or none was sent."""
    examined, sent = figures.measures.get("rows_examined"), figures.measures.get("rows_sent")
    return examined.sum / sent.sum if examined and sent and sent.sum else None


def amount(value: float | None, unit: Unit) -> str:
    """A number of an attribute in its unit: `12.3 ms`, `46 153`, `1.5K`."""
    if value is None:
        return MISSING
    if unit == "us":
        return latency(value * 1000) if value else "0"
    if unit == "bytes":
        return format_bytes(round(value))
    return count(value) if value == int(value) else number(value)


def mean(measure: Measure | None) -> str:
    return MISSING if measure is None else amount(measure.mean, measure.unit)


def called(name: str) -> str:
    """An attribute's title, on one line: logs may hold attributes that nobody knows."""
    return printable(title(name).short)


def where(at: Example | Problem) -> str:
    """`slow.log, line 31 802, byte 1 204 113`: its place, on one line. Empty where it stands nowhere."""
    line = f"line {count(at.line)}" if at.line is not None else ""
    byte = f"byte {count(at.at_byte)}" if at.at_byte is not None else ""
    return ", ".join(part for part in (printable(at.source or ""), line, byte) if part)


def how_often(problem: Problem) -> str:
    """`once`, `12 times`."""
    return "once" if problem.count == 1 else f"{count(problem.count)} times"
