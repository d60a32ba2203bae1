"""`mydyno compare`: runs held against each other, and a gate for CI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mydyno.cli import completion, options, outputs, screen
from mydyno.cli.labs import open_lab
from mydyno.core.errors import ExitCode

if TYPE_CHECKING:
    from mydyno.lab.report.compared.run import MergedRun
    from mydyno.lab.report.compared.view import Compared

ALLOWED = 0.03


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="What is compared, the first being what the others are held against. RUN is an experiment "
            "or a run of the lab, `baseline:NAME`, the folder of a lab or of a run, or `LABFOLDER:NAME`. A "
            "single one is held against its baseline, or else against the run before.",
            metavar="[NAME=]RUN[@FACTOR=LEVEL,...]...",
            autocompletion=completion.runs,
            show_default=False,
        ),
    ],
    lab: options.Lab = options.DEFAULT_LAB,
    trust: options.Trust = False,
    fail_if_slower: Annotated[
        str | None,
        typer.Option(
            "--fail-if-slower",
            help="End with exit code 8 when something is shown to be slower by this much or more.",
            metavar="PERCENT",
            show_default=False,
        ),
    ] = None,
    fail_if_unsure: Annotated[
        bool,
        typer.Option("--fail-if-unsure", help="And also when such a loss cannot be ruled out."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write the whole report into this folder.", show_default=False),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", help="Write a summary for a pull request.", metavar="FILE"),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", help="Write JUnit XML, for CI servers.", metavar="FILE")
    ] = None,
    json: Annotated[Path | None, typer.Option("--json", help="Write every number.", metavar="FILE")] = None,
    force: outputs.Force = False,
) -> None:
    """Hold runs against each other: before and after, two machines, two labs, or points of one run.

    Points with the same levels are compared, over their valid trials, with the tests of the report; what
    differs between the runs beside (versions, kernel, settings) is listed.

    ```text
    mydyno compare thread-cache                   its newest run against its baseline, or the one before
    mydyno compare before=old-lab after=new-lab   the newest runs of two labs
    mydyno compare baseline:main oltp --fail-if-slower 3% --junit result.xml
    mydyno compare oltp@thread_cache_size=8 oltp@thread_cache_size=450
    ```
    """
    from mydyno.lab.report.compared.chosen import Labs, choose
    from mydyno.lab.report.compared.run import MergedRun
    from mydyno.lab.report.compared.text import terminal
    from mydyno.lab.report.compared.view import compared
    from mydyno.lab.results.sound import numbers_explained
    from mydyno.lab.results.store import DATABASE

    allowed = ALLOWED if fail_if_slower is None else options.share(fail_if_slower, "--fail-if-slower")
    gated = fail_if_slower is not None or fail_if_unsure
    allowed_outputs = outputs.Outputs((lab / DATABASE,), force)
    folder = allowed_outputs.folder("--out", out)
    files = {
        "markdown": allowed_outputs.file("--markdown", markdown, outputs.COMPARISON_MARKDOWN),
        "junit": allowed_outputs.file("--junit", junit, outputs.COMPARISON_JUNIT),
        "json": allowed_outputs.file("--json", json, outputs.COMPARISON_JSON),
    }
    with (
        numbers_explained(lab / DATABASE),
        Labs(lab, lambda path: open_lab(path, write=False, trust=trust)) as labs,
    ):
        merged = MergedRun(choose(runs, labs))
        found = compared(merged, allowed)
        _write(found, merged, gated, folder, files)
        screen.echo(terminal(found, options.WIDTH, gated=gated), nl=False)
    if gated and (found.state == "failed" or (found.state == "unsure" and fail_if_unsure)):
        raise typer.Exit(ExitCode.SLOWER)


def _write(
    found: Compared,
    merged: MergedRun,
    gated: bool,
    out: Path | None,
    files: dict[str, outputs.OutputFile | None],
) -> None:
    from mydyno.lab.report.compared.machine import as_json, junit
    from mydyno.lab.report.compared.text import markdown

    contents = {
        "markdown": lambda: markdown(found, gated=gated),
        "junit": lambda: junit(found),
        "json": lambda: as_json(found),
    }
    for kind, file in files.items():
        if file is not None:
            file.write(contents[kind]())
    if out is not None:
        from mydyno.lab.report.build import build

        screen.echo(f"report   {build(merged, out).html}", err=True)


def add_to(app: typer.Typer) -> None:
    app.command()(compare)
