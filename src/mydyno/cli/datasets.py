"""`mydyno datasets`: the frozen data that trials are cloned from, kept in the lab."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mydyno.cli import options, screen
from mydyno.core.errors import ExitCode, UsageError
from mydyno.core.plurals import counted, plural
from mydyno.core.units import format_bytes, parse_duration

if TYPE_CHECKING:
    from mydyno.lab.stack.datasets import DatasetEntry, DatasetManifest


_Names = Annotated[
    list[str] | None,
    typer.Argument(help="Names as `mydyno datasets list` shows them.", metavar="NAME...", show_default=False),
]
_Name = Annotated[
    str,
    typer.Argument(help="A name as `mydyno datasets list` shows it.", metavar="NAME", show_default=False),
]
_All = Annotated[bool, typer.Option("--all", help="Remove every dataset of the lab.")]
_Unused = Annotated[
    str | None,
    typer.Option(
        "--unused-for",
        help="Remove those that no run has used for so long, as 30d or 12h, and the damaged ones.",
        metavar="TIME",
        show_default=False,
    ),
]

commands = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""List, check and remove the frozen data that trials start from.

The tables of an experiment are loaded once for each release of the server, each workload and each value of a
setting that shapes files; the server is shut down cleanly and its data directory kept in the lab. Every trial
starts on a fresh clone of it. What is removed is made anew by the next run that needs it.

```text
mydyno datasets list                        what the lab keeps, and how much disk it takes
mydyno datasets verify oltp-read-only-3f0c5a
mydyno datasets remove --unused-for 30d
```
""",
)


@commands.command("list")
def list_datasets(
    lab: options.Lab = options.DEFAULT_LAB, trust: options.Trust = False, as_json: options.AsJson = False
) -> None:
    """List the datasets of a lab, the last used first.

    ```text
    mydyno datasets list --lab lab
    mydyno datasets list --json | jq '.[] | {name, rows, size_bytes, checksum}'
    ```
    """
    from mydyno.lab.results.ownership import must_be_sound
    from mydyno.lab.stack.datasets import DatasetStore

    must_be_sound(lab, trust=trust)
    store = DatasetStore(lab)
    entries = store.entries()
    if as_json:
        screen.echo_json(json.dumps([_plain(entry) for entry in entries], indent=2))
        return
    if not entries:
        screen.echo(f"the lab keeps no dataset (they would be in {store.folder}): a run makes what it needs")
        return
    usable = [_row(entry, entry.manifest) for entry in entries if entry.manifest is not None]
    if usable:
        rows = [("name", "workload", "rows", "size", "release", "last used"), *usable]
        name, workload, count, size, release, _ = (
            max(map(len, column)) for column in zip(*rows, strict=True)
        )
        for row in rows:
            screen.echo(
                f"{row[0]:<{name}}  {row[1]:<{workload}}  {row[2]:>{count}}  {row[3]:>{size}}  "
                f"{row[4]:<{release}}  {row[5]}"
            )
    for entry in entries:
        if entry.bases:
            taken = format_bytes(sum(base.manifest.size_bytes for base in entry.bases))
            screen.echo(f"{entry.name} is also on {len(entry.bases)} bases of guests' disks: {taken}")
        if entry.trouble is not None:
            screen.echo(f"{entry.name}  {entry.trouble}\n  hint: mydyno datasets remove {entry.name}")


@commands.command()
def verify(name: _Name, lab: options.Lab = options.DEFAULT_LAB, trust: options.Trust = False) -> None:
    """Check that a dataset still holds the rows that it held when it was frozen.

    It is cloned, the server of its release started on the clone, every table counted and checksummed: it
    takes as long as reading everything once. Exit code 1 when a table differs.

    ```text
    mydyno datasets verify oltp-read-only-3f0c5a --lab lab
    ```
    """
    from mydyno.cli.labs import open_lab
    from mydyno.lab.stack import Journal, Site
    from mydyno.lab.stack.datasets import DatasetStore
    from mydyno.lab.stack.datasets import verify as verification
    from mydyno.machine.local import LocalHost

    _lab_must_exist(lab)
    with open_lab(lab, write=True, trust=trust):
        entry = DatasetStore(lab).find(name)
        found = verification.verify(Site(lab, LocalHost(), Journal(lab)), entry)
    if found.differences:
        for sentence in found.differences:
            screen.echo(sentence)
        screen.echo(f"{entry.name} is not what it was: mydyno datasets remove {entry.name}", err=True)
        raise typer.Exit(ExitCode.FAILED)
    rows = sum(table.rows for table in found.tables.values())
    count = f"{counted(len(found.tables), 'table')}, {rows:,} {plural(rows, 'row')}"
    screen.echo(f"{entry.name}: {count}, checksum {found.checksum}, as when it was frozen")


@commands.command()
def remove(
    names: _Names = None,
    everything: _All = False,
    unused_for: _Unused = None,
    lab: options.Lab = options.DEFAULT_LAB,
    trust: options.Trust = False,
) -> None:
    """Remove datasets; refused while a run uses the lab.

    ```text
    mydyno datasets remove oltp-read-only-3f0c5a --lab lab
    mydyno datasets remove --unused-for 30d
    mydyno datasets remove --all
    ```
    """
    from mydyno.cli.labs import open_lab
    from mydyno.lab.stack.datasets import DatasetStore

    if sum((bool(names), everything, unused_for is not None)) != 1:
        raise UsageError("which datasets?", "name them, or say --all, or --unused-for 30d; one of the three")
    age = _age(unused_for)
    _lab_must_exist(lab)
    with open_lab(lab, write=True, trust=trust):
        store = DatasetStore(lab)
        if names:
            chosen: Sequence[DatasetEntry] = [store.find(name) for name in dict.fromkeys(names)]
        else:
            chosen = store.entries() if age is None else store.unused_for(age)
        for entry in chosen:
            store.remove(entry)
            size = entry.manifest.size_bytes if entry.manifest else 0
            size += sum(base.manifest.size_bytes for base in entry.bases)
            freed = f", {format_bytes(size)}" if size else ""
            screen.echo(f"removed {entry.name}{freed}")
    if not chosen:
        screen.echo("nothing to remove")


def _lab_must_exist(lab: Path) -> None:
    if not lab.is_dir():
        raise UsageError(f"there is no lab at {lab}", "name it with --lab FOLDER")


def _age(written: str | None) -> float | None:
    """Seconds. Raises UsageError."""
    if written is None:
        return None
    try:
        return parse_duration(written)
    except ValueError as error:
        raise UsageError(f"--unused-for: {error}") from error


def _row(entry: DatasetEntry, manifest: DatasetManifest) -> tuple[str, ...]:
    return (
        entry.name,
        manifest.workload or "unknown",
        "unknown" if manifest.rows is None else f"{manifest.rows:,}",
        format_bytes(manifest.size_bytes),
        manifest.release,
        entry.last_used.strftime("%Y-%m-%d %H:%M") if entry.last_used else "unknown",
    )


def _plain(entry: DatasetEntry) -> dict[str, Any]:
    known = entry.manifest.model_dump(mode="json") if entry.manifest else {}
    return {
        "name": entry.name,
        "folder": str(entry.folder),
        "trouble": entry.trouble,
        "last_used": entry.last_used.strftime("%Y-%m-%dT%H:%M:%SZ") if entry.last_used else None,
        "rows": entry.manifest.rows if entry.manifest else None,
        "bases_bytes": sum(base.manifest.size_bytes for base in entry.bases),
        **known,
    }


def add_to(app: typer.Typer) -> None:
    app.add_typer(commands, name="datasets")
