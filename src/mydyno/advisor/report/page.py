"""Advice as one HTML page, in the frame of all pages: for a meeting, and in `mydyno serve`."""

import textwrap
from collections.abc import Iterable

from mydyno import __version__
from mydyno.advisor.advice import Advice
from mydyno.advisor.report.advice_text import (
    by_severity,
    change_lines,
    details,
    missing_facts,
    steps,
    summary,
)
from mydyno.advisor.report.system_text import moment
from mydyno.apply.change import Change
from mydyno.page.format import capitalised, printable, printable_lines
from mydyno.page.lines import plain
from mydyno.page.skeleton import rendered
from mydyno.page.table import Table

_WIDTH = 100
"""Characters of a line of a file, where it is folded."""
_CELL = 90
"""Characters of a line in a table."""


def advice_html(advice: Advice) -> str:
    found = [(severity.label, findings) for severity, findings in by_severity(advice)]
    changes = [change for finding in advice.findings for change in finding.changes]
    return rendered(
        "mydyno.advisor",
        "advice.html",
        charts=[],
        contents=[
            *((label, label.capitalize()) for label, _ in found),
            *([("changes", "All changes")] if changes else []),
            *([("memory", "Memory")] if advice.memory else []),
            ("rules", "Rules without a finding"),
        ],
        version=__version__,
        advice=advice,
        made_at=moment(advice.made_at),
        summary=summary(advice),
        severities=found,
        budget=frozenset(advice.memory),
        steps=_steps,
        details=details,
        changes=plain(change_lines(changes, _WIDTH)),
        lines=lambda text: "\n".join(printable_lines(text)),
        withheld=missing_facts(advice),
        silent=_silent(advice),
        capitalised=capitalised,
        printable=printable,
    )


def _steps(changes: Iterable[Change]) -> str:
    return "\n".join("\n  ".join(steps(change)) for change in changes)


def _silent(advice: Advice) -> Table:
    rows = [
        (
            each.rule,
            "passed" if each.outcome == "fine" else "does not apply",
            "\n".join(textwrap.wrap(printable(each.because), _CELL)),
        )
        for each in advice.silent
        if each.outcome != "unknown"
    ]
    return Table(("rule", "outcome", "reason"), tuple(rows), frozenset({0, 1, 2}))
