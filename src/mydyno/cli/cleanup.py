"""`mydyno cleanup`: undo what a killed run has left behind."""

from __future__ import annotations

from pathlib import Path

from mydyno.cli import screen
from mydyno.cli.labs import LabOptions
from mydyno.cli.login_options import LoginOptions
from mydyno.core.plurals import counted


def cleanup(server: LoginOptions = LoginOptions(), lab: LabOptions = LabOptions()) -> None:
    """Undo what a killed run has left behind: servers, disks, limits, temporary folders.

    Every run writes each change to a journal before it makes it; cleanup undoes them, the newest first.
    Finished trials stay. It is safe at any time; during a run it is refused. Changes of a killed `mydyno
    apply` or `mydyno slowlog` are also restored, as by `mydyno rollback`.

    ```text
    mydyno cleanup --lab lab
    ```
    """
    if lab.folder.exists():
        _clean(lab)
    else:
        screen.echo(f"there is no lab at {lab.folder}: nothing to clean up")
    _restore(server)


def _clean(lab: LabOptions) -> None:
    from mydyno.lab import stack

    with lab.open(write=True):
        undone = stack.cleanup(lab.folder)
    for line in undone:
        screen.echo(line)
    result = f"{counted(len(undone), 'change')} undone" if undone else "nothing was left behind"
    screen.echo(f"{lab.folder}: {result}")


def _restore(server: LoginOptions) -> None:
    from mydyno.apply.store.store import Store
    from mydyno.cli.apply import recover_with

    store = Store.of_system(Path("/"))
    if store.is_held:
        screen.echo("mydyno: another mydyno is changing this system now, and is left alone", err=True)
    else:
        recover_with(server, store)
