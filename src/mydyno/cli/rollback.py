"""`mydyno rollback`: undo `mydyno apply`."""

from pathlib import Path

from mydyno.cli import options, screen
from mydyno.cli.apply import Root
from mydyno.cli.declare import argument, option
from mydyno.cli.inputs import confirm
from mydyno.cli.login_options import LoginOptions
from mydyno.core.visible import visible_line


def rollback(
    server: LoginOptions,
    application: str | None = argument("ID", "As `mydyno history` lists it.", show_default="the newest"),
    force: bool = option("--force", "Also undo values that were changed since.", default=False),
    yes: options.Yes = False,
    root: Root = Path("/"),
) -> None:
    """Undo `mydyno apply`: every file byte for byte, every value that was set.

    Values that were changed since are shown, and then nothing is undone without --force. What a
    killed `mydyno apply` or `mydyno slowlog` has left is restored first.

    ```text
    sudo mydyno rollback
    sudo mydyno rollback 20261121-233012-048213
    ```
    """
    from mydyno.apply.apply_context import ApplyContext
    from mydyno.apply.rolling_back import to_roll_back, way_back
    from mydyno.apply.store.store import Store, in_force
    from mydyno.apply.transaction import carry_out
    from mydyno.cli.apply import needs_server, recover, report

    root = root.resolve()
    store = Store.of_system(root)
    unfinished = store.unfinished()
    entries = unfinished or [to_roll_back(store.entries(), application)]
    context = ApplyContext(root=root, login=server.login() if needs_server(entries) else None)
    recover(store, context, yes=yes)
    if unfinished and application is None:
        return
    entry = to_roll_back(store.entries(), application)
    back = way_back(entry, in_force(store.entries()), context, force=force)
    findings = ", ".join(entry.application.findings)
    screen.echo(visible_line(f"{entry.application.id} of {entry.application.made_at}: {findings}"))
    for act in back.application.acts:
        screen.echo(f"  {visible_line(act.sentence())}")
    if not yes:
        confirm("Undo it?", "--yes undoes without asking")
    with store.held():
        carry_out(store.add(back.application, back.contents), context, report, over_others=force)
    screen.echo(f"{entry.application.id} has been undone.")
    if entry.application.waits_for_restart:
        screen.echo("Settings that took effect at a start of the server stay until its next start.")
