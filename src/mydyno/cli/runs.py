"""`mydyno runs`: what a lab holds."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from mydyno.cli import options, screen

if TYPE_CHECKING:
    from mydyno.lab.results.summaries import RunSummary


_HEAD = ("run", "made (UTC)", "trials", "invalid", "state", "files")


def runs(
    lab: options.Lab = options.DEFAULT_LAB, trust: options.Trust = False, as_json: options.AsJson = False
) -> None:
    """List the runs of a lab, the newest first: how far each is, when it was made, how large its files are.

    Each has a name of its own, in the first column, which `mydyno report`, `bundle` and `export` take.

    ```text
    mydyno runs
    mydyno runs --lab /mnt/fast/lab --json
    ```
    """
    from mydyno.cli.labs import open_lab

    with open_lab(lab, write=False, trust=trust) as opened:
        found = opened.list_runs()
    if as_json:
        screen.echo_json(json.dumps([asdict(each) | {"finished": each.finished} for each in found], indent=1))
    elif not found:
        screen.echo(f"no run in {lab} yet: `mydyno run EXPERIMENT` makes one")
    else:
        rows = [_HEAD, *map(_row, found)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
        for row in rows:
            screen.echo(
                "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            )


def _row(run: RunSummary) -> tuple[str, ...]:
    from mydyno.core.units import format_bytes
    from mydyno.page.format import printable

    done = run.valid + run.invalid
    return (
        printable(run.folder),
        run.created_at[:16].replace("T", " "),
        f"{done} of {run.planned}",
        str(run.invalid) if run.invalid else "",
        "imported" if run.imported else "finished" if run.finished else "not finished",
        format_bytes(run.file_bytes),
    )


def add_to(app: typer.Typer) -> None:
    app.command()(runs)
