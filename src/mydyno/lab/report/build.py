"""All files of a report, from a run alone: no server, no host, no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    paths: Mapping[str, Path]
    """By name, `points.csv`: all files, without the tables that would be empty."""

    @property
    def html(self) -> Path:
        return self.paths["report.html"]

    @property
    def pictures(self) -> tuple[Path, ...]:
        """A PNG and an SVG of each figure."""
        return tuple(path for path in self.paths.values() if path.suffix in (".png", ".svg"))

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
    return ReportFiles(whole, {name: out / name for name in contents})


@contextmanager
def _explained(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise MydynoError(
            f"cannot write the report into {out}: {error.strerror}", "another folder may do: --out FOLDER"
        ) from error
