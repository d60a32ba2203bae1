"""`mydyno runs`: what a lab holds."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mydyno.cli import options, screen
from mydyno.cli.labs import LabOptions
from mydyno.cli.shown import show_table

if TYPE_CHECKING:
    from mydyno.lab.results.run_rows import RunSummary


_HEAD = ("run", "made (UTC)", "trials", "invalid", "state", "files")


def runs(lab: LabOptions = LabOptions(), as_json: options.AsJson = False) -> None:
    """List the runs of a lab, the newest first: state, date and size.

    Each has a unique name, in the first column, which `mydyno report`, `bundle` and `export` take.

    ```text
    mydyno runs
    mydyno runs --lab /mnt/fast/lab --json
    ```
    """

    with lab.open() as opened:
        summaries = opened.list_runs()
    if as_json:
        screen.echo_json([asdict(each) | {"finished": each.finished} for each in summaries])
    elif not summaries:
        screen.echo(f"no run in {lab.folder} yet: `mydyno run EXPERIMENT` makes one")
    else:
        show_table(_HEAD, map(_row, summaries))


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
