"""The page of an experiment over all of its runs: what `mydyno trend` says and draws."""

from mydyno import __version__
from mydyno.lab.report.trend.chart import trend_chart
from mydyno.lab.report.trend.chosen import trend_of
from mydyno.lab.report.trend.text import headline, table
from mydyno.lab.results.store import Lab
from mydyno.page.charts.press import press
from mydyno.page.drawing import Figure, drawings
from mydyno.page.format import keep_together, printable
from mydyno.page.skeleton import rendered


def trend_html(lab: Lab, experiment: str, size: str) -> str:
    """Raises UsageError where no point was measured in two runs; `size` may be empty: that of the newest."""
    press().script  # noqa: B018 - the other process begins with it
    found = trend_of(lab, experiment, size or None)
    figure = Figure(
        name="trend",
        title="Trend",
        caption="A dot for each run with its 95% interval, oldest first; a red line where the level changed.",
        draw=lambda size: trend_chart(found.trends, size),
        picture_title="Trend",
        picture_subtitle=(),
        colored=False,
    )
    (drawing,) = drawings([figure])()
    return rendered(
        "mydyno.serve",
        "trend.html",
        charts=[drawing.chart],
        contents=[("trend", "Trend"), ("runs", "Runs")],
        version=__version__,
        experiment=printable(found.name),
        size=printable(found.size),
        drawing=drawing,
        sentences=[keep_together(printable(headline(each))) for each in found.trends],
        tables=[(printable(each.title) or each.metric.noun, table(each)) for each in found.trends],
    )
