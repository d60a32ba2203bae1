"""The options of `mydyno prove`: the load, and what is measured, where and how often."""

from pathlib import Path
from typing import ClassVar, get_args

from mydyno.cli import completion
from mydyno.cli.declare import option, option_group
from mydyno.cli.quantities import Duration, Percent, duration, percentage
from mydyno.prove.place import Place

_WARMUP, _MEASURE, _WITHIN = Duration(5), Duration(20), Duration(600)


@option_group
class LoadOptions:
    """The load of the experiment."""

    panel: ClassVar = "Load"

    workload: str | None = option(
        "--workload",
        "A workload (`mydyno workload list`), or a workload file.",
        show_default="oltp-read-only, -read-write or -write-only, by the advised server's statements",
    )
    connections: str | None = option(
        "--connections",
        "Numbers of connections, as 1,8,32.",
        show_default="as many as ran statements on the advised server; else 8",
    )
    warmup: Duration = duration("--warmup", "Load before measuring.", default=_WARMUP)
    measure: Duration = duration("--measure", "How long each number is measured.", default=_MEASURE)
    chosen: list[str] | None = option(
        "--set NAME=VALUE", "An option of the workload, as tables=4. Can be repeated."
    )
    rows: str | None = option(
        "--rows",
        "Rows of each table (or warehouses), as 100k.",
        show_default="as many as make the advised server's data",
    )
    data: str | None = option("--data SIZE", "Size of the tables, as 2G, instead of --rows.")


@option_group
class ExperimentOptions:
    """What is measured, where, and how often."""

    panel: ClassVar = "Experiment"

    only: str | None = option(
        "--only RULES",
        "Only these findings: names of rules, separated by commas.",
        autocompletion=completion.rules,
        show_default="all",
    )
    repeats: int = option("--repeats", "Trials of each level.", min=1, default=5)
    until: Percent | None = percentage(
        "--until",
        "Instead of --repeats: repeat until the 95% interval of every finding is ± this.",
        least=0.001,
        most=0.5,
    )
    within: Duration = duration(
        "--within",
        "Time for all runs. All changes together are measured first, then each finding alone as the time "
        "allows.",
        least=1,
        default=_WITHIN,
    )
    on: Place = option(
        f"--on {'|'.join(get_args(Place))}",
        "sandbox: a private server here. vm, uml: one in a guest with separate disks, for mounts, queues "
        "and file systems. server: the advised server itself, under load meanwhile.",
        default="sandbox",
    )
    database: str = option("--database", "With --on server: schema for the tables.", default="mydyno")
    release: str | None = option(
        "--release",
        "The private server's release (`mydyno servers list`).",
        autocompletion=completion.releases,
        show_default="the advised server's, where available; else this machine's",
    )
    facts: Path | None = option(
        "--facts",
        "The facts of the advice (`mydyno facts`): size of the data, other settings, disks.",
        show_default="those in the advice",
    )
