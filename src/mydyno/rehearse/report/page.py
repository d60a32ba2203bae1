"""A rehearsal as one HTML page, in the frame of all pages."""

from mydyno import __version__
from mydyno.core.synthetic import SAYS
from mydyno.page.charts.press import press
from mydyno.page.drawing import drawings
from mydyno.page.format import capitalised, count, printable, shorten
from mydyno.page.skeleton import rendered
from mydyno.page.table import Table
from mydyno.queries.report.plan_table import plan_table
from mydyno.queries.report.sql_lines import sql_markup
from mydyno.rehearse.records import Rehearsal, SideComparison
from mydyno.rehearse.report.figures import forest
from mydyno.rehearse.wording import interval_text, remarks, verdict

_NAME = 120


def rehearsal_html(rehearsal: Rehearsal) -> str:
    press().script  # noqa: B018 - started first, for it takes long
    figures = [forest(rehearsal, number) for number in range(len(rehearsal.comparisons))]
    drawn = {each.figure.name: each for each in drawings([one for one in figures if one is not None])()}
    return rendered(
        "mydyno.rehearse",
        "rehearsal.html",
        charts=[each.chart for each in drawn.values()],
        contents=[
            *((f"side-{number}", each.other) for number, each in enumerate(rehearsal.comparisons, 1)),
            *([("before", "Before the upgrade")] if rehearsal.advice else []),
            ("method", "Method"),
        ],
        version=__version__,
        rehearsal=rehearsal,
        forests=[None if one is None else drawn[one.name] for one in figures],
        synthetic=SAYS,
        table_of=_table,
        interval_text=interval_text,
        remarks=remarks,
        verdict=verdict,
        plan_table=plan_table,
        sql_markup=sql_markup,
        capitalised=capitalised,
        printable=printable,
        short=lambda text: shorten(printable(text), _NAME),
    )


def _table(comparison: SideComparison) -> Table:
    """All statements, the worst first."""
    rows = tuple(
        (
            verdict(each),
            shorten(printable(each.text), _NAME),
            interval_text(each.times),
            count(each.executions),
            *(f"{share * 100:.1f}%" for share in each.shares),
            count(each.not_repeatable),
        )
        for each in comparison.statements
    )
    heads = ("", "statement", "time", "executions", "share before", "share after", "not repeatable")
    return Table(heads, rows, frozenset({0, 1}))
