"""The report as one HTML page that needs nothing but itself.

The skeleton is `templates/report.html`; each section is a file of its own in `templates/sections`, included
there, and its line in the list of contents is in `contents` below. Macros for tables and charts are in
`templates/macros.html`.

**Charts.** In each figure stands a still picture, for the first sight, for print and for readers without
script. When it comes near the window, `templates/report.js` draws the same chart in its place, at the width
of its box, from its Vega-Lite specification. That stands in the page as JSON, as does all other data
(`page_data.py`): nothing in the page is ever put together to a script, and its Content-Security-Policy names
its two scripts by their hash.

A section that draws many charts of one kind needs neither a still nor a specification for each of them:

1. `charts.live.live(name, draw, zoom=True)` makes the chart once, over data that it only names
   (`alt.NamedData("rates")`); `html` puts it in the page with the others (`charts`).
2. The rows are data sets by name, as columns (`page_data.Columns`): `{"rates": {"s": [...], "rate": [...]}}`,
   under a key for each place where the chart is drawn, `html`'s `sets`: `{"t005": {"rates": ...}}`.
3. The section's template says where: `{{ chart("trial-rates", "What it shows, in words", sets="t005") }}`.
   Inside a folded `<details>` nothing is read or drawn until it is opened.

**Colours** are those of the light theme everywhere; CSS gives them their dark counterparts (`theme.DARK`), in
stills and live charts alike, and hides what has a setting's colour when its name in the legend is pressed.
So a chart must take every colour from the theme.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import jinja2
from markupsafe import Markup, escape

from mydyno.report.charts import theme, vega
from mydyno.report.charts.inline import dark_rules
from mydyno.report.charts.press import press
from mydyno.report.comparison_tables import cell_text, comparison_caption, label_columns, labels
from mydyno.report.drawing import Drawing
from mydyno.report.effects_tables import effects_table
from mydyno.report.figures import EFFECTS, GROUND
from mydyno.report.format import MISSING, count, keep_together
from mydyno.report.page_data import Columns, json_text, policy, script_text
from mydyno.report.rank_tables import CAPTION as RANKS_CAPTION
from mydyno.report.rank_tables import ranks_table
from mydyno.report.sources import SOURCES
from mydyno.report.storage_tables import storage_tables
from mydyno.report.tables import (
    Table,
    key_numbers_table,
    key_value,
    remarks_told,
    trials_table,
)
from mydyno.report.trial_data import counter_titles, trial_charts, trial_sets
from mydyno.report.trial_sections import trial_sections
from mydyno.report.views.page import Page
from mydyno.report.views.trial_pages import TrialPage
from mydyno.results.records import EXTERNAL_SERVER

_TEMPLATES = jinja2.Environment(
    loader=jinja2.PackageLoader("mydyno.report"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


_MARKUP = frozenset("&<>\"'")
"""What `escape` escapes; most cells have none of it."""
_MANY_ROWS = 24
"""Rows of the table of comparisons that are shown unfolded."""
_MANY_REMARKS = 8
"""Marked trials that are listed unfolded."""


def html(page: Page, drawings: Sequence[Drawing], trials: Sequence[TrialPage] = ()) -> str:
    """The whole page with its figures and the pages of `trials`."""
    settings = page.settings.settings
    charts = [*(drawing.chart for drawing in drawings), *trial_charts(trials, page.words)]
    titles = counter_titles(trials)
    sets: dict[str, Mapping[str, Columns]] = {
        trial.anchor: trial_sets(trial, page.words, titles) for trial in trials
    }
    scripts = [script_text(source) for source in (press().script.result(), _source("report.js"))]
    return _TEMPLATES.get_template("report.html").render(
        page=page,
        settings=settings,
        drawings=drawings,
        charts=charts,
        sets=sets,
        contents=contents(page, drawings, trials=bool(trials)),
        settings_data={"config": theme.config(), "locale": vega.LOCALE},
        scripts=scripts,
        policy=policy(scripts),
        licences=Markup(_source("licences.txt")),
        json_text=json_text,
        headline=keep_together(page.verdicts.headline),
        day=page.experiment.created_at.partition("T")[0],
        facts=_facts(page),
        cited=list(dict.fromkeys(key for step in page.procedure for key in step.sources)),
        sources=SOURCES,
        comparison_caption=comparison_caption(page.comparison) if page.comparison.rows else "",
        comparison_labels=label_columns(page.comparison),
        comparison_rows=[
            (labels(page.comparison, row), [cell_text(row, cell) for cell in row.cells])
            for row in page.comparison.rows
        ],
        durability=durability(page),
        many_rows=_MANY_ROWS,
        key_table=key_numbers_table(page.key_numbers),
        trial_cells=trials_table(page.trials),
        trial_pages=list(trial_sections(trials, page.words)),
        ground_figure=GROUND,
        ranks_caption=RANKS_CAPTION,
        ranks_table=ranks_table,
        effects_figure=EFFECTS,
        effects_table=effects_table(page.effects),
        storage_tables=storage_tables(page.ground),
        remarks_told=remarks_told,
        many=_MANY_REMARKS,
        css=Markup(_css()),
        colors=theme.SERIES,
        count=count,
        key_value=key_value,
        keep_together=keep_together,
        table_markup=table_markup,
        breakable=breakable,
        missing=MISSING,
    )


def durability(page: Page) -> list[tuple[str, str]]:
    """(whose, label): of each setting; where several factors vary, of each column if its points have the same
    one, else of all settings that share it."""
    view, unknown = page.comparison, "durability unknown"
    labels = [label or unknown for label in page.settings.durability]
    named = [setting.short if view.others else setting.title for setting in page.settings.settings]
    if not view.others:
        return list(zip(named, labels, strict=True))
    if all(column.durability for column in view.columns):
        return [(column.level, column.durability or unknown) for column in view.columns]
    return [
        (", ".join(name for name, own in zip(named, labels, strict=True) if own == label), label)
        for label in dict.fromkeys(labels)
    ]


def table_markup(table: Table, caption: str) -> Markup:
    """A `<table>`, every cell escaped. Written here, not in a template: 200 trials have 50,000 cells."""
    left = [' class="text"' if at in table.text_columns else "" for at in range(len(table.columns))]
    heads = "".join(
        f'<th scope="col"{text}>{escape(column)}</th>'
        for text, column in zip(left, table.columns, strict=True)
    )
    rows = "\n".join(f"<tr>{_cells(row, left)}</tr>" for row in table.rows)
    return Markup(
        f'<table>\n<caption class="unseen">{escape(caption)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
    )


def _cells(row: Sequence[str], left: Sequence[str]) -> str:
    return "".join(
        [
            f"<td{text}>{cell if _MARKUP.isdisjoint(cell) else escape(cell)}</td>"
            for text, cell in zip(left, row, strict=True)
        ]
    )


def breakable(name: str) -> Markup:
    """`name` escaped, with a chance to break the line after each underscore."""
    return Markup("_<wbr>").join(name.split("_"))


def contents(page: Page, drawings: Sequence[Drawing], *, trials: bool) -> list[tuple[str, str]]:
    """(id, title) of each section, in their order on the page."""
    compared = [] if page.comparison.empty else [("comparison", f"By {page.comparison.name}")]
    drawn = [(each.figure.name, each.figure.title) for each in drawings]
    ground = [] if page.ground.empty else [("ground", "The ground and its disks")]
    claims = [("claims", "What its source concluded")] if page.claims else []
    return [
        *compared,
        *claims,
        *([] if page.ranks.empty else [("ranks", "Ranks")]),
        *((name, title) for name, title in drawn if name == EFFECTS),
        *((name, title) for name, title in drawn if name not in (EFFECTS, GROUND)),
        *ground,
        ("validity", "Trials and validity"),
        *([("trials", "Trial by trial")] if trials else []),
        ("settings", "Settings"),
        ("environment", "Environment"),
        ("method", "Method"),
        ("reproduce", "Run it again"),
    ]


def _source(name: str) -> str:
    return jinja2.PackageLoader("mydyno.report").get_source(_TEMPLATES, name)[0]


def _css() -> str:
    source = _source("report.css")
    slots = range(len(theme.SERIES))
    light = "\n".join(_slot_rule(slot, theme.SERIES[slot]) for slot in slots)
    dark = "\n".join(_slot_rule(slot, theme.DARK[theme.SERIES[slot]]) for slot in slots)
    in_the_dark = f"@media screen and (prefers-color-scheme: dark) {{\n{dark}\n{dark_rules('.chart')}\n}}"
    put_away = "\n".join(_hiding_rule(slot) for slot in slots)
    return f"{source}\n{light}\n{in_the_dark}\n{put_away}"


def _hiding_rule(slot: int) -> str:
    """What has the colour of a slot is not shown in a section in which its name was pressed."""
    color = theme.SERIES[slot]
    inside = f"@media screen {{ .without-s{slot} .chart"
    return f'{inside} :is([fill="{color}"],[stroke="{color}"]){{display:none}} }}'


def _slot_rule(slot: int, color: str) -> str:
    return f".s{slot}{{color:{color}}} .edge.s{slot}{{border-color:{color};color:inherit}}"


def _facts(page: Page) -> list[tuple[str, str]]:
    """The line under the verdict: what one asks first about a benchmark."""
    known = {f"{group.name}.{fact.name}": fact.value for group in page.environment for fact in group.facts}
    wanted = [
        ("Server", "server.version"),
        ("External server", EXTERNAL_SERVER),
        ("CPU", "cpu.model"),
        ("CPUs", "cpu.usable"),
        ("Memory", "memory.bytes"),
    ]
    if page.ground.empty:
        # Else the server stands on the ground's own.
        wanted += [("Kernel", "kernel.release"), ("File system", "filesystem.kind")]
    labels = sorted({label for label in page.settings.durability if label is not None})
    found = [(name, known[key]) for name, key in wanted if known.get(key, MISSING) != MISSING]
    found += [("Ground", model.told) for model in page.ground.models]
    return [*found, ("Durability", ", ".join(labels))] if labels else found
