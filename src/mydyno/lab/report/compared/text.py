"""A comparison of runs for a terminal, in Markdown for a pull request, and for programs: JSON, and JUnit's
XML for CI servers."""

import json
import math
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from mydyno.core.markdown import escaped
from mydyno.core.plurals import agreeing, counted
from mydyno.lab.analysis.verdict import Gated
from mydyno.lab.report import comparison_tables
from mydyno.lab.report.compared.view import Compared, gate_text
from mydyno.page.format import MISSING
from mydyno.page.markup import Printed, markdown_table
from mydyno.page.table import Table


def as_json(compared: Compared) -> str:
    """docs/how-to/compare.md explains the keys. A number that is missing or has no bound is null."""
    content = {
        "runs": list(compared.names),
        "state": compared.state,
        "allowed_loss": compared.allowed,
        "headline": compared.verdicts.headline,
        "comparisons": [_comparison(one) for one in compared.gated],
        "differences": [
            {"name": each.name, "values": dict(zip(compared.names, each.values, strict=True))}
            for each in compared.differences
        ],
        "notes": list(compared.notes),
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def junit(compared: Compared) -> str:
    """One test case for each comparison: failed when it is slower than allowed, skipped when unsure.

    The format is that of Ant's JUnit task, which CI servers read.
    """
    suite = ElementTree.Element(
        "testsuite",
        name=_printable(f"mydyno compare {' '.join(compared.names)}"),
        tests=str(len(compared.gated)),
        failures=str(sum(one.state == "failed" for one in compared.gated)),
        skipped=str(sum(one.state == "unsure" for one in compared.gated)),
        errors="0",
    )
    for one in compared.gated:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=_printable(compared.evidence.experiment.name),
            name=_printable(one.name or compared.names[-1]),
        )
        if one.state != "passed":
            kind = "failure" if one.state == "failed" else "skipped"
            ElementTree.SubElement(case, kind, message=_printable(gate_text(one)))
        ElementTree.SubElement(case, "system-out").text = _printable(gate_text(one))
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _comparison(one: Gated) -> dict[str, Any]:
    ratio = one.verdict.ratio
    interval = ratio.interval
    return {
        "name": one.name,
        "left": one.verdict.left.title,
        "right": one.verdict.right.title,
        "metric": one.verdict.metric.name,
        "better": one.verdict.metric.better,
        "state": one.state,
        "outcome": one.verdict.outcome,
        "ratio": _finite(ratio.value),
        "low": None if interval is None else _finite(interval.low),
        "high": None if interval is None else _finite(interval.high),
        "p_value": ratio.p_value,
        "adjusted_p_value": ratio.adjusted_p,
        "n": [ratio.n_left, ratio.n_right],
        "sentence": one.verdict.sentence,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _printable(text: str) -> str:
    """Without what XML 1.0 does not allow."""
    return "".join(letter for letter in text if letter in "\t\n" or letter.isprintable())


_STATES = {"passed": "PASSED", "unsure": "UNSURE", "failed": "FAILED"}


def terminal(compared: Compared, width: int, *, gated: bool) -> str:
    """What a terminal shows; with `gated` what the gate says of each comparison."""
    out = Printed(width)
    for sentence in (
        *compared.incomparable,
        compared.verdicts.headline,
        *compared.verdicts.sentences,
        *compared.costs.sentences,
    ):
        out.line(sentence)
    if not compared.table.empty:
        out.line(f"\n{comparison_tables.better(compared.table)}")
        few = len(compared.table.columns) <= comparison_tables.WIDEST
        out.table(
            comparison_tables.wide_table(compared.table)
            if few
            else comparison_tables.long_table(compared.table)
        )
    if compared.costs.table.rows:
        title, table = comparison_tables.short_costs(compared.costs.table)
        out.line(title)
        out.table(table)
    if compared.differences:
        out.line("What else differs between them")
        out.table(differences_table(compared))
    for note in compared.notes:
        out.line(f"note: {note}")
    for sentence in invalid(compared):
        out.line(sentence)
    if gated:
        for one in compared.gated:
            out.line(f"{_STATES[one.state]} {gate_text(one)}")
        if compared.state == "unsure":
            out.line("UNSURE fails a job only with --fail-if-unsure.")
    return out.text


def markdown(compared: Compared, *, gated: bool) -> str:
    """The same for a pull request: the answer open, the rest folded."""
    return "\n".join(_markdown(compared, gated)).rstrip() + "\n"


def _markdown(compared: Compared, gated: bool) -> Iterator[str]:
    # For people invisible; what shows a bot its own earlier comment, and mydyno its own earlier file.
    yield "<!-- mydyno compare -->\n"
    state = f"{_STATES[compared.state]}: " if gated else ""
    yield f"### {state}{escaped(' against '.join(reversed(compared.names)))}\n"
    yield from (f"> {escaped(sentence)}\n" for sentence in compared.incomparable)
    yield f"**{escaped(compared.verdicts.headline)}**\n"
    yield from (
        f"- {escaped(sentence)}" for sentence in (*compared.verdicts.sentences, *compared.costs.sentences)
    )
    if gated:
        yield ""
        yield from (f"- **{_STATES[one.state]}** {escaped(gate_text(one))}" for one in compared.gated)
    yield ""
    yield from (f"> {escaped(sentence)}\n" for sentence in (*compared.notes, *invalid(compared)))
    if not compared.table.empty:
        yield "<details><summary>The numbers</summary>\n"
        yield f"{escaped(comparison_tables.comparison_caption(compared.table))}\n"
        yield from markdown_table(comparison_tables.wide_table(compared.table, between="; "))
        yield "</details>\n"
    if compared.costs.table.rows:
        yield "<details><summary>Costs per operation</summary>\n"
        yield f"{comparison_tables.COSTS_CAPTION}\n"
        yield from markdown_table(comparison_tables.wide_table(compared.costs.table, between="; "))
        yield "</details>\n"
    if compared.differences:
        yield "<details><summary>What else differs between them</summary>\n"
        yield from markdown_table(differences_table(compared))
        yield "</details>\n"


def differences_table(compared: Compared) -> Table:
    rows = [
        (each.name, *(MISSING if value is None else value for value in each.values))
        for each in compared.differences
    ]
    columns = ("what", *compared.names)
    return Table(columns, tuple(rows), frozenset(range(len(columns))))


def invalid(compared: Compared) -> list[str]:
    """How many trials of each run do not count."""
    notes = []
    for name in compared.names:
        trials = [trial for trial in compared.evidence.trials if trial.trial_id.startswith(f"{name}:")]
        bad = sum(trial.status == "invalid" for trial in trials)
        if bad:
            of_them = f"{bad} of {counted(len(trials), 'trial')} of {name}"
            notes.append(f"{of_them} {agreeing(bad, 'is')} invalid and {agreeing(bad, 'does')} not count")
    return notes
