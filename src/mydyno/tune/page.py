"""A search as one HTML page: the skeleton of all pages, filled by `templates/tune.html`."""

from dataclasses import replace

from mydyno import __version__
from mydyno.page.drawing import drawings
from mydyno.page.format import printable
from mydyno.page.skeleton import rendered
from mydyno.page.table import Table
from mydyno.tune import views
from mydyno.tune.figures import figures
from mydyno.tune.result import Found, option_file
from mydyno.tune.table import headline


def page(found: Found) -> str:
    drawn = drawings(list(figures(found)))()
    tables = [
        ("confirmation", "Confirmation", views.confirmations_table(found)),
        ("worth-table", "What each setting is worth, in numbers", views.worth_table(found)),
        ("screening", "Screening", views.screening_table(found)),
        ("trials", "Trials", views.trials_table(found)),
        ("settings", "Settings of the trials", views.settings_table(found)),
    ]
    shown = [(name, title, _printable(each)) for name, title, each in tables if each.rows]
    return rendered(
        "mydyno.tune",
        "tune.html",
        charts=[each.chart for each in drawn],
        contents=[
            *((each.figure.name, each.figure.title) for each in drawn),
            *((name, title) for name, title, _ in shown),
        ],
        version=__version__,
        found=found,
        headline=printable(headline(found)),
        figures=drawn,
        tables=shown,
        best=option_file(found) if found.reduced is not None else None,
        refused=[each for each in found.confirmations if each.refused],
        printable=printable,
    )


def _printable(table: Table) -> Table:
    """Why a server did not start is its own text."""
    return replace(table, rows=tuple(tuple(map(printable, row)) for row in table.rows))
