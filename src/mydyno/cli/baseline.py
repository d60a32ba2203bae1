"""`mydyno baseline`: runs kept under a name, for later ones to be held against."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from mydyno.cli import options, screen

app = typer.Typer(no_args_is_help=True, help="Pin runs under a name, for later ones to be held against.")


@app.command()
def pin(
    run: options.RunName = None,
    name: Annotated[
        str | None,
        typer.Option("--as", help="The baseline's name.", metavar="NAME", show_default="the experiment's"),
    ] = None,
    lab: options.Lab = options.DEFAULT_LAB,
    trust: options.Trust = False,
) -> None:
    """Pin a run: `mydyno compare RUN` holds later runs of its experiment against it.

    ```text
    mydyno baseline pin thread-cache
    mydyno baseline pin oltp-full-1f3870be --as before-upgrade
    ```
    """
    from mydyno.cli.labs import open_lab
    from mydyno.lab.results import baselines
    from mydyno.lab.results.baselines import Baseline

    with open_lab(lab, write=True, trust=trust) as opened:
        found = opened.find_run(run)
        experiment = found.experiment.name
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        pinned = Baseline(name or experiment, found.folder.name, experiment, now)
        before = baselines.pin(opened.path, pinned)
    instead = f" instead of {before.run}" if before is not None and before.run != pinned.run else ""
    screen.echo(f"baseline {pinned.name} is {pinned.run}{instead}")


@app.command("list")
def list_baselines(lab: options.Lab = options.DEFAULT_LAB, trust: options.Trust = False) -> None:
    """List the pinned runs."""
    from mydyno.cli.labs import open_lab
    from mydyno.lab.results import baselines

    with open_lab(lab, write=False, trust=trust) as opened:
        found = baselines.read(opened.path)
    if not found:
        screen.echo("no baseline is pinned; `mydyno baseline pin RUN` pins one")
    width = max((len(baseline.name) for baseline in found), default=0)
    for baseline in found:
        screen.echo(f"{baseline.name:<{width}}  {baseline.run}  pinned {baseline.pinned_at}")


@app.command()
def unpin(
    name: Annotated[str, typer.Argument(help="The baseline's name.", show_default=False)],
    lab: options.Lab = options.DEFAULT_LAB,
    trust: options.Trust = False,
) -> None:
    """Forget a baseline; its run stays."""
    from mydyno.cli.labs import open_lab
    from mydyno.lab.results import baselines

    with open_lab(lab, write=True, trust=trust) as opened:
        gone = baselines.unpin(opened.path, name)
    screen.echo(f"baseline {gone.name} is forgotten; the run {gone.run} stays")


def add_to(main: typer.Typer) -> None:
    main.add_typer(app, name="baseline")
