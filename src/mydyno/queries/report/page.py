"""A digest, and two of them compared, as one HTML page each: the skeleton of all pages (`skeleton.py`),
filled by `templates/digest.html` and `templates/digest_comparison.html`.

What a page shows is made by `header.py`, `figures.py`, `profile.py` (all
groups), `groups.py` (the first ones at length), `changes.py` (a comparison).
"""

from datetime import UTC
from typing import Any

from mydyno import __version__
from mydyno.page.charts.press import press
from mydyno.page.drawing import Drawing, drawings
from mydyno.page.format import capitalised, printable
from mydyno.page.skeleton import rendered
from mydyno.page.time_zones import Zone
from mydyno.queries.comparison import Comparison
from mydyno.queries.order import BY_TIME, ordered
from mydyno.queries.records import Digest
from mydyno.queries.report import changes
from mydyno.queries.report.chart import SHIFTS
from mydyno.queries.report.comparison_text import notes
from mydyno.queries.report.figures import (
    candidates_text,
    digest_figures,
    each_call,
    facts,
    sources_table,
    span,
)
from mydyno.queries.report.groups import detailed, group_sections
from mydyno.queries.report.profile import profile
from mydyno.queries.report.sql_lines import abbreviated, sql_markup
from mydyno.queries.report.words import all_groups, cautions, headline, how_often, share, share_of_time, where

_UTC = Zone(UTC)
_NAMED = 3
"""Groups that are named below the headline."""
_OPEN = 3
"""Sections that are unfolded from the beginning."""
_NAME = 120
"""Characters of a statement where it is named."""


def digest_html(digest: Digest, zone: Zone = _UTC) -> str:
    """The page, its times in that zone, with the most total time first."""
    press().script  # noqa: B018 - started before the pictures, for it takes long
    digest = ordered(digest, BY_TIME)
    drawing = drawings(list(digest_figures(digest, zone)))
    groups = detailed(digest)
    table = profile(digest, {group.id for group in groups}, zone)
    sections = group_sections(digest, groups, zone)
    figures = drawing()
    return _rendered(
        "digest.html",
        figures,
        contents=[
            *([("profile", "All statements")] if digest.groups else []),
            *([("candidates", "Index candidates")] if digest.candidates else []),
            *([("statements", "Statement by statement")] if digest.groups else []),
        ],
        digest=digest,
        headline=headline(digest),
        span=span(digest, zone),
        facts=list(facts(digest)),
        cautions=list(cautions(digest, zone)),
        first=[
            (group, share_of_time(group, digest.total), each_call(group)) for group in digest.groups[:_NAMED]
        ],
        candidates_text=candidates_text(digest),
        sources=sources_table(digest, zone),
        profile=table,
        sections=sections,
        known={group.id: rank for rank, group in enumerate(digest.groups, 1)},
        all_groups=all_groups(digest),
    )


def comparison_html(comparison: Comparison, zone: Zone = _UTC) -> str:
    """The page of two compared digests, the largest changes of the load first."""
    press().script  # noqa: B018 - as above
    drawing = drawings(list(changes.comparison_figures(comparison)))
    sections = changes.change_sections(comparison)
    table = changes.changes_table(comparison, {each.change.id for each in sections})
    figures = drawing()
    return _rendered(
        "digest_comparison.html",
        figures,
        contents=[
            *([("changes", "All statements")] if comparison.changes else []),
            *([("statements", "Statement by statement")] if sections else []),
        ],
        headline=changes.comparison_headline(comparison),
        comparison=comparison,
        notes=list(notes(comparison)),
        sides=changes.sides_table(comparison, zone),
        changes=table,
        shifts=SHIFTS,
        sections=sections,
        digests=[
            (name, one, sources_table(one, zone))
            for name, one in (("old", comparison.old), ("new", comparison.new))
        ],
    )


def _rendered(
    template: str, figures: tuple[Drawing, ...], contents: list[tuple[str, str]], **view: Any
) -> str:
    drawn = [(each.figure.name, each.figure.title) for each in figures]
    return rendered(
        "mydyno.queries.report",
        template,
        charts=[each.chart for each in figures],
        styles=["statements.css"],
        scripts=["statements.js"],
        version=__version__,
        figures=figures,
        contents=[*drawn, *contents, ("sources", "Sources")],
        open_sections=_OPEN,
        capitalised=capitalised,
        named=lambda group: abbreviated(group.fingerprint, _NAME),
        how_often=how_often,
        printable=printable,
        share=share,
        sql_markup=sql_markup,
        where=where,
        **view,
    )
