"""`mydyno bundle` and `mydyno unbundle`: one run in one file, from lab to lab."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mydyno.cli import options, screen
from mydyno.core.plurals import counted


def bundle(
    name: options.RunName = None,
    lab: options.Lab = options.DEFAULT_LAB,
    trust: options.Trust = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The file to write.", show_default="RUN.mydyno.tar.gz here"),
    ] = None,
    series: Annotated[
        bool, typer.Option("--series/--no-series", help="Take the samples and intervals along.")
    ] = True,
    anonymous: Annotated[
        bool,
        typer.Option(
            "--anonymous", help="Take out names of hosts, the lab's folder, and who owns a home folder."
        ),
    ] = False,
) -> None:
    """Put the finished trials of a run into one file, with checksums, to send it or keep it.

    `mydyno unbundle` takes it into a lab, where its report is the same. It holds nothing that the lab does
    not, so no password. The same run gives the same bytes.

    ```text
    mydyno bundle thread-cache
    mydyno bundle thread-cache --anonymous --no-series --out /tmp/thread-cache.mydyno.tar.gz
    ```
    """
    from mydyno.cli.labs import open_lab
    from mydyno.core.units import format_bytes
    from mydyno.lab.results.bundle import SUFFIX
    from mydyno.lab.results.bundle import bundle as write
    from mydyno.lab.results.sound import numbers_explained
    from mydyno.lab.results.store import DATABASE

    with numbers_explained(lab / DATABASE), open_lab(lab, write=False, trust=trust) as opened:
        run = opened.find_run(name)
        target = out or Path(f"{run.folder.name}{SUFFIX}")
        manifest = write(run, target, series=series, anonymous=anonymous)
    size = format_bytes(target.stat().st_size)
    screen.echo(f"{target}: {counted(len(manifest.files), 'file')} of {manifest.run}, {size}")


def unbundle(
    file: Annotated[Path, typer.Argument(help="The bundle.", metavar="FILE", show_default=False)],
    lab: options.Lab = options.DEFAULT_LAB,
    trust: options.Trust = False,
) -> None:
    """Take a bundled run into a lab. A bundle that is not whole and sound is refused and nothing written.

    A run that the lab has already is left as it is; where another one has its name, it gets a new one.

    ```text
    mydyno unbundle thread-cache-demo-1f3870be.mydyno.tar.gz
    mydyno unbundle colleague.mydyno.tar.gz --lab /tmp/lab
    ```
    """
    from mydyno.cli.labs import open_lab
    from mydyno.lab.results.bundle import Bundle
    from mydyno.lab.results.bundle import unbundle as take
    from mydyno.lab.results.files import free_bytes

    there = next(folder for folder in (lab, *lab.absolute().parents) if folder.is_dir())
    with Bundle.open(file, free_bytes(there)) as found, open_lab(lab, write=True, trust=trust) as opened:
        run, was_here = take(found, opened)
        trials = len(run.completed())
    if was_here:
        screen.echo(f"{lab} has this run already, as {run.folder.name}: nothing was changed")
    else:
        screen.echo(f"{run.folder}: {counted(trials, 'trial')}; `mydyno report {run.folder.name}` shows them")


def add_to(app: typer.Typer) -> None:
    app.command()(bundle)
    app.command()(unbundle)
