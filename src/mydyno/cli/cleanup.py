"""`mydyno cleanup`: put back whatever a killed run has left behind."""

from __future__ import annotations

from pathlib import Path

import typer

from mydyno.cli import options, screen
from mydyno.cli import reach as reaching


@reaching.options
def cleanup(
    reach: reaching.ServerReach, lab: options.Lab = options.DEFAULT_LAB, trust: options.Trust = False
) -> None:
    """Undo what a run that was killed could not undo itself: servers, disks, limits, temporary folders.

    Every run writes down how to undo a thing before it does it; this replays that journal, newest
    first. Finished trials stay. Safe to run at any time but during a run, which is refused. What a killed
    `mydyno apply` or `mydyno slowlog` has left of this system is put back, too, as `mydyno rollback` does it.

    ```text
    mydyno cleanup --lab lab
    ```
    """
    if lab.exists():
        _clean(lab, trust=trust)
    else:
        screen.echo(f"there is no lab at {lab}: nothing to clean up")
    _put_back(reach)


def _clean(lab: Path, *, trust: bool) -> None:
    from mydyno.cli.labs import open_lab
    from mydyno.lab import stack

    with open_lab(lab, write=True, trust=trust):
        undone = stack.cleanup(lab)
    for line in undone:
        screen.echo(line)
    screen.echo(f"{lab}: {len(undone) or 'nothing was left'} {'things put back' if undone else 'behind'}")


def _put_back(reach: reaching.ServerReach) -> None:
    from mydyno.apply.store.store import Store
    from mydyno.cli.apply import recover_with

    store = Store.of_system(Path("/"))
    if store.is_held:
        screen.echo("mydyno: another mydyno changes this system at this moment, and is left alone", err=True)
    else:
        recover_with(reach, store)


def add_to(app: typer.Typer) -> None:
    app.command()(cleanup)
