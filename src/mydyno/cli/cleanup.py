"""`mydyno cleanup`: undo what a killed run has left behind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mydyno.cli import screen
from mydyno.cli.declare import option
from mydyno.cli.labs import LabOptions
from mydyno.cli.login_options import LoginOptions
from mydyno.core.errors import MydynoError, UndoError
from mydyno.core.plurals import counted

if TYPE_CHECKING:
    from mydyno.machine.hosts.entry import HostEntry


def cleanup(
    server: LoginOptions = LoginOptions(),
    lab: LabOptions = LabOptions(),
    hosts: Path | None = option(
        "--hosts FILE", "Also clean up the other machines that this file names (docs/reference/hosts.md)."
    ),
) -> None:
    """Undo what a killed run has left behind: servers, disks, limits, temporary folders.

    Every run writes each change to a journal before it makes it; cleanup undoes them, the newest first.
    Finished trials stay. It is safe at any time; during a run it is refused. Changes of a killed `mydyno
    apply` or `mydyno slowlog` are also restored, as by `mydyno rollback`.

    ```text
    mydyno cleanup --lab lab
    mydyno cleanup --hosts hosts.yaml
    ```
    """
    others = _read(hosts) if hosts is not None else {}
    if lab.folder.exists():
        _clean(lab)
    else:
        screen.echo(f"there is no lab at {lab.folder}: nothing to clean up")
    _restore(server)
    _sweep(others)


def _read(file: Path) -> Mapping[str, HostEntry]:
    from mydyno.machine.hosts.entry import read_hosts

    return read_hosts(file)


def _sweep(hosts: Mapping[str, HostEntry]) -> None:
    """Every host is tried. Raises UndoError naming those that could not be cleaned up."""
    from mydyno.machine.hosts.host import sweep

    failures = []
    for name, entry in hosts.items():
        try:
            removed = sweep(entry)
        except MydynoError as error:
            failures.append(f"{name}: {error.message}")
            continue
        for folder in removed:
            screen.echo(f"{name}: made sure that {folder} and its processes are gone")
        if not removed:
            screen.echo(f"{name}: nothing was left behind")
    if failures:
        raise UndoError(
            "not every host could be cleaned up:\n" + "\n".join(f"  - {failure}" for failure in failures),
            "fix the cause and run `mydyno cleanup --hosts` again; the next run on a host also cleans it up",
        )


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
