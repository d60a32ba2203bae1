"""`mydyno bundle` and `mydyno unbundle`: one run in one file, from lab to lab."""

from pathlib import Path
from typing import Annotated

from mydyno.cli import options, screen
from mydyno.cli.declare import argument, option
from mydyno.cli.labs import LabOptions
from mydyno.core.plurals import counted


def bundle(
    name: options.RunName = None,
    lab: LabOptions = LabOptions(),
    out: Path | None = option("--out", "The file to write.", show_default="RUN.mydyno.tar.gz here"),
    series: bool = option("--series/--no-series", "Include samples and intervals.", default=True),
    anonymous: bool = option(
        "--anonymous", "Remove names of hosts, the lab's folder, and owners of home folders.", default=False
    ),
) -> None:
    """Pack a run into one file, to send it or keep it.

    The file has the finished trials, with checksums. `mydyno unbundle` unpacks it into a lab, where its
    report is the same. It has nothing that the lab does not have, so no password. The same run gives the
    same bytes.

    ```text
    mydyno bundle thread-cache
    mydyno bundle thread-cache --anonymous --no-series --out /tmp/run.tar.gz
    ```
    """
    from mydyno.core.units import format_bytes
    from mydyno.lab.results.bundle import SUFFIX
    from mydyno.lab.results.bundle import bundle as write

    with lab.reading() as opened:
        run = opened.find_run(name)
        target = out or Path(f"{run.folder.name}{SUFFIX}")
        manifest = write(run, target, series=series, anonymous=anonymous)
    size = format_bytes(target.stat().st_size)
    screen.echo(f"{target}: {counted(len(manifest.files), 'file')} of {manifest.run}, {size}")


def unbundle(file: Annotated[Path, argument("FILE", "The bundle.")], lab: LabOptions = LabOptions()) -> None:
    """Unpack a bundled run into a lab.

    A bundle that is incomplete or damaged is refused, and nothing is written. A run that the lab already has
    is left as it is; a run whose name is taken gets another one.

    ```text
    mydyno unbundle thread-cache-demo-1f3870be.mydyno.tar.gz
    mydyno unbundle colleague.mydyno.tar.gz --lab /tmp/lab
    ```
    """
    from mydyno.lab.results.bundle import Bundle
    from mydyno.lab.results.bundle import unbundle as take
    from mydyno.lab.results.files import free_bytes

    existing = next(folder for folder in (lab.folder, *lab.folder.absolute().parents) if folder.is_dir())
    with Bundle.open(file, free_bytes(existing)) as content, lab.open(write=True) as opened:
        run, was_here = take(content, opened)
        trials = len(run.completed())
    if was_here:
        screen.echo(f"{lab.folder} has this run already, as {run.folder.name}: nothing was changed")
    else:
        screen.echo(f"{run.folder}: {counted(trials, 'trial')}; `mydyno report {run.folder.name}` shows them")
