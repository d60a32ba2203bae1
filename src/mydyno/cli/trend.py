"""`mydyno trend`: one experiment over all of its runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mydyno.cli import options, outputs, screen
from mydyno.core.errors import UsageError
from mydyno.core.plurals import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mydyno.lab.analysis.trend import Trend


def trend(
    experiment: Annotated[
        str | None,
        typer.Argument(
            help="The experiment's name.", metavar="[NAME]", show_default="that of the newest run"
        ),
    ] = None,
    lab: options.Lab = options.DEFAULT_LAB,
    trust: options.Trust = False,
    size: Annotated[
        str | None,
        typer.Option("--size", help="Its runs at this size only.", show_default="that of its newest run"),
    ] = None,
    last: Annotated[int, typer.Option("--last", help="Look at so many runs, the newest.", min=2)] = 200,
    json: Annotated[Path | None, typer.Option("--json", help="Write every number.", metavar="FILE")] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw it, as PNG or SVG.", metavar="FILE")
    ] = None,
    force: outputs.Force = False,
) -> None:
    """Show how an experiment went over all of its runs, and where it changed.

    A run counts as one value for each point. Changes are found by E-divisive with a permutation test at 5%
    (docs/how-to/compare.md); six runs are the least in which one can be told from noise.

    ```text
    mydyno trend thread-cache
    mydyno trend oltp --last 50 --picture trend.png --json trend.json
    ```
    """
    from mydyno.cli.labs import open_lab
    from mydyno.lab.analysis.trend import Measured, trends
    from mydyno.lab.report.trend.text import as_json, terminal
    from mydyno.lab.results.sound import numbers_explained
    from mydyno.lab.results.store import DATABASE

    if picture is not None and picture.suffix not in (".png", ".svg"):
        raise UsageError(
            f"--picture: a file that ends with {picture.suffix or 'nothing'} is no picture", ".png or .svg"
        )
    allowed = outputs.Outputs((lab / DATABASE,), force)
    numbers = allowed.file("--json", json, outputs.TREND_JSON)
    drawing = allowed.file("--picture", picture, outputs.PICTURE)
    with numbers_explained(lab / DATABASE), open_lab(lab, write=False, trust=trust) as opened:
        newest = opened.find_run(experiment)
        name, wanted = newest.experiment.name, size or newest.experiment.size
        runs = [run for run in opened.runs(name) if run.experiment.size == wanted][:last]
        found = trends([Measured(run.folder.name, run.experiment, run.trials()) for run in reversed(runs)])
    if not found:
        raise UsageError(
            f"{counted(len(runs), 'run')} of {name} at size {wanted}: no point was measured in two",
            "`mydyno run FILE --again` measures anew; --size names another size",
        )
    if numbers is not None:
        numbers.write(as_json(found))
    if drawing is not None:
        drawing.write(_drawn(found, drawing.path.suffix))
    screen.echo(terminal(found, options.WIDTH), nl=False)


def _drawn(found: Sequence[Trend], suffix: str) -> bytes:
    from mydyno.lab.report.charts.signature import signed_png, signed_svg
    from mydyno.lab.report.trend.chart import trend_chart
    from mydyno.page.charts import draw, theme, vega
    from mydyno.page.charts.theme import Size

    spec = draw.specification(trend_chart(found, Size("picture", 800)))
    svg = vega.svg({**spec, "background": theme.PAPER})
    return signed_png(vega.png(svg)) if suffix == ".png" else signed_svg(svg)


def add_to(app: typer.Typer) -> None:
    app.command()(trend)
