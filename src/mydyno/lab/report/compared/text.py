"""A comparison of runs for a terminal, and in Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from mydyno.core.markdown import escaped
from mydyno.core.plurals import agreeing, counted
from mydyno.lab.report.compared.view import Compared, told
from mydyno.lab.report.comparison_tables import (
    COSTS_CAPTION,
    WIDEST,
    better,
    comparison_caption,
    long_table,
    short_costs,
    wide_table,
)
from mydyno.page.format import MISSING
from mydyno.page.markup import Printed, markdown_table
from mydyno.page.table import Table

_STATES = {"passed": "PASSED", "unsure": "UNSURE", "failed": "FAILED"}


def terminal(found: Compared, width: int, *, gated: bool) -> str:
    """What a terminal shows; with `gated` what the gate says of each comparison."""
    out = Printed(width)
    for sentence in (
        *found.incomparable,
        found.verdicts.headline,
        *found.verdicts.sentences,
        *found.costs.sentences,
    ):
        out.line(sentence)
    if not found.table.empty:
        out.line(f"\n{better(found.table)}")
        few = len(found.table.columns) <= WIDEST
        out.table(wide_table(found.table) if few else long_table(found.table))
    if found.costs.table.rows:
        title, table = short_costs(found.costs.table)
        out.line(title)
        out.table(table)
    if found.differences:
        out.line("What else differs between them")
        out.table(differences_table(found))
    for note in found.notes:
        out.line(f"note: {note}")
    for sentence in invalid(found):
        out.line(sentence)
    if gated:
        for one in found.gated:
            out.line(f"{_STATES[one.state]} {told(one)}")
        if found.state == "unsure":
            out.line("UNSURE ends a job as failed only with --fail-if-unsure.")
    return out.text


def markdown(found: Compared, *, gated: bool) -> str:
    """The same for a pull request: the answer open, the rest folded."""
    return "\n".join(_markdown(found, gated)).rstrip() + "\n"


def _markdown(found: Compared, gated: bool) -> Iterator[str]:
    # For people invisible; what shows a bot its own earlier comment, and mydyno its own earlier file.
    yield "<!-- mydyno compare -->\n"
    state = f"{_STATES[found.state]}: " if gated else ""
    yield f"### {state}{escaped(' against '.join(reversed(found.names)))}\n"
    yield from (f"> {escaped(sentence)}\n" for sentence in found.incomparable)
    yield f"**{escaped(found.verdicts.headline)}**\n"
    yield from (f"- {escaped(sentence)}" for sentence in (*found.verdicts.sentences, *found.costs.sentences))
    if gated:
        yield ""
        yield from (f"- **{_STATES[one.state]}** {escaped(told(one))}" for one in found.gated)
    yield ""
    yield from (f"> {escaped(sentence)}\n" for sentence in (*found.notes, *invalid(found)))
    if not found.table.empty:
        yield "<details><summary>The numbers</summary>\n"
        yield f"{escaped(comparison_caption(found.table))}\n"
        yield from markdown_table(wide_table(found.table, between="; "))
        yield "</details>\n"
    if found.costs.table.rows:
        yield "<details><summary>Costs per operation</summary>\n"
        yield f"{COSTS_CAPTION}\n"
        yield from markdown_table(wide_table(found.costs.table, between="; "))
        yield "</details>\n"
    if found.differences:
        yield "<details><summary>What else differs between them</summary>\n"
        yield from markdown_table(differences_table(found))
        yield "</details>\n"


def differences_table(found: Compared) -> Table:
    rows = [
        (each.name, *(MISSING if value is None else value for value in each.values))
        for each in found.differences
    ]
    columns = ("what", *found.names)
    return Table(columns, tuple(rows), frozenset(range(len(columns))))


def invalid(found: Compared) -> list[str]:
    """How many trials of each run do not count."""
    told_of = []
    for name in found.names:
        trials = [trial for trial in found.evidence.trials if trial.trial_id.startswith(f"{name}:")]
        bad = sum(trial.status == "invalid" for trial in trials)
        if bad:
            of_them = f"{bad} of {counted(len(trials), 'trial')} of {name}"
            told_of.append(f"{of_them} {agreeing(bad, 'is')} invalid and {agreeing(bad, 'does')} not count")
    return told_of
