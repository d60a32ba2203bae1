"""A digest as one HTML page: the skeleton of all pages (`skeleton.py`), filled by `templates/digest.html`.

What it shows is made beside it: the profile (`digest_profile.py`), the sections of the first groups
(`digest_groups.py`), the load over time (`digest_load.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from mydyno import __version__
from mydyno.digest.records import Digest, Group, Source
from mydyno.report.charts.digest import load_chart, top_chart
from mydyno.report.charts.press import press
from mydyno.report.digest_groups import detailed, group_sections
from mydyno.report.digest_load import load_steps
from mydyno.report.digest_profile import AT_FIRST, cut, profile, profile_markup
from mydyno.report.digest_words import (
    all_groups,
    amount,
    headline,
    how_often,
    moment,
    others,
    share,
    share_of_time,
    where,
)
from mydyno.report.drawing import Drawing, drawings
from mydyno.report.figures import Figure
from mydyno.report.format import MISSING, count, duration, number, printable
from mydyno.report.skeleton import rendered
from mydyno.report.sql_markup import sql_markup
from mydyno.report.tables import Table

_BARS = 12
"""Groups in the chart; the others are one bar together."""
_NAMED = 3
"""Groups that are named below the headline."""
_OPEN = 3
"""Sections that are unfolded from the beginning."""
_NAME = 120
"""Characters of a statement where it is named."""


def digest_html(digest: Digest) -> str:
    """The page. The same digest gives the same page."""
    press().script  # noqa: B018 - asked for before the pictures, for it waits its turn
    drawing = drawings(_figures(digest))
    groups = detailed(digest)
    view = profile(digest, {group.id for group in groups})
    made = {each.figure.name: each for each in drawing()}
    return rendered(
        "digest.html",
        charts=[each.chart for each in made.values()],
        contents=_contents(digest, made),
        styles=["digest.css"],
        scripts=["digest.js"],
        version=__version__,
        digest=digest,
        headline=headline(digest),
        span=_span(digest),
        facts=_facts(digest),
        named=[(group, share_of_time(group, digest.total)) for group in digest.groups[:_NAMED]],
        candidates_told=candidates_told(digest),
        sources=sources_table(digest.sources),
        figures=made,
        profile=profile_markup(view, view.left_out + (digest.rest.groups if digest.rest else 0)),
        profile_values=view.values,
        profile_text={"atFirst": AT_FIRST, "groups": len(view.rows)},
        sections=group_sections(digest, groups),
        open_sections=_OPEN,
        known={group.id: rank for rank, group in enumerate(digest.groups, 1)},
        all_groups=all_groups(digest),
        amount=amount,
        cut=lambda text: cut(text, _NAME),
        each_call=_each_call,
        how_often=how_often,
        moment=moment,
        printable=printable,
        share=share,
        sql_markup=sql_markup,
        where=where,
    )


def _contents(digest: Digest, figures: dict[str, Drawing]) -> list[tuple[str, str]]:
    return [
        *((name, each.figure.title) for name, each in figures.items()),
        *([("profile", "All statements")] if digest.groups else []),
        *([("candidates", "Index candidates")] if digest.candidates else []),
        *([("statements", "Statement by statement")] if digest.groups else []),
        ("sources", "Sources"),
    ]


def _figures(digest: Digest) -> list[Figure]:
    steps = load_steps(digest.timeline)
    bars = _bars(digest)
    found = []
    if len(steps) > 1:
        found.append(
            Figure(
                name="load",
                title="The load over time",
                caption="What the sources hold, in steps of "
                f"{duration(steps[0].length_s)}: how many statements a second, and how many seconds they "
                "took in each, which is how many were running at once.",
                draw=lambda size: load_chart(steps, size),
                tables=(),
                picture_title="The load over time",
                picture_subtitle=(),
                labelled=True,
                colored=False,
                zoom=True,
            )
        )
    if len(digest.groups) > 1:
        what = "time" if digest.total.query_time_us else "calls"
        found.append(
            Figure(
                name="top",
                title=f"What took the {what}" if what == "time" else "What was called",
                caption=f"A bar is a statement's share of the {what}; the pale one behind it is that of all "
                "down to it.",
                draw=lambda size: top_chart(bars, size),
                tables=(),
                picture_title=headline(digest),
                picture_subtitle=(),
                labelled=True,
                colored=False,
            )
        )
    return found


def _bars(digest: Digest) -> list[tuple[str, float, str]]:
    timed = digest.total.query_time_us > 0
    whole = digest.total.query_time_us if timed else digest.total.count

    def part(time_us: int, calls: int) -> float:
        return (time_us if timed else calls) / whole if whole else 0.0

    bars = []
    for group in digest.groups[:_BARS]:
        time = group.measures.get("query_time")
        mean = f" × {amount(time.mean, 'us')}" if time and timed else ""
        bars.append(
            (group.fingerprint, part(group.query_time_us, group.count), f"{count(group.count)}{mean}")
        )
    beyond = all_groups(digest) - len(bars)
    if beyond:
        time_us = digest.total.query_time_us - sum(each.query_time_us for each in digest.groups[:_BARS])
        calls = digest.total.count - sum(each.count for each in digest.groups[:_BARS])
        bars.append((others(beyond), part(time_us, calls), f"{count(calls)} calls"))
    return bars


def _span(digest: Digest) -> str:
    """`2026-11-22 03:00:00 to 04:00:00 UTC`; empty where no entry has a time."""
    if digest.window_us is None:
        return ""
    first, last = map(moment, digest.window_us)
    if MISSING in (first, last):
        return ""
    same_day = f"{first.partition(' ')[0]} "
    return f"{first} to {last.removeprefix(same_day)} UTC"


def _each_call(group: Group) -> str:
    """`4 000 calls of 193 ms`."""
    time = group.measures.get("query_time")
    told = "one call" if group.count == 1 else f"{count(group.count)} calls"
    return f"{told} of {amount(time.mean, 'us')}" if time and time.sum else told


def _facts(digest: Digest) -> list[tuple[str, str]]:
    """What one asks first: how much, over how long, how busy."""
    servers = list(dict.fromkeys(printable(each.server) for each in digest.sources if each.server))
    found = [
        ("Calls", count(digest.total.count)),
        ("Statements", count(all_groups(digest))),
        ("Query time", amount(digest.total.query_time_us, "us") if digest.total.measures else MISSING),
    ]
    if digest.seconds:
        found += [
            ("Over", duration(digest.seconds)),
            ("Calls a second", number(digest.total.count / digest.seconds)),
            ("Running at once", number(digest.load)),
        ]
    if servers:
        found.append(("Server", ", ".join(servers)))
    if digest.filtered:
        found.append(("Left out by filters", count(digest.filtered)))
    return found


def candidates_told(digest: Digest) -> str:
    """`2 index candidates would serve statements that take 81 % of the time`; empty without one."""
    if not digest.candidates:
        return ""
    served = {id_ for each in digest.candidates for id_ in each.groups}
    time = sum(group.query_time_us for group in digest.groups if group.id in served)
    several = len(digest.candidates) > 1
    told = f"{count(len(digest.candidates))} index candidate{'s' if several else ''}"
    return f"{told} would serve statements that take {share(time, digest.total.query_time_us)} of the time"


def sources_table(sources: Sequence[Source]) -> Table:
    return Table(
        ("source", "server", "entries", "bytes", "compression", "first, UTC", "last, UTC"),
        tuple(
            (
                printable(each.name),
                printable(each.server) if each.server else MISSING,
                count(each.entries),
                amount(each.bytes, "bytes") if each.bytes else MISSING,
                each.compression,
                moment(each.first_us),
                moment(each.last_us),
            )
            for each in sources
        ),
        frozenset({0, 1, 4}),
    )
