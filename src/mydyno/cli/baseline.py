"""`mydyno baseline`: runs kept under a name, for later runs to be compared with."""

from datetime import UTC, datetime
from typing import Annotated

from mydyno.cli import options, screen
from mydyno.cli.application import Application
from mydyno.cli.declare import argument, option
from mydyno.cli.labs import LabOptions

commands = Application(name="baseline", help="Name runs that later runs are compared with.")


@commands.command()
def pin(
    run: options.RunName = None,
    name: str | None = option("--as NAME", "The baseline's name.", show_default="the experiment's"),
    lab: LabOptions = LabOptions(),
) -> None:
    """Pin a run: `mydyno compare RUN` compares later runs of its experiment with it.

    ```text
    mydyno baseline pin thread-cache
    mydyno baseline pin oltp-full-1f3870be --as before-upgrade
    ```
    """
    from mydyno.lab.results import baselines
    from mydyno.lab.results.baselines import Baseline

    with lab.open(write=True) as opened:
        chosen = opened.find_run(run)
        experiment = chosen.experiment.name
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        pinned = Baseline(name or experiment, chosen.folder.name, experiment, now)
        before = baselines.pin(opened.path, pinned)
    instead = f" instead of {before.run}" if before is not None and before.run != pinned.run else ""
    screen.echo(f"baseline {pinned.name} is {pinned.run}{instead}")


@commands.command("list")
def list_baselines(lab: LabOptions = LabOptions()) -> None:
    """List the pinned runs."""
    from mydyno.lab.results import baselines

    with lab.open() as opened:
        pinned = baselines.read(opened.path)
    if not pinned:
        screen.echo("no baseline is pinned; `mydyno baseline pin RUN` pins one")
    width = max((len(baseline.name) for baseline in pinned), default=0)
    for baseline in pinned:
        screen.echo(f"{baseline.name:<{width}}  {baseline.run}  pinned {baseline.pinned_at}")


@commands.command()
def unpin(
    name: Annotated[str, argument("NAME", "The baseline's name.")], lab: LabOptions = LabOptions()
) -> None:
    """Forget a baseline; its run stays."""
    from mydyno.lab.results import baselines

    with lab.open(write=True) as opened:
        gone = baselines.unpin(opened.path, name)
    screen.echo(f"baseline {gone.name} is forgotten; the run {gone.run} stays")
