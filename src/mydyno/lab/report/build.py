"""All files of a report, from a run alone: no server, no host, no network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.durable import replacing
from mydyno.core.errors import MydynoError
from mydyno.lab.report.csv import (
    comparison_frame,
    operation_totals_frame,
    operations_frame,
    points_frame,
    self_checks_frame,
    transactions_frame,
    trials_frame,
)
from mydyno.lab.report.effects_tables import effects_frame
from mydyno.lab.report.evidence import Run, gather
from mydyno.lab.report.figures import figures
from mydyno.lab.report.html import html
from mydyno.lab.report.numbers import report_json, tables
from mydyno.lab.report.optima_tables import optima_frame
from mydyno.lab.report.report_options import DEFAULTS, ReportOptions
from mydyno.lab.report.text import markdown
from mydyno.lab.report.views.page import Page, page
from mydyno.lab.report.views.trial_pages import trial_pages
from mydyno.page.charts.press import press
from mydyno.page.drawing import drawings


@dataclass(frozen=True)
class ReportFiles:
    """What was written."""

    page: Page
    """What it says."""
    html: Path
    markdown: Path
    points: Path
    """CSV: one row for each setting and number of connections or test program."""
    trials: Path
    """CSV: one row for each phase of each trial."""
    comparison: Path | None
    """CSV: one row for each cell of the table of comparisons; None when nothing varies."""
    costs: Path | None
    """CSV: one row for each cost per operation of each setting; None when none was measured."""
    effects: Path | None
    """CSV: one row for each effect and each level of each factor; None where nothing can be said of them."""
    optima: Path | None
    """CSV: one row for each setting that was measured at several loads; None when there was none."""
    operations: Path | None
    """CSV: one row for each timed operation of each trial; None when there was none."""
    operation_totals: Path | None
    """CSV: one row for each operation of each trial, summed over its programs; None when there was none."""
    self_checks: Path | None
    """CSV: one row for each self-check of each trial; None when there was none."""
    pictures: tuple[Path, ...]
    """A PNG and an SVG of each figure."""

    @property
    def overview(self) -> Path | None:
        """The picture that stands for the whole report; None when nothing could be drawn."""
        return next((picture for picture in self.pictures if picture.suffix == ".png"), None)


def build(run: Run, out: Path, options: ReportOptions = DEFAULTS) -> ReportFiles:
    """Write the report of `run` into the folder `out`, over an older one. Raises MydynoError if it cannot."""
    # The second process works all the while: on the script, on the charts as images, on those as pictures.
    press().script  # noqa: B018
    evidence = gather(run, options)
    with _explained(out):
        out.mkdir(parents=True, exist_ok=True)
    whole = page(evidence)
    drawn = figures(whole)
    drawing = drawings(drawn)
    frames = {
        "points": points_frame(evidence),
        "trials": trials_frame(evidence),
        "comparison": comparison_frame(whole.comparison),
        "costs": comparison_frame(whole.costs.table),
        "effects": effects_frame(whole.effects),
        "optima": optima_frame(whole.optima),
        "transactions": transactions_frame(whole.transactions),
        "operations": operations_frame(evidence),
        "operation-totals": operation_totals_frame(evidence),
        "self-checks": self_checks_frame(evidence),
    }
    contents: dict[str, bytes] = tables(frames)
    trials = trial_pages(evidence, whole.trials, whole.settings)
    made = drawing()
    pictures = [(each.figure.name, picture := each.picture(), press().png(picture)) for each in made]
    contents["report.html"] = html(whole, made, trials).encode()
    contents["summary.md"] = markdown(whole, drawn).encode()
    contents["report.json"] = report_json(whole, frames).encode()
    for name, picture, png in pictures:
        contents[f"{name}.png"] = png.result()
        contents[f"{name}.svg"] = picture.encode()
    with _explained(out):
        for name, content in contents.items():
            with replacing(out / name) as file:
                file.write(content)
    return ReportFiles(
        page=whole,
        html=out / "report.html",
        markdown=out / "summary.md",
        points=out / "points.csv",
        trials=out / "trials.csv",
        comparison=out / "comparison.csv" if "comparison.csv" in contents else None,
        costs=out / "costs.csv" if "costs.csv" in contents else None,
        effects=out / "effects.csv" if "effects.csv" in contents else None,
        optima=out / "optima.csv" if "optima.csv" in contents else None,
        operations=out / "operations.csv" if "operations.csv" in contents else None,
        operation_totals=out / "operation-totals.csv" if "operation-totals.csv" in contents else None,
        self_checks=out / "self-checks.csv" if "self-checks.csv" in contents else None,
        pictures=tuple(out / name for name in contents if name.endswith((".png", ".svg"))),
    )


@contextmanager
def _explained(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise MydynoError(
            f"cannot write the report into {out}: {error.strerror}", "another folder may do: --out FOLDER"
        ) from error
