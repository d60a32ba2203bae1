"""`mydyno history`: what was applied to this system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mydyno.cli import options, screen
from mydyno.cli.apply import Root
from mydyno.cli.declare import argument
from mydyno.cli.shown import show_table
from mydyno.core.plurals import listed
from mydyno.core.visible import visible_line

if TYPE_CHECKING:
    from mydyno.apply.history import Row
    from mydyno.apply.store.store import Entry

_NAMED = 3
"""Findings of an application that the list names; --json names all."""
_HEAD = ("id", "made (UTC)", "", "findings", "files", "at once", "state")


def history(
    application: str | None = argument(
        "ID", "An application: show all of its changes.", show_default="a list"
    ),
    root: Root = Path("/"),
    as_json: options.AsJson = False,
) -> None:
    """List what was changed on this system, the newest first.

    These are the changes of `mydyno apply`, `rollback` and `slowlog`. With an ID, shows the differences of
    its files and the values set in the running system. Changes nothing.

    ```text
    sudo mydyno history
    sudo mydyno history 20261121-233012-048213
    ```
    """
    from mydyno.apply.history import rows
    from mydyno.apply.store.store import Store

    root = root.resolve()
    store = Store.of_system(root)
    entries = store.entries()
    if application is not None:
        _show(_named(entries, application), root)
        return
    applications = list(reversed(rows(entries, at_work=store.is_held)))
    if as_json:
        screen.echo_json([row.model_dump(mode="json") for row in applications])
    elif not applications:
        screen.echo(f"nothing has been applied here ({store.folder})")
    else:
        _table(applications)


def _table(applications: list[Row]) -> None:
    show_table(_HEAD, map(_cells, applications))
    for each in applications:
        for line in each.waits_for_restart:
            screen.echo(f"{each.id} takes effect at the next start of the server: {visible_line(line)}")


def _cells(row: Row) -> tuple[str, ...]:
    state = f"{row.state}: {row.says}" if row.says else row.state
    made = row.made_at[:16].replace("T", " ")
    cells = (row.id, made, row.does, listed(row.findings, _NAMED), str(row.files), str(row.live), state)
    return tuple(map(visible_line, cells))


def _named(entries: list[Entry], wanted: str) -> Entry:
    from mydyno.core.errors import UsageError

    for entry in entries:
        if entry.application.id == wanted:
            return entry
    raise UsageError(f"there is no application {wanted}", "`mydyno history` lists them")


def _show(entry: Entry, root: Path) -> None:
    from mydyno.apply.apply_context import ApplyContext
    from mydyno.apply.diff import unified
    from mydyno.apply.files.replace import ReplaceFile, kept_text

    context = ApplyContext(root=root, kept=entry.folder)
    for act in entry.application.acts:
        if isinstance(act, ReplaceFile):
            screen.echo(unified(act.path, kept_text(context, act.before), kept_text(context, act.after)))
        else:
            screen.echo(visible_line(act.sentence()))
