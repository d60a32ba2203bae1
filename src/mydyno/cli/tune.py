"""`mydyno tune`: search for settings by measuring, confirm what was found, and keep only what matters."""

from __future__ import annotations

from typing import Any

import typer

from mydyno.cli import options, screen
from mydyno.cli.declare import option
from mydyno.cli.labs import LabOptions
from mydyno.cli.quantities import duration
from mydyno.core.errors import UsageError


def tune(
    file: options.ExperimentFile,
    size: options.Size = None,
    budget: Any = duration(
        "--budget",
        "Time of the whole search: heats, confirmation and removal.",
        least=60.0,
        needs_unit=True,
        show_default=False,
        default=None,
    ),
    trials: int | None = option("--trials", "End the search after so many candidates.", min=1),
    confirm: bool = option(
        "--confirm/--no-confirm", "Confirm the winner, and remove settings that do not matter.", default=True
    ),
    lab: LabOptions = LabOptions(),
    hosts: options.Hosts = None,
    launcher: options.Launcher = None,
    partition: options.Partition = None,
) -> None:
    """Search for settings of the server and its storage that are better under a load, and confirm them.

    The file is an experiment with a `search` in the place of factors: paths that may vary, what is better,
    and what every candidate has to keep (by default full durability). Candidates race against the leader in
    experiments of the lab; poor ones are stopped early. The winner is measured again on other data against
    the settings as shipped, the buffer pool alone, a tuning sheet, mydyno's own advice and the start; then
    settings are removed until only those that matter are left. Writes `best.cnf`, an advice file
    for `mydyno apply`, and a report. With `host: ssh` the rounds of a heat are measured side by side on the
    machines of --hosts (docs/how-to/fleet.md). After Ctrl-C or a kill the same command continues where it
    stopped, also with a larger budget.

    ```text
    mydyno tune experiments/tune.yaml --trials 20
    mydyno tune experiments/tune.yaml --size full --budget 2h
    mydyno tune experiments/tune.yaml --size toy --trials 6 --no-confirm
    ```
    """
    from mydyno.cli import tuning
    from mydyno.cli.planning import machines_of
    from mydyno.tune.task import Budget

    if budget is None and trials is None:
        raise UsageError("a search needs an end", "--budget 2h, or --trials 20")
    with machines_of(hosts, launcher, partition, session=True) as machines:
        if tuning.tune(file, size, Budget(trials, budget), lab, machines, confirm=confirm):
            return
    screen.echo("nothing was found that holds: no best.cnf was written")
    raise typer.Exit
