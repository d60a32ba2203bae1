"""`mydyno cleanup`: put back whatever a killed run has left behind."""

from __future__ import annotations

import typer

from mydyno.cli import options


def cleanup(lab: options.Lab = options.DEFAULT_LAB) -> None:
    """Undo what a run that was killed could not undo itself: servers, disks, limits, temporary folders.

    Every run writes down how to undo a thing before it does it; this replays that journal, newest
    first. Finished trials stay. Safe to run at any time but during a run, which is refused.

    ```text
    mydyno cleanup --lab lab
    ```
    """
    from mydyno import stack
    from mydyno.cli.labs import open_lab

    if not lab.exists():
        typer.echo(f"there is no lab at {lab}: nothing to clean up")
        return
    with open_lab(lab, write=True):
        undone = stack.cleanup(lab)
    for line in undone:
        typer.echo(line)
    typer.echo(f"{lab}: {len(undone) or 'nothing was left'} {'things put back' if undone else 'behind'}")


def add_to(app: typer.Typer) -> None:
    app.command()(cleanup)
