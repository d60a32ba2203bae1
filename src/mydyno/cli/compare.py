"""`mydyno compare`: runs compared with each other, and a gate for CI."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mydyno.cli import completion, options, outputs, screen
from mydyno.cli.declare import argument, option
from mydyno.cli.labs import LabOptions, open_lab
from mydyno.cli.quantities import Percent, percentage
from mydyno.cli.shown import width
from mydyno.core.errors import ExitCode

if TYPE_CHECKING:
    from mydyno.lab.report.compared.view import Compared, MergedRun

ALLOWED = 0.03

_Runs = Annotated[
    list[str],
    argument(
        "RUN",
        "Runs, compared with the first. RUN is an experiment or a run of the lab, `baseline:NAME`, the  "
        "folder of a lab or of a run, or `LABFOLDER:NAME`, each as `NAME=RUN` to name it and as "
        "`RUN@FACTOR=LEVEL,...` for some of its points. A single run is compared with its baseline, or else "
        "with the run before.",
        autocompletion=completion.runs,
    ),
]


def compare(
    runs: _Runs,
    lab: LabOptions = LabOptions(),
    fail_if_slower: Percent | None = percentage(
        "--fail-if-slower", "End with exit code 8 when something is shown to be slower by this much or more."
    ),
    fail_if_unsure: bool = option(
        "--fail-if-unsure", "Also when such a loss cannot be ruled out.", default=False
    ),
    as_json: options.AsJson = False,
    out: options.JsonFile = None,
    report: Path | None = option("--report", "Write the whole report into this folder."),
    markdown: Path | None = option("--markdown FILE", "Write a summary for a pull request."),
    junit: Path | None = option("--junit FILE", "Write JUnit XML, for CI servers."),
    force: outputs.Force = False,
) -> None:
    """Compare runs: before and after, two machines, two labs, or points of a run.

    Points with the same levels are compared, over their valid trials, with the tests of the report. Other
    differences between the runs (versions, kernel, settings) are listed.

    ```text
    # the newest run against its baseline, or the run before
    mydyno compare thread-cache
    # the newest runs of two labs
    mydyno compare before=old-lab after=new-lab
    mydyno compare baseline:main oltp --fail-if-slower 3% --junit result.xml
    mydyno compare oltp@thread_cache_size=8 oltp@thread_cache_size=450
    ```
    """
    from mydyno.lab.report.compared.chosen import Labs, choose
    from mydyno.lab.report.compared.view import MergedRun, compared
    from mydyno.lab.results.sound import numbers_explained

    gated = fail_if_slower is not None or fail_if_unsure
    allowed = outputs.Outputs((lab.database,), force)
    written = _Written(
        allowed.folder("--report", report),
        allowed.file("--markdown", markdown, outputs.COMPARISON_MARKDOWN),
        allowed.file("--junit", junit, outputs.COMPARISON_JUNIT),
        allowed.json(as_json, out, outputs.COMPARISON_JSON),
    )
    with (
        numbers_explained(lab.database),
        Labs(lab.folder, lambda path: open_lab(path, write=False, trust=lab.trust)) as labs,
    ):
        merged = MergedRun(choose(runs, labs))
        comparison = compared(merged, ALLOWED if fail_if_slower is None else fail_if_slower)
        _write(comparison, merged, gated, written)
        _show(comparison, gated, as_json, written)
    if gated and (comparison.state == "failed" or (comparison.state == "unsure" and fail_if_unsure)):
        raise typer.Exit(ExitCode.SLOWER)


@dataclass(frozen=True)
class _Written:
    """The files that are written; None: not requested."""

    report: Path | None
    markdown: outputs.OutputFile | None
    junit: outputs.OutputFile | None
    json: outputs.OutputFile | None


def _show(comparison: Compared, gated: bool, as_json: bool, written: _Written) -> None:
    from mydyno.lab.report.compared.text import as_json as json_of
    from mydyno.lab.report.compared.text import terminal

    if written.json is not None:
        written.json.write(json_of(comparison))
    elif as_json:
        screen.echo_json_text(json_of(comparison), nl=False)
    if written.json is not None or not as_json:
        screen.echo(terminal(comparison, width(), gated=gated), nl=False)


def _write(comparison: Compared, merged: MergedRun, gated: bool, written: _Written) -> None:
    from mydyno.lab.report.compared.text import junit, markdown

    if written.markdown is not None:
        written.markdown.write(markdown(comparison, gated=gated))
    if written.junit is not None:
        written.junit.write(junit(comparison))
    if written.report is not None:
        from mydyno.lab.report.build import build
        from mydyno.lab.report.compared.view import OPTIONS

        screen.echo(f"report   {build(merged, written.report, OPTIONS).html}", err=True)
