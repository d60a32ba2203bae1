"""The top and the bottom of a digest's page: what was read, and what it comes to."""

from __future__ import annotations

from collections.abc import Iterator

from mydyno.core.plurals import plural
from mydyno.page.format import MISSING, count, duration, number, printable
from mydyno.page.table import Table
from mydyno.page.time_zones import Zone
from mydyno.queries.records import Digest, Group
from mydyno.queries.report.words import all_groups, amount, per_second, share


def span(digest: Digest, zone: Zone) -> str:
    """`2026-11-22 03:00:00 to 04:00:00 UTC`; empty where no entry has a time."""
    return zone.span(*digest.window_us) if digest.window_us else ""


def each_call(group: Group) -> str:
    """`4,000 calls of 193 ms`."""
    time = group.query_time
    text = "one call" if group.count == 1 else f"{count(group.count)} calls"
    return f"{text} of {amount(time.mean, 'us')}" if time and time.sum else text


def facts(digest: Digest) -> Iterator[tuple[str, str]]:
    """How much, over how long, how busy."""
    yield "Calls", count(digest.total.count)
    yield "Statements", count(all_groups(digest))
    if "query_time" in digest.total.measures:
        yield "Query time", amount(digest.total.query_time_us, "us")
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
