"""What every page of mydyno's has, whatever it says: one HTML file that needs nothing but itself.

`templates/skeleton.html` is the frame, which a page's template extends; macros for tables and charts are in
`templates/macros.html`.

**Charts.** Each figure has a still picture, for the first sight, for print and for readers without
script. When it comes near the window, `templates/report.js` draws the same chart in its place, at the width
of its box, from its Vega-Lite specification. That is in the page as JSON, as does all other data
(`page_data.py`): nothing in the page is ever put together to a script, and its Content-Security-Policy names
its scripts by their hash.

A section that draws many charts of one kind needs neither a still nor a specification for each of them:

1. `charts.live.live(name, draw, zoom=True)` makes the chart once, over data that it only names
   (`alt.NamedData("rates")`); `rendered` puts it in the page with the others (`charts`).
2. The rows are data sets by name, as columns (`page_data.Columns`): `{"rates": {"s": [...], "rate": [...]}}`,
   under a key for each place where the chart is drawn, `rendered`'s `sets`: `{"t005": {"rates": ...}}`.
3. The section's template says where: `{{ chart("trial-rates", "What it shows, in words", sets="t005") }}`.
   Inside a folded `<details>` nothing is read or drawn until it is opened.

**Colours** are those of the light theme everywhere; CSS gives them their dark counterparts (`theme.DARK`), in
stills and live charts alike, and hides what has a setting's colour when its name in the legend is pressed.
So a chart must take every colour from the theme.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup, escape

from mydyno.page.charts import theme, vega
from mydyno.page.charts.inline import dark_rules
from mydyno.page.charts.live import LiveChart
from mydyno.page.charts.press import press
from mydyno.page.format import MISSING, count, keep_together
from mydyno.page.page_data import Columns, json_text, policy, script_text
from mydyno.page.table import Table

_PACKAGE = "mydyno.page"

_MARKUP = frozenset("&<>\"'")
"""What `escape` escapes; most cells have none of it."""


def rendered(
    package: str,
    template: str,
    *,
    charts: Sequence[LiveChart],
    contents: Sequence[tuple[str, str]],
    sets: Mapping[str, Mapping[str, Columns]] | None = None,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    **view: Any,
) -> str:
    """The page that `template`, of the `templates` folder of `package`, makes of `view`.

    `contents`: (id, title) of each section, in their order. `styles` and `scripts`: files next to the
    template that this page has besides those of every page; such a script runs before `report.js`.
    """
    templates = _templates(package)
    sources = [press().script.result(), *(_source(templates, name) for name in (*scripts, "report.js"))]
    checked = [script_text(source) for source in sources]
    return templates.get_template(template).render(
        charts=charts,
        sets=sets or {},
        contents=contents,
        settings_data={"config": theme.config(), "locale": vega.LOCALE},
        css=Markup("\n".join([css(), *(_source(templates, name) for name in styles)])),
        scripts=checked,
        policy=policy(checked),
        licences=Markup(_source(templates, "licences.txt")),
        json_text=json_text,
        colors=theme.SERIES,
        count=count,
        keep_together=keep_together,
        table_markup=table_markup,
        breakable=breakable,
        missing=MISSING,
        **view,
    )


def table_markup(table: Table, caption: str) -> Markup:
    """A `<table>`, every cell escaped. Written here, not in a template: 200 trials have 50,000 cells."""
    left = [' class="text"' if at in table.text_columns else "" for at in range(len(table.columns))]
    heads = "".join(
        f'<th scope="col"{text}>{escape(column)}</th>'
        for text, column in zip(left, table.columns, strict=True)
    )
    rows = "\n".join(f"<tr>{cells(row, left)}</tr>" for row in table.rows)
    return Markup(
        f'<table>\n<caption class="unseen">{escape(caption)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
    )


def cells(row: Sequence[str], attributes: Sequence[str]) -> str:
    """`<td>` after `<td>`, escaped; each with its own of `attributes`, which is empty or begins with a
    space."""
    return "".join(
        [
            f"<td{text}>{cell if _MARKUP.isdisjoint(cell) else escape(cell)}</td>"
            for text, cell in zip(attributes, row, strict=True)
        ]
    )


def breakable(name: str) -> Markup:
    """`name` escaped, with a chance to break the line after each underscore."""
    return Markup("_<wbr>").join(name.split("_"))


@cache
def _templates(package: str) -> jinja2.Environment:
    """The templates of one kind of page, and those of all pages."""
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in (package, _PACKAGE)]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _source(templates: jinja2.Environment, name: str) -> str:
    assert templates.loader is not None
    return templates.loader.get_source(templates, name)[0]


def css() -> str:
    """The style sheet of all pages."""
    source = _source(_templates(_PACKAGE), "report.css")
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
