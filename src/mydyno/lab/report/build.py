"""All files of a report, from a run alone: no server, no host, no network. Every number
for programs: the tables as Parquet, and all that it says in one JSON document.
"""

import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import polars as pl

from mydyno.core.durable import replacing
from mydyno.core.errors import MydynoError
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.words import Words
from mydyno.lab.report import csv
from mydyno.lab.report.effects_tables import effects_frame, optima_frame
from mydyno.lab.report.evidence import Run, gather
from mydyno.lab.report.figures import figures
from mydyno.lab.report.html import html
from mydyno.lab.report.report_options import DEFAULTS, ReportOptions
from mydyno.lab.report.text import markdown
from mydyno.lab.report.views.page import Page, page
from mydyno.lab.report.views.trial_pages import trial_pages
from mydyno.page.charts.press import press
from mydyno.page.drawing import drawings

_EXPERIMENT = ("name", "size", "question", "source", "created_at", "mydyno_version", "plan_fingerprint")

ALWAYS = ("points", "trials")

VERSION = 1
"""Of the document: a key that is renamed or means something else makes a new one; a new key does not."""


def tables(frames: Mapping[str, pl.DataFrame]) -> dict[str, bytes]:
    """`points.csv`, `points.parquet`... of each table that has a row, and of those that are always there."""
    contents: dict[str, bytes] = {}
    for name, frame in frames.items():
        if not frame.is_empty() or name in ALWAYS:
            parquet = io.BytesIO()
            frame.write_parquet(parquet)
            contents |= {
                f"{name}.csv": csv.without_formulas(frame).write_csv().encode(),
                f"{name}.parquet": parquet.getvalue(),
            }
    return contents


def report_json(whole: Page, frames: Mapping[str, pl.DataFrame]) -> str:
    """What the page says, and the rows of its tables. A number that is missing or has no bound is null."""
    experiment = whole.experiment
    document = {
        "format": VERSION,
        "experiment": {name: getattr(experiment, name) for name in _EXPERIMENT},
        "factors": experiment.factors,
        "points": experiment.points,
        "trials": {name: getattr(whole.method, name) for name in ("valid", "invalid", "done")},
        "remarks": whole.method.remarks,
        "verdicts": whole.verdicts,
        "incomparable": whole.incomparable,
        "costs": whole.costs.sentences,
        "key_numbers": whole.key_numbers,
        "ranks": whole.ranks.by_factor,
        "effects": whole.effects,
        "controls": whole.controls,
        "hosts": whole.hosts,
        "optima": whole.optima.rows,
        "tables": {name.replace("-", "_"): frame.to_dicts() for name, frame in frames.items()},
    }
    return json.dumps(_plain(document), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """Values of the report as JSON has them: a metric by its name and unit, and no words, which name nothing
    that is measured."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Metric):
        return {"name": value.name, "unit": value.unit, "better": value.better}
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {
            name: _plain(each) for name, each in pairs if not isinstance(each, Words) and not callable(each)
        }
    if isinstance(value, Mapping):
        return {_key(name): _plain(each) for name, each in value.items()}
    if isinstance(value, Set):
        return sorted(map(_plain, value), key=str)
    if isinstance(value, Sequence):
        return [_plain(each) for each in value]
    return value.item() if hasattr(value, "item") else value


def _key(name: object) -> str:
    """`p1, 8` of a pair."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)


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


def page_html(run: Run, options: ReportOptions = DEFAULTS) -> str:
    """The page of the report of `run`, and none of its other files. Raises MydynoError if it cannot."""
    press().script  # noqa: B018 - as below
    evidence = gather(run, options)
    whole = page(evidence)
    made = drawings(figures(whole))()
    return html(whole, made, trial_pages(evidence, whole.trials, whole.settings))


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
        "points": csv.points_frame(evidence),
        "trials": csv.trials_frame(evidence),
        "comparison": csv.comparison_frame(whole.comparison),
        "costs": csv.comparison_frame(whole.costs.table),
        "effects": effects_frame(whole.effects),
        "optima": optima_frame(whole.optima),
        "transactions": csv.transactions_frame(whole.transactions),
        "operations": csv.operations_frame(evidence),
        "operation-totals": csv.operation_totals_frame(evidence),
        "self-checks": csv.self_checks_frame(evidence),
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
