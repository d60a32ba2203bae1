"""`mydyno datasets`: the frozen data that trials are cloned from, kept in the lab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mydyno.cli import options, screen
from mydyno.cli.application import Application
from mydyno.cli.declare import argument, option
from mydyno.cli.labs import LabOptions
from mydyno.cli.quantities import Duration, duration
from mydyno.cli.shown import show_table
from mydyno.core.errors import ExitCode, UsageError
from mydyno.core.plurals import counted, plural
from mydyno.core.units import format_bytes

if TYPE_CHECKING:
    from mydyno.lab.stack.datasets import DatasetEntry, DatasetManifest


_Names = Annotated[list[str] | None, argument("NAME", "Names as `mydyno datasets list` shows them.")]
_Name = Annotated[str, argument("NAME", "A name as `mydyno datasets list` shows it.")]
_All = Annotated[bool, option("--all", "Remove every dataset of the lab.")]
commands = Application(
    name="datasets",
    help="""List, verify and remove the data that trials start from.

The tables of an experiment are loaded once for each release of the server, each workload and each value of a
setting that shapes files; the server is shut down cleanly and its data directory kept in the lab. Every trial
starts on a fresh clone of it. A dataset that was removed is made again by the next run that needs it.

```text
mydyno datasets list
mydyno datasets verify oltp-read-only-3f0c5a
mydyno datasets remove --unused-for 30d
```
""",
)


@commands.command("list")
def list_datasets(lab: LabOptions = LabOptions(), as_json: options.AsJson = False) -> None:
    """List the datasets of a lab, the last used first.

    ```text
    mydyno datasets list --lab lab
    mydyno datasets list --json | jq '.[] | {name, rows, size_bytes, checksum}'
    ```
    """
    from mydyno.lab.results.ownership import must_be_sound
    from mydyno.lab.stack.datasets import DatasetStore

    must_be_sound(lab.folder, trust=lab.trust)
    store = DatasetStore(lab.folder)
    entries = store.entries()
    if as_json:
        screen.echo_json([_plain(entry) for entry in entries])
        return
    if not entries:
        screen.echo(f"the lab has no dataset in {store.folder}: a run makes those that it needs")
        return
    usable = [_row(entry, entry.manifest) for entry in entries if entry.manifest is not None]
    if usable:
        show_table(("name", "workload", "rows", "size", "release", "last used"), usable, right=(2, 3))
    for entry in entries:
        if entry.bases:
            taken = format_bytes(sum(base.manifest.size_bytes for base in entry.bases))
            screen.echo(f"{entry.name} is also on {len(entry.bases)} bases of guests' disks: {taken}")
        if entry.trouble is not None:
            screen.echo(f"{entry.name}  {entry.trouble}\n  hint: mydyno datasets remove {entry.name}")


@commands.command()
def verify(name: _Name, lab: LabOptions = LabOptions()) -> None:
    """Verify that a dataset has the rows that it had when it was made.

    A server of its release is started on a clone, and every table is counted and checksummed, which takes as
    long as reading all rows once. Exit code 1 when a table differs.

    ```text
    mydyno datasets verify oltp-read-only-3f0c5a --lab lab
    ```
    """
    from mydyno.lab.stack import Journal, Site
    from mydyno.lab.stack.datasets import DatasetStore
    from mydyno.lab.stack.datasets import verify as verification
    from mydyno.machine.local import LocalHost

    lab.must_exist()
    with lab.open(write=True):
        entry = DatasetStore(lab.folder).find(name)
        result = verification.verify(Site(lab.folder, LocalHost(), Journal(lab.folder)), entry)
    if result.differences:
        for sentence in result.differences:
            screen.echo(sentence)
        screen.echo(f"{entry.name} differs from what it was: mydyno datasets remove {entry.name}", err=True)
        raise typer.Exit(ExitCode.FAILED)
    rows = sum(table.rows for table in result.tables.values())
    count = f"{counted(len(result.tables), 'table')}, {rows:,} {plural(rows, 'row')}"
    screen.echo(f"{entry.name}: {count}, checksum {result.checksum}, as when it was made")


@commands.command()
def remove(
    names: _Names = None,
    everything: _All = False,
    unused_for: Duration | None = duration(
        "--unused-for",
        "Remove those that no run has used for this long, as 30d or 12h, and the damaged ones.",
        needs_unit=True,
    ),
    lab: LabOptions = LabOptions(),
) -> None:
    """Remove datasets; refused while a run uses the lab.

    ```text
    mydyno datasets remove oltp-read-only-3f0c5a --lab lab
    mydyno datasets remove --unused-for 30d
    mydyno datasets remove --all
    ```
    """
    from mydyno.lab.stack.datasets import DatasetStore

    if sum((bool(names), everything, unused_for is not None)) != 1:
        raise UsageError("which datasets?", "their names, --all, or --unused-for 30d: one of the three")
    lab.must_exist()
    with lab.open(write=True):
        store = DatasetStore(lab.folder)
        if names:
            chosen: Sequence[DatasetEntry] = [store.find(name) for name in dict.fromkeys(names)]
        else:
            chosen = store.entries() if unused_for is None else store.unused_for(unused_for)
        for entry in chosen:
            store.remove(entry)
            size = entry.manifest.size_bytes if entry.manifest else 0
            size += sum(base.manifest.size_bytes for base in entry.bases)
            freed = f", {format_bytes(size)}" if size else ""
            screen.echo(f"removed {entry.name}{freed}")
    if not chosen:
        screen.echo("nothing to remove")


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
