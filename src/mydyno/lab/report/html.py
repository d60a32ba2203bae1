"""The report as one HTML page: the skeleton of all pages (`skeleton.py`), filled by `templates/report.html`.

Each section is a separate file in `templates/sections`, included there, and its line in the list of
contents is in `contents` below.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mydyno.core.plurals import counted
from mydyno.lab.report.comparison_tables import (
    COSTS_CAPTION,
    CellText,
    cell_text,
    comparison_caption,
    label_columns,
    labels,
    long_table,
    storage_tables,
)
from mydyno.lab.report.effects_tables import effects_table
from mydyno.lab.report.figures import EFFECTS, GROUND
from mydyno.lab.report.tables import CAPTION as RANKS_CAPTION
from mydyno.lab.report.tables import (
    HOSTS_CAPTION,
    TRANSACTIONS_CAPTION,
    hosts_table,
    key_numbers_table,
    key_value,
    ranks_table,
    transactions_table,
    trials_table,
    warnings_counted,
)
from mydyno.lab.report.trial_data import counter_titles, trial_charts, trial_sets
from mydyno.lab.report.trial_tables import trial_sections
from mydyno.lab.report.views.comparison import ComparisonTable, Row
from mydyno.lab.report.views.page import Page
from mydyno.lab.report.views.procedure import SOURCES
from mydyno.lab.report.views.trial_pages import TrialPage
from mydyno.lab.results.records import EXTERNAL_SERVER
from mydyno.page.drawing import Drawing
from mydyno.page.format import MISSING, keep_together
from mydyno.page.page_data import Columns
from mydyno.page.skeleton import rendered
from mydyno.page.table import Table

LEADS = ("ratio", "speed", "heat-map", "programs", "throughput")
"""Figures for the first screen, of which the first that exists is shown."""
_FIRST_ROWS = 8
"""Rows of the table on the first screen: those over all places."""
_FIRST_COLUMNS = 4
"""Columns of it; of more settings each has a row."""
_MANY_ROWS = 24
"""Rows of the table of comparisons that are shown unfolded."""
_MANY_WARNINGS = 8
"""Marked trials that are listed unfolded."""


def html(page: Page, drawings: Sequence[Drawing], trials: Sequence[TrialPage] = ()) -> str:
    """The whole page with its figures and the pages of `trials`."""
    settings = page.settings.settings
    lead = next((each for name in LEADS for each in drawings if each.figure.name == name), None)
    first = replace(page.comparison, rows=page.comparison.whole[:_FIRST_ROWS])
    across = len(page.comparison.columns) <= _FIRST_COLUMNS
    charts = [*(drawing.chart for drawing in drawings), *trial_charts(trials, page.words)]
    titles = counter_titles(trials)
    sets: dict[str, Mapping[str, Columns]] = {
        trial.anchor: trial_sets(trial, page.words, titles) for trial in trials
    }
    return rendered(
        "mydyno.lab.report",
        "report.html",
        page=page,
        settings=settings,
        drawings=drawings,
        charts=charts,
        sets=sets,
        contents=contents(page, drawings, lead=lead, trials=bool(trials)),
        lead=lead,
        first_rows=_rows(page.comparison, first.rows) if across and not first.empty else [],
        first_table=_first_table(page, first),
        key_table=key_numbers_table(page.key_numbers) if page.key_numbers and not across else None,
        effects_drawn=any(each.figure.name == EFFECTS for each in drawings),
        headline=keep_together(page.verdicts.headline),
        day=page.experiment.created_at.partition("T")[0],
        facts=_facts(page),
        cited=list(dict.fromkeys(key for step in page.procedure for key in step.sources)),
        sources=SOURCES,
        comparison_caption=comparison_caption(page.comparison) if page.comparison.rows else "",
        comparison_labels=label_columns(page.comparison),
        comparison_rows=_rows(page.comparison, page.comparison.rows),
        costs_caption=COSTS_CAPTION,
        costs_labels=label_columns(page.costs.table),
        costs_rows=_rows(page.costs.table, page.costs.table.rows),
        durability=durability(page),
        transactions=transactions_table(page.transactions),
        transactions_caption=TRANSACTIONS_CAPTION,
        many_rows=_MANY_ROWS,
        trial_cells=trials_table(page.trials),
        trial_pages=list(trial_sections(trials, page.words)),
        ground_figure=GROUND,
        hosts_caption=HOSTS_CAPTION,
        hosts_table=hosts_table(page.hosts),
        ranks_caption=RANKS_CAPTION,
        ranks_table=ranks_table,
        effects_figure=EFFECTS,
        effects_table=effects_table(page.effects),
        storage_tables=storage_tables(page.ground),
        warnings_counted=warnings_counted,
        many=_MANY_WARNINGS,
        key_value=key_value,
        counted=counted,
    )


def _rows(view: ComparisonTable, rows: Sequence[Row]) -> list[tuple[tuple[str, ...], list[CellText]]]:
    """Some or all rows of `view`, each with its labels."""
    return [(labels(view, row), [cell_text(row, cell) for cell in row.cells]) for row in rows]


def _first_table(page: Page, first: ComparisonTable) -> Table | None:
    """Where the settings do not fit next to each other, or nothing is compared."""
    if not first.empty:
        return long_table(first)
    return key_numbers_table(page.key_numbers) if page.key_numbers else None


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


def contents(
    page: Page, drawings: Sequence[Drawing], *, lead: Drawing | None, trials: bool
) -> list[tuple[str, str]]:
    """(id, title) of each section, in their order on the page."""
    compared = [] if page.comparison.empty else [("comparison", f"By {page.comparison.name}")]
    drawn = [(each.figure.name, each.figure.title) for each in drawings if each is not lead]
    ground = [] if page.ground.empty else [("ground", "Storage environment")]
    claims = [("claims", "What its source concluded")] if page.claims else []
    return [
        *([] if lead is None else [(lead.figure.name, lead.figure.title)]),
        *compared,
        *([("costs", "Costs per operation")] if page.costs.table.rows else []),
        *claims,
        *([] if page.ranks.empty else [("ranks", "Ranks")]),
        *((name, title) for name, title in drawn if name not in (EFFECTS, GROUND)),
        *([("transactions", "Transactions by name")] if page.transactions.rows else []),
        *ground,
        *([] if page.hosts.empty else [("hosts", "Hosts")]),
        *([("failures", "Failed points")] if page.failures else []),
        *((name, title) for name, title in drawn if name == EFFECTS),
        ("validity", "Trials and validity"),
        *([("trials", "Trial by trial")] if trials else []),
        ("settings", "Settings"),
        ("environment", "Environment"),
        ("method", "Method"),
        ("reproduce", "Run it again"),
    ]


def _facts(page: Page) -> list[tuple[str, str]]:
    """The line under the verdict: what one asks first about a benchmark."""
    known = {f"{group.name}.{fact.name}": fact.value for group in page.environment for fact in group.facts}
    for name in dict.fromkeys(fact.name for group in page.environment if group.host for fact in group.facts):
        values = [known.get(f"{group.name}.{name}") for group in page.environment if group.host]
        known.setdefault(name, " or ".join(dict.fromkeys(value for value in values if value is not None)))
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
    facts = [(name, known[key]) for name, key in wanted if known.get(key, MISSING) != MISSING]
    facts += [("Storage environment", model.title) for model in page.ground.models]
    return [*facts, ("Durability", ", ".join(labels))] if labels else facts
