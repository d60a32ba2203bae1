"""`mydyno trend`: one experiment over all of its runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mydyno.cli import options, outputs, screen
from mydyno.cli.declare import argument, option
from mydyno.cli.labs import LabOptions
from mydyno.cli.shown import width
from mydyno.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mydyno.lab.analysis.trend import Trend


def trend(
    experiment: str | None = argument(
        "NAME", "The experiment's name.", show_default="that of the newest run"
    ),
    lab: LabOptions = LabOptions(),
    size: str | None = option("--size", "Its runs at this size only.", show_default="that of its newest run"),
    last: int = option("--last N", "Only the newest N runs.", min=2, default=200),
    as_json: options.AsJson = False,
    out: options.JsonFile = None,
    picture: Path | None = option("--picture FILE", "Draw it, as PNG or SVG."),
    force: outputs.Force = False,
) -> None:
    """Show the results of an experiment over all of its runs, and where they changed.

    A run counts as one value for each point. Changes are found by E-divisive with a permutation test at 5 %
    (docs/how-to/compare.md); it takes six runs to distinguish one from noise.

    ```text
    mydyno trend thread-cache
    mydyno trend oltp --last 50 --picture trend.png --json --out trend.json
    ```
    """
    from mydyno.lab.report.trend.chosen import trend_of
    from mydyno.lab.report.trend.text import as_json as trends_json
    from mydyno.lab.report.trend.text import terminal

    if picture is not None and picture.suffix not in (".png", ".svg"):
        raise UsageError(
            f"--picture: a file that ends with {picture.suffix or 'nothing'} is not a picture", ".png or .svg"
        )
    allowed = outputs.Outputs((lab.database,), force)
    numbers = allowed.json(as_json, out, outputs.TREND_JSON)
    drawing = allowed.file("--picture", picture, outputs.PICTURE)
    with lab.reading() as opened:
        changes = trend_of(opened, experiment, size, last).trends
    if drawing is not None:
        drawing.write(_drawn(changes, drawing.path.suffix))
    if numbers is not None:
        numbers.write(trends_json(changes))
    elif as_json:
        screen.echo_json_text(trends_json(changes), nl=False)
        return
    screen.echo(terminal(changes, width()), nl=False)


def _drawn(changes: Sequence[Trend], suffix: str) -> bytes:
    from mydyno.lab.report.trend.chart import signed_png, signed_svg, trend_chart
    from mydyno.page.charts import draw, theme, vega
    from mydyno.page.charts.theme import Size

    spec = draw.specification(trend_chart(changes, Size("picture", 800)))
    svg = vega.svg({**spec, "background": theme.PAPER})
    return signed_png(vega.png(svg)) if suffix == ".png" else signed_svg(svg)
