"""`mydyno apply`: carry an advice out, after showing all of it and asking."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mydyno.cli import completion, screen
from mydyno.cli import reach as reaching
from mydyno.core.visible import visible_line

if TYPE_CHECKING:
    from mydyno.advisor import Advice
    from mydyno.apply.finding import Finding
    from mydyno.apply.means import Means
    from mydyno.apply.preparing import Prepared
    from mydyno.apply.reading import Running
    from mydyno.apply.store.store import Entry, Store


class _Reach(reaching.ServerReach):
    other_ways = ", or --offline to write files only"


Root = Annotated[
    Path,
    typer.Option(
        "--root",
        metavar="DIR",
        help="The image of a system below this folder: only its files are changed.",
        file_okay=False,
        exists=True,
        resolve_path=True,
        show_default=False,
    ),
]


@reaching.options
def apply(
    reach: _Reach,
    advice: Annotated[
        Path, typer.Argument(metavar="ADVICE", help="What `mydyno advise` wrote.", show_default=False)
    ],
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="IDS",
            autocompletion=completion.rules,
            help="These findings only, even where somebody has changed a value since.",
            show_default=False,
        ),
    ] = None,
    without: Annotated[
        str | None,
        typer.Option("--except", metavar="IDS", help="All but these findings.", show_default=False),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and end.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Restart the server for what only a start brings.")
    ] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="Leave the running server alone; only write its files.")
    ] = False,
    root: Root = Path("/"),
) -> None:
    """Carry out what `mydyno advise` found: show every change, ask, do it, read it back.

    Settings go into files of mydyno's own (an option file, sysctl.d, tmpfiles.d, a udev rule, a drop-in of
    the unit) and into one field of /etc/fstab, and count at once where that can be. Should anything fail, or
    this program be killed, everything is put back. `mydyno rollback` takes it back later.

    ```text
    sudo mydyno apply advice.json --dry-run
    sudo mydyno apply advice.json
    sudo mydyno apply advice.json --only swappiness,redo-capacity --yes
    mydyno apply advice.json --root /mnt/image
    ```
    """
    from mydyno.advisor.advice import read_advice
    from mydyno.apply.means import Means
    from mydyno.apply.preparing import prepare
    from mydyno.apply.selection import ids_of, select
    from mydyno.apply.store.store import Store
    from mydyno.cli import apply_text

    found = read_advice(_text(advice), str(advice))
    findings = select(found.findings, ids_of(only), ids_of(without))
    root = root.resolve()
    is_live = root == Path("/")
    store = Store.of_system(root)
    is_needed = not offline and (_needs_server(findings) or needs_server(store.unfinished()))
    means = Means(root=root, login=reach.login() if is_live and is_needed else None)
    if not dry_run:
        recover(store, means, yes=yes)
    elif store.unfinished():
        screen.echo(
            "mydyno: an application was ended in the middle; without --dry-run it is put back", err=True
        )
    server = _server(found, means)
    if str(server.version) != found.server.partition(" at ")[0]:
        screen.echo(
            f"mydyno: the server is {server.version}, and the advice is for {visible_line(found.server)}: "
            "ask for it again unless you know that it holds here, too",
            err=True,
        )
    prepared = prepare(findings, means, server, ids_of(only), restart=restart)
    for line in apply_text.lines(prepared):
        screen.echo(line)
    if not prepared.acts:
        screen.echo("Nothing to do.")
        return
    if dry_run:
        return
    if not yes:
        _ask(len(prepared.acts))
    _carry_out(found, prepared, server, store, means)


def needs_server(entries: Sequence[Entry]) -> bool:
    """Whether taking these back goes by way of the server."""
    return any(act.needs_server for entry in entries for act in entry.application.acts)


def recover(store: Store, means: Means, *, yes: bool = False) -> None:
    """Puts back what a killed mydyno has left, and says so. Raises LabError when one is at work.

    What an image's journal says is shown and asked first, unless `yes`: nobody knows who wrote it.
    """
    from mydyno.apply.transaction import recover as put_back

    if left := store.unfinished():
        if store.is_of_image and not yes:
            _ask_to_put_back(left)
        with store.held():
            for line in put_back(store, means):
                screen.echo(f"mydyno: {line}", err=True)


def recover_with(reach: reaching.ServerReach, store: Store) -> None:
    """The same, where nothing else needs a way into the server."""
    from mydyno.apply.means import Means

    if left := store.unfinished():
        recover(store, Means(login=reach.login() if needs_server(left) else None))


def _ask_to_put_back(left: Sequence[Entry]) -> None:
    """Ends the program unless the answer is yes. Raises UsageError where nobody can be asked."""
    from mydyno.core.errors import UsageError

    for entry in left:
        screen.echo(
            f"{entry.folder}: the image says that this was ended in the middle and is to be put back:"
        )
        for place, act in enumerate(entry.application.acts):
            if place in entry.progress.begun:
                screen.echo(f"  {visible_line(act.reversed().sentence())}")
    if not sys.stdin.isatty():
        raise UsageError(
            "the image has a journal of changes that were ended in the middle, and nobody is here to say yes",
            "--yes puts them back; if mydyno has never changed this image, remove its var/lib/mydyno/changes",
        )
    if not screen.confirm("Put it back?"):
        screen.echo("Nothing was changed.")
        raise typer.Exit


def _carry_out(advice: Advice, prepared: Prepared, server: Running, store: Store, means: Means) -> None:
    from mydyno.apply.checks import check
    from mydyno.apply.store.application import new_application
    from mydyno.apply.transaction import carry_out

    for line in check(prepared.proposal.texts, means.root, server):
        screen.echo(f"mydyno: {line}", err=True)
    application = new_application(
        "apply",
        advice.server,
        prepared.proposal.carried_out,
        prepared.acts,
        waits_for_restart=prepared.waiting,
    )
    with store.held():
        carry_out(store.add(application, prepared.contents), means, tell)
    screen.echo(f"Done, and read back. `mydyno rollback {application.id}` takes it back.")
    if prepared.waiting:
        screen.echo("Some of it waits for the server's next start, as told above.")


def tell(line: str) -> None:
    """Shows what happens next, a line each: what was done before a failure stays to be seen."""
    screen.echo(f"mydyno: {visible_line(line)}", err=True)


def _server(advice: Advice, means: Means) -> Running:
    from mydyno.apply.reading import advised_server, find_server

    return find_server(means.login) if means.login else advised_server(advice.server)


def _needs_server(findings: tuple[Finding, ...]) -> bool:
    from mydyno.apply.change import RemoveVariable, SetVariable

    return any(
        isinstance(change, SetVariable | RemoveVariable) for each in findings for change in each.changes
    )


def _text(path: Path) -> str:
    from mydyno.core.errors import UsageError

    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}", "mydyno advise --out FILE makes one") from None


def _ask(acts: int) -> None:
    """Ends the program unless the answer is yes. Raises UsageError where nobody can be asked."""
    from mydyno.core.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError("nobody is here to say yes", "--yes does it without asking, --dry-run only shows it")
    if not screen.confirm(f"Carry out these {acts} steps?" if acts > 1 else "Carry it out?"):
        screen.echo("Nothing was changed.")
        raise typer.Exit


def add_to(app: typer.Typer) -> None:
    app.command()(apply)
