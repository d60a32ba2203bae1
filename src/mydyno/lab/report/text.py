"""The report in plain text, for a terminal, and in Markdown, for an issue or a wiki."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mydyno.core.markdown import escaped, fenced
from mydyno.core.plurals import counted
from mydyno.lab.report import comparison_tables
from mydyno.lab.report.effects_tables import effects_table, optima_table
from mydyno.lab.report.evidence import Run, gather
from mydyno.lab.report.figures import EFFECTS, GROUND
from mydyno.lab.report.html import durability
from mydyno.lab.report.report_options import DEFAULTS, ReportOptions
from mydyno.lab.report.tables import CAPTION as RANKS_CAPTION
from mydyno.lab.report.tables import (
    HOSTS_CAPTION,
    TRANSACTIONS_CAPTION,
    brief_transactions_table,
    hosts_table,
    key_numbers_table,
    programs_table,
    ranks_table,
    settings_table,
    transactions_table,
    trials_table,
)
from mydyno.lab.report.views.page import Page, page
from mydyno.lab.report.views.procedure import SOURCES
from mydyno.lab.report.views.trials import Reason, SharedWarning, TrialRow
from mydyno.page.drawing import Figure
from mydyno.page.markup import Printed, markdown_table
from mydyno.page.table import Table

WIDTH = 110
_ROWS = 40
"""Rows of the table of comparisons that a terminal shows; of more those over all places come first."""
_MOST_TRANSACTIONS = 12
"""Rows of the table of transactions that a terminal shows."""
_MOST_WARNINGS = 6
"""That a terminal shows."""


def summary(run: Run, width: int = WIDTH, options: ReportOptions = DEFAULTS) -> str:
    """What a terminal shows of `run`, `width` characters wide."""
    return terminal(page(gather(run, options)), width)


def terminal(page: Page, width: int = WIDTH) -> str:
    """What was measured, what is wrong with the run, and at the end, where the eye is, the verdict."""
    out = Printed(width)
    experiment = page.experiment
    for paragraph in (f"{experiment.name} ({experiment.size}), {page.method.trials}", experiment.question):
        if paragraph:
            out.line(paragraph)
    out.line()
    for claim in page.claims:
        out.line(f"The source on {claim.about}: {claim.said}")
        out.line(f"  found: {claim.found} ({claim.summary})")
        for reason in claim.reasons:
            out.line(f"  {reason}")
    if page.key_numbers:
        out.table(key_numbers_table(page.key_numbers))
    _compared(out, page)
    if page.optima.fitted and not page.optima.sentences:
        out.line("Where the optimum is, by the fitted Universal Scalability Law")
        out.table(optima_table(page.optima))
    for one in page.verdicts.others:
        out.line(one.sentence)
    if page.settings.durability_differs:
        labels = "; ".join(f"{name}: {label}" for name, label in durability(page))
        out.line(f"Durability differs: {labels}.")
    if page.ground.checks:
        out.line("The disks against theory, I/Os per second")
        out.table(comparison_tables.self_checks_table(page.ground))
    for point in page.failures:
        out.line(f"FAILED {point.setting.title or 'the only point'}: {point.count}")
        for reason in point.reasons:
            out.line(f"  {reason}")
    _unsound_trials(out, page)
    if page.effects.sentence:
        out.line(page.effects.sentence)
    for sentence in (
        *page.hosts.sentences,
        *page.effects.remarks,
        *page.optima.sentences,
        *page.method.remarks,
    ):
        out.line(sentence)
    out.line()
    for sentence in (
        *page.incomparable,
        *_further(page),
        *page.verdicts.sentences,
        *page.costs.sentences,
        page.verdicts.headline,
    ):
        out.line(sentence)
    return out.text


def _compared(out: Printed, page: Page) -> None:
    """The tables of the settings."""
    if not page.comparison.empty:
        out.line(f"By {page.comparison.name} ({comparison_tables.better(page.comparison)})")
        shown = page.comparison.at_most(_ROWS)
        few = len(shown.columns) <= comparison_tables.WIDEST
        out.table(comparison_tables.wide_table(shown) if few else comparison_tables.long_table(shown))
        _more(out, len(page.comparison.rows) - len(shown.rows))
    elif not page.programs.empty:
        out.table(programs_table(page.programs))
    if page.costs.table.rows:
        title, table = comparison_tables.short_costs(page.costs.table)
        out.line(title)
        out.table(table)
    if page.transactions.rows:
        names = page.transactions.names
        title = "Transactions by name" if len(names) > 1 else f"Transaction {min(names)}"
        out.line(f"{title} (geometric means of the trials; intervals: see the report)")
        table = brief_transactions_table(page.transactions)
        out.table(replace(table, rows=table.rows[:_MOST_TRANSACTIONS]))
        _more(out, len(table.rows) - _MOST_TRANSACTIONS)


def _more(out: Printed, rows: int) -> None:
    if rows > 0:
        out.line(f"{counted(rows, 'more row')}: see the report")


def _unsound_trials(out: Printed, page: Page) -> None:
    """Trials that do not count, and those with warnings."""
    for row in page.trials.invalid:
        out.line(f"INVALID {row.label} ({row.setting.title}): {_reasons(row)}")
    for row in page.trials.broken:
        out.line(f"CHECK {row.label} ({row.setting.title}): {_broken(row)}")
    for shared in page.trials.warnings[:_MOST_WARNINGS]:
        out.line(f"WARNING {_reason(shared)} ({_trials_of(shared, page)})")
    if (more := len(page.trials.warnings) - _MOST_WARNINGS) > 0:
        out.line(f"{counted(more, 'more warning')}: see the report")


def markdown(page: Page, figures: Sequence[Figure]) -> str:
    """The report as one Markdown document; the pictures are PNG files in the same folder."""
    return "\n".join(_markdown(page, figures)).replace("\n\n\n", "\n\n").rstrip() + "\n"


def _markdown(page: Page, figures: Sequence[Figure]) -> Iterator[str]:
    experiment = page.experiment
    yield f"# {escaped(experiment.name)}\n"
    yield from (f"> {escaped(sentence)}\n" for sentence in page.incomparable)
    yield f"**{escaped(page.verdicts.headline)}**\n"
    if experiment.question:
        yield f"{escaped(experiment.question)}\n"
    if experiment.source:
        yield f"Source: {escaped(experiment.source)}\n"
    yield from (f"- {escaped(sentence)}" for sentence in (*page.verdicts.sentences, *page.optima.sentences))
    yield from (f"- {escaped(sentence)}" for sentence in page.costs.sentences)
    yield from (f"\n{escaped(sentence)}\n" for sentence in _further(page))
    if page.effects.sentence:
        yield f"\n{escaped(page.effects.sentence)}\n"
    yield f"\n{page.method.trials}, size {escaped(experiment.size)}, seed {experiment.seed}. "
    yield from map(escaped, (*page.method.load, *page.method.steady))
    yield ""
    yield from (f"> {escaped(sentence)}\n" for sentence in page.method.remarks)
    if page.key_numbers:
        yield from markdown_table(key_numbers_table(page.key_numbers))
    if not page.comparison.empty:
        yield f"\n## By {escaped(page.comparison.name)}\n"
        yield f"{escaped(comparison_tables.comparison_caption(page.comparison))}\n"
        yield from markdown_table(comparison_tables.wide_table(page.comparison, between="; "))
        yield from (f"- {escaped(one.sentence)}" for one in page.verdicts.others)
    if page.costs.table.rows:
        yield f"\n## Costs per operation\n\n{comparison_tables.COSTS_CAPTION}\n"
        yield from markdown_table(comparison_tables.wide_table(page.costs.table, between="; "))
    yield from _claims(page)
    if not page.ranks.empty:
        yield f"\n## Ranks\n\n{RANKS_CAPTION}\n"
        yield from markdown_table(ranks_table((*page.ranks.overall, *page.ranks.of_groups)))
    yield from _effects(page, figures)
    yield from _charts(figures)
    if page.transactions.rows:
        yield f"\n## Transactions by name\n\n{TRANSACTIONS_CAPTION}\n"
        yield from markdown_table(transactions_table(page.transactions))
    yield from _ground(page, figures)
    yield from _hosts(page)
    yield from _trials(page)
    yield from _method(page)


def _charts(figures: Sequence[Figure]) -> Iterator[str]:
    for figure in figures:
        if figure.name in (GROUND, EFFECTS):
            continue
        yield f"\n## {escaped(figure.title)}\n"
        yield from _picture(figure)
        for title, numbers in figure.tables:
            if len(figure.tables) > 1:
                yield f"{escaped(title)}\n"
            yield from markdown_table(numbers)


def _picture(figure: Figure) -> Iterator[str]:
    yield f"![{escaped(figure.title)}]({figure.name}.png)\n"
    yield f"{escaped(figure.caption)}\n"


def _trials(page: Page) -> Iterator[str]:
    """Failed points, trials, and the settings and environment that they ran with."""
    if page.failures:
        yield "\n## Failed points\n"
    for point in page.failures:
        yield f"- **FAILED** {escaped(point.setting.title)}: {point.count}"
        yield from (f"  - {escaped(reason)}" for reason in point.reasons)
    yield "\n## Trials\n"
    yield from (
        f"- **INVALID** {escaped(row.label)}: {escaped(_reasons(row))}" for row in page.trials.invalid
    )
    yield from (f"- **CHECK** {escaped(row.label)}: {escaped(_broken(row))}" for row in page.trials.broken)
    for shared in page.trials.warnings:
        yield f"- **WARNING** {escaped(_reason(shared))} ({escaped(shared.labels)})"
    yield ""
    yield from markdown_table(trials_table(page.trials))
    yield "\n## Settings in force\n"
    yield from markdown_table(settings_table(page.settings))
    if page.settings.translated:
        yield "\nWritten for other releases:\n"
    yield from (f"- {escaped(sentence)}" for sentence in page.settings.translated)
    yield "\n## Environment\n"
    facts = ((f"{group.name}.{fact.name}", fact.value) for group in page.environment for fact in group.facts)
    yield from markdown_table(Table(("fact", "value"), tuple(facts), frozenset({0, 1})))


def _method(page: Page) -> Iterator[str]:
    """How it was measured, and how to measure it again."""
    experiment = page.experiment
    yield "\n## Method\n"
    yield from (f"**{step.title}.** {escaped(step.text)}{_cited(step.sources)}\n" for step in page.procedure)
    yield "## Run it again\n"
    for command in page.again.commands:
        yield f"{command.what}:\n"
        yield fenced(command.line)
    if page.again.remark:
        yield escaped(page.again.remark)
    yield f"\nPlan {escaped(experiment.plan_fingerprint)}. {escaped(experiment.spec_file)}:\n"
    yield fenced(experiment.spec_text, "yaml")


def _claims(page: Page) -> Iterator[str]:
    if not page.claims:
        return
    yield "\n## What its source concluded\n"
    for claim in page.claims:
        yield f"- {escaped(claim.about)}: source: {escaped(claim.said)}; found:"
        yield f"  {escaped(claim.found)}: **{escaped(claim.summary)}** ({escaped(claim.test)})"
        yield from (f"  - {escaped(reason)}" for reason in claim.reasons)
    yield ""


def _further(page: Page) -> Iterator[str]:
    """What belongs to the verdicts: ranks over everything, verdicts without outliers, controls."""
    for rank in page.ranks.main:
        without = f"; {rank.without}" if rank.without else ""
        yield f"{rank.sentence}{without}."
    yield from page.verdicts.without
    yield from (control.sentence for control in page.controls)


def _cited(sources: Sequence[str]) -> str:
    return f" ({'; '.join(escaped(SOURCES[key]) for key in sources)})" if sources else ""


def _effects(page: Page, figures: Sequence[Figure]) -> Iterator[str]:
    for figure in figures:
        if figure.name == EFFECTS:
            yield f"\n## {escaped(figure.title)}\n"
            yield from _picture(figure)
            yield from markdown_table(effects_table(page.effects, between="; "))
            yield from (f"> {escaped(sentence)}\n" for sentence in page.effects.remarks)


def _ground(page: Page, figures: Sequence[Figure]) -> Iterator[str]:
    if page.ground.empty:
        return
    yield "\n## Storage environment\n"
    for model in page.ground.models:
        titles = ", ".join(setting.title for setting in model.settings)
        on = f"{titles}: " if len(page.ground.models) > 1 else "Built on "
        yield f"{escaped(f'{on}{model.title}; {model.budget}. {model.disk_model}')}\n"
    yield from (f"{escaped(sentence)}\n" for sentence in page.method.verified)
    for figure in figures:
        if figure.name == GROUND:
            yield from _picture(figure)
    if page.ground.checks:
        yield from markdown_table(comparison_tables.self_checks_table(page.ground))
    for numbers in comparison_tables.storage_tables(page.ground):
        yield from markdown_table(numbers)


def _hosts(page: Page) -> Iterator[str]:
    if page.hosts.empty:
        return
    yield f"\n## Hosts\n\n{HOSTS_CAPTION}\n"
    yield from (f"- {escaped(sentence)}" for sentence in page.hosts.sentences)
    yield ""
    yield from markdown_table(hosts_table(page.hosts))


def _reasons(row: TrialRow) -> str:
    return "; ".join(_reason(reason) for reason in row.reasons)


def _trials_of(shared: SharedWarning, page: Page) -> str:
    """`t001, thread_cache_size = 8`, `15 of 24 trials`"""
    if len(shared.rows) == 1:
        return f"{shared.rows[0].label}, {shared.rows[0].setting.title}"
    return f"{len(shared.rows)} of {counted(len(page.trials.rows), 'trial')}"


def _reason(reason: Reason | SharedWarning) -> str:
    return f"{reason.check}{reason.where}: {reason.message}"


def _broken(row: TrialRow) -> str:
    """`rows of 'fare': does not hold (2 of 8 are missing)`"""
    return "; ".join(
        f"{check.name}: does not hold" + (f" ({check.detail})" if check.detail else "")
        for check in row.broken
    )
