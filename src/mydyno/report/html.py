"""The report as one HTML page that needs nothing but itself.

Each figure is in it three times, drawn for a wide, a medium and a narrow page with text of the same size, and
CSS shows the one that fits; dark colours are CSS too. The page needs no script: it opens, prints and mails as
it is.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import jinja2
from markupsafe import Markup

from mydyno.report.charts import draw, theme
from mydyno.report.charts.inline import dark_rules, inline_svg
from mydyno.report.charts.theme import Size
from mydyno.report.comparison_tables import cell_text, comparison_caption, label_columns, labels
from mydyno.report.effects_tables import effects_table
from mydyno.report.figures import EFFECTS, GROUND, Figure
from mydyno.report.format import MISSING, count, keep_together
from mydyno.report.storage_tables import storage_tables
from mydyno.report.tables import (
    key_numbers_table,
    key_value,
    remarks_told,
    trials_table,
)
from mydyno.report.views.page import Page
from mydyno.results.records import EXTERNAL_SERVER

_TEMPLATES = jinja2.Environment(
    loader=jinja2.PackageLoader("mydyno.report"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


_MANY_ROWS = 24
"""Rows of the table of comparisons that are shown unfolded."""
_MANY_REMARKS = 8
"""Marked trials that are listed unfolded."""


def html(page: Page, figures: Sequence[Figure], sizes: Sequence[Size] = theme.SIZES) -> str:
    """The whole page, with each figure drawn for the widths `sizes`."""
    settings = page.settings.settings
    return _TEMPLATES.get_template("report.html").render(
        page=page,
        settings=settings,
        figures=figures,
        drawings={figure.name: _drawings(figure, sizes) for figure in figures},
        headline=keep_together(page.verdicts.headline),
        day=page.experiment.created_at.partition("T")[0],
        facts=_facts(page),
        command=command(page),
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
        ground_figure=GROUND,
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


def breakable(name: str) -> Markup:
    """`name` escaped, with a chance to break the line after each underscore."""
    return Markup("_<wbr>").join(name.split("_"))


def command(page: Page) -> str:
    """What to type to run the same plan again."""
    file, size = shlex.quote(page.experiment.spec_file), shlex.quote(page.experiment.size)
    return f"mydyno run {file} --size {size} --again"


def _drawings(figure: Figure, sizes: Sequence[Size]) -> list[Markup]:
    return [
        Markup(
            inline_svg(
                draw.svg(figure.draw(size)),
                name=f"{figure.name}-{size.name}",
                label=f"{figure.title}. {figure.caption}",
                css_class=f"chart {size.name}",
            )
        )
        for size in sizes
    ]


def _css() -> str:
    source = jinja2.PackageLoader("mydyno.report").get_source(_TEMPLATES, "report.css")[0]
    slots = range(len(theme.SERIES))
    light = "\n".join(_slot_rule(slot, theme.SERIES[slot]) for slot in slots)
    dark = "\n".join(_slot_rule(slot, theme.DARK[theme.SERIES[slot]]) for slot in slots)
    in_the_dark = f"@media screen and (prefers-color-scheme: dark) {{\n{dark}\n{dark_rules('.chart')}\n}}"
    return f"{source}\n{light}\n{in_the_dark}"


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
