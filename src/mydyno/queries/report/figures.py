"""The figures on the page of a digest: the load over time, and what took the time."""

from collections.abc import Callable, Iterator

from mydyno.core.plurals import plural
from mydyno.page.charts.draw import Chart
from mydyno.page.charts.theme import Size
from mydyno.page.drawing import Figure
from mydyno.page.format import MISSING, count, duration, number, printable
from mydyno.page.table import Table
from mydyno.page.time_zones import Zone
from mydyno.queries.records import Digest, Group
from mydyno.queries.report.chart import Bar, load_chart, load_steps, top_chart
from mydyno.queries.report.words import all_groups, amount, headline, others, per_second, share, time_text

_BARS = 12
"""Groups in the chart; the others are one bar together."""


def span(digest: Digest, zone: Zone) -> str:
    """`2026-11-22 03:00:00 to 04:00:00 UTC`; empty where no entry has a time."""
    return zone.span(*digest.window_us) if digest.window_us else ""


def each_call(group: Group) -> str:
    """`4,000 calls of 193 ms`."""
    time = group.query_time
    text = "one call" if group.count == 1 else f"{count(group.count)} calls"
    return f"{text} of {time_text(time.mean)}" if time and time.sum else text


def facts(digest: Digest) -> Iterator[tuple[str, str]]:
    """How much, over how long, how busy."""
    yield "Calls", count(digest.total.count)
    yield "Statements", count(all_groups(digest))
    if "query_time" in digest.total.measures:
        yield "Query time", time_text(digest.total.query_time_us)
    if digest.seconds:
        yield "Over", duration(digest.seconds)
        yield "Calls a second", number(per_second(digest.total, digest))
        yield "Running at once", number(digest.load)
    servers = dict.fromkeys(printable(each.server) for each in digest.sources if each.server)
    if servers:
        yield "Server", ", ".join(servers)
    if digest.filtered:
        yield "Left out by filters", count(digest.filtered)


def candidates_text(digest: Digest) -> str:
    """`2 index candidates would serve statements that take 81% of the time`; empty without one."""
    if not digest.candidates:
        return ""
    served = {id_ for each in digest.candidates for id_ in each.groups}
    time = sum(group.query_time_us for group in digest.groups if group.id in served)
    text = f"{count(len(digest.candidates))} index {plural(len(digest.candidates), 'candidate')}"
    return f"{text} would serve statements that take {share(time, digest.total.query_time_us)} of the time"


def sources_table(digest: Digest, zone: Zone) -> Table:
    return Table(
        ("source", "server", "entries", "bytes", "compression", "first", "last"),
        tuple(
            (
                printable(each.name),
                printable(each.server) if each.server else MISSING,
                count(each.entries),
                amount(each.bytes, "bytes") if each.bytes else MISSING,
                each.compression,
                zone.moment(each.first_us),
                zone.moment(each.last_us),
            )
            for each in digest.sources
        ),
        frozenset({0, 1, 4}),
    )


def digest_figures(digest: Digest, zone: Zone) -> Iterator[Figure]:
    """Those for which there is something to draw."""
    steps = load_steps(digest.timeline)
    if len(steps) > 1:
        caption = (
            f"In steps of {duration(steps[0].length_s)}: how many statements a second, and how many seconds "
            "they took in each, which is how many were running at once."
        )
        title = "The load over time"
        yield figure("load", title, caption, lambda size: load_chart(steps, zone, size), title, zoom=True)
    if len(digest.groups) > 1:
        timed = digest.total.query_time_us > 0
        bars = _bars(digest, timed=timed)
        title = "What took the time" if timed else "What was called"
        caption = (
            f"A bar is a statement's share of the {'time' if timed else 'calls'}; the pale one behind"
            " it is that of all down to it."
        )
        yield figure("top", title, caption, lambda size: top_chart(bars, size), headline(digest))


def figure(
    name: str, title: str, caption: str, draw: Callable[[Size], Chart], headline: str, *, zoom: bool = False
) -> Figure:
    """One without settings, whose lines are named on it; its picture has `headline` as title."""
    return Figure(name, title, caption, draw, headline, (), colored=False, zoom=zoom)


def _bars(digest: Digest, *, timed: bool) -> list[Bar]:
    whole = digest.total.query_time_us if timed else digest.total.count

    def part(time_us: int, calls: int) -> float:
        return (time_us if timed else calls) / whole if whole else 0.0

    bars, shown = [], digest.groups[:_BARS]
    for group in shown:
        time = group.query_time
        of = f" × {time_text(time.mean)}" if time and timed else ""
        label = f"{count(group.count)}{of}"
        bars.append(Bar(group.fingerprint, part(group.query_time_us, group.count), label))
    if beyond := all_groups(digest) - len(shown):
        time_us = digest.total.query_time_us - sum(each.query_time_us for each in shown)
        calls = digest.total.count - sum(each.count for each in shown)
        bars.append(Bar(others(beyond), part(time_us, calls), f"{count(calls)} {plural(calls, 'call')}"))
    return bars
