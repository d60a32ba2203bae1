"""`mydyno apply`: apply advice, after showing all changes and asking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mydyno.cli import completion, options, screen
from mydyno.cli.declare import option
from mydyno.cli.inputs import advice_of, confirm
from mydyno.cli.login_options import LoginOptions
from mydyno.core.visible import visible_line

if TYPE_CHECKING:
    from mydyno.advisor import Advice
    from mydyno.apply.apply_context import ApplyContext
    from mydyno.apply.finding import Finding
    from mydyno.apply.preparing import Prepared
    from mydyno.apply.reading import Running
    from mydyno.apply.store.store import Entry, Store


@dataclass(frozen=True)
class _Server(LoginOptions):
    other_ways = ", or --offline to write files only"


Root = Annotated[
    Path,
    option(
        "--root DIR",
        "The root of a system image; only its files are changed.",
        file_okay=False,
        exists=True,
        resolve_path=True,
        show_default=False,
    ),
]


def apply(
    server: _Server,
    advice: options.AdviceFile,
    only: str | None = option(
        "--only IDS",
        "Only these findings, even where a value was changed since.",
        autocompletion=completion.rules,
    ),
    without: str | None = option("--except IDS", "All but these findings."),
    dry_run: bool = option("--dry-run", "Show the changes, and end.", default=False),
    yes: options.Yes = False,
    restart: bool = option("--restart", "Restart the server for settings that need it.", default=False),
    offline: bool = option(
        "--offline", "Write files only, without changing the running server.", default=False
    ),
    root: Root = Path("/"),
) -> None:
    """Apply advice: show every change, ask, make it, read it back.

    Settings go into separate files (an option file, sysctl.d, tmpfiles.d, a udev rule, a drop-in of the unit)
    and into one field of /etc/fstab, and take effect at once where possible. If a change fails, or this
    program is killed, everything is restored. `mydyno rollback` undoes it later.

    ```text
    sudo mydyno apply advice.json --dry-run
    sudo mydyno apply advice.json
    sudo mydyno apply advice.json --only swappiness,redo-capacity --yes
    mydyno apply advice.json --root /mnt/image
    ```
    """
    from mydyno.apply.apply_context import ApplyContext
    from mydyno.apply.finding import ids_of, select
    from mydyno.apply.preparing import prepare
    from mydyno.apply.store.store import Store
    from mydyno.cli import apply_text

    read = advice_of(advice)
    findings = select(read.findings, ids_of(only), ids_of(without))
    root = root.resolve()
    is_live = root == Path("/")
    store = Store.of_system(root)
    is_needed = not offline and (_needs_server(findings) or needs_server(store.unfinished()))
    context = ApplyContext(root=root, login=server.login() if is_live and is_needed else None)
    _recover_unless_dry(store, context, dry_run=dry_run, yes=yes)
    running = _running(read, context)
    prepared = prepare(findings, context, running, ids_of(only), restart=restart)
    for line in apply_text.lines(prepared):
        screen.echo(line)
    if not prepared.acts:
        screen.echo("Nothing to do.")
    elif not dry_run:
        if not yes:
            question = f"Apply these {len(prepared.acts)} changes?" if len(prepared.acts) > 1 else "Apply it?"
            confirm(question, "--yes applies without asking, --dry-run only shows")
        _carry_out(read, prepared, running, store, context)


def _recover_unless_dry(store: Store, context: ApplyContext, *, dry_run: bool, yes: bool) -> None:
    if not dry_run:
        recover(store, context, yes=yes)
    elif store.unfinished():
        report("an earlier mydyno apply was interrupted; without --dry-run it is restored first")


def needs_server(entries: Sequence[Entry]) -> bool:
    """Whether undoing these needs the server."""
    return any(act.needs_server for entry in entries for act in entry.application.acts)


def recover(store: Store, context: ApplyContext, *, yes: bool = False) -> None:
    """Restores what a killed mydyno has left, and says so. Raises LabError while another one is working.

    What an image's journal says is shown and confirmed first, unless `yes`: its author is unknown.
    """
    from mydyno.apply.transaction import recover as restore

    if left := store.unfinished():
        if store.is_of_image and not yes:
            _confirm_restoring(left)
        with store.held():
            for line in restore(store, context):
                report(line)


def recover_with(server: LoginOptions, store: Store) -> None:
    """The same, where nothing else needs a login."""
    from mydyno.apply.apply_context import ApplyContext

    if left := store.unfinished():
        recover(store, ApplyContext(login=server.login() if needs_server(left) else None))


def _confirm_restoring(left: Sequence[Entry]) -> None:
    """Ends the program unless the answer is yes. Raises UsageError without a terminal."""
    for entry in left:
        screen.echo(f"{entry.folder}: the journal of the image has an interrupted change to restore:")
        for place, act in enumerate(entry.application.acts):
            if place in entry.progress.begun:
                screen.echo(f"  {visible_line(act.reversed().sentence())}")
    confirm(
        "Restore it?",
        "--yes restores them; if mydyno has never changed this image, remove its var/lib/mydyno/changes",
        "the image has a journal of interrupted changes, and standard input is not a terminal",
    )


def _carry_out(
    advice: Advice, prepared: Prepared, server: Running, store: Store, context: ApplyContext
) -> None:
    from mydyno.apply.checks import check
    from mydyno.apply.store.application import new_application
    from mydyno.apply.transaction import carry_out

    for line in check(prepared.proposal.texts, context.root, server):
        report(line)
    changes = prepared.proposal.carried_out
    application = new_application(
        "apply", advice.server, changes, prepared.acts, waits_for_restart=prepared.waiting
    )
    with store.held():
        carry_out(store.add(application, prepared.contents), context, report)
    screen.echo(f"Done, and read back. `mydyno rollback {application.id}` undoes it.")
    if prepared.waiting:
        screen.echo("Some changes take effect at the next start of the server, as listed above.")


def report(line: str) -> None:
    """Shows the next step, a line each: the steps before a failure stay visible."""
    screen.echo(f"mydyno: {visible_line(line)}", err=True)


def _running(advice: Advice, context: ApplyContext) -> Running:
    """The server, with a warning when it is not the one of the advice."""
    from mydyno.apply.reading import advised_server, find_server

    running = find_server(context.login) if context.login else advised_server(advice.server)
    if str(running.version) != advice.server.partition(" at ")[0]:
        report(
            f"the server is {running.version}, and the advice is for {advice.server}: "
            "run `mydyno advise` again unless you know that it applies here, too"
        )
    return running


def _needs_server(findings: tuple[Finding, ...]) -> bool:
    from mydyno.apply.change import RemoveVariable, SetVariable

    return any(
        isinstance(change, SetVariable | RemoveVariable) for each in findings for change in each.changes
    )
