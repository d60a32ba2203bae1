"""The options of `mydyno prove`: the load, and what is measured, where and how often."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, get_args

from mydyno.cli import completion
from mydyno.cli.declare import option
from mydyno.cli.quantities import Duration, Percent, duration, percentage
from mydyno.prove.place import Place

_WARMUP, _MEASURE, _WITHIN = Duration(5), Duration(20), Duration(600)


@dataclass(frozen=True)
class LoadOptions:
    """The load of the experiment."""

    panel: ClassVar = "Load"

    workload: Annotated[
        str | None,
        option(
            "--workload",
            "A workload (`mydyno workload list`), or a workload file.",
            show_default="oltp-read-only, -read-write or -write-only, by the advised server's statements",
        ),
    ] = None
    connections: Annotated[
        str | None,
        option(
            "--connections",
            "Numbers of connections, as 1,8,32.",
            show_default="as many as ran statements on the advised server; else 8",
        ),
    ] = None
    warmup: Annotated[Duration, duration("--warmup", "Load before measuring.")] = _WARMUP
    measure: Annotated[Duration, duration("--measure", "How long each number is measured.")] = _MEASURE
    chosen: Annotated[
        list[str] | None,
        option("--set NAME=VALUE", "An option of the workload, as tables=4. Can be repeated."),
    ] = None
    rows: Annotated[
        str | None,
        option(
            "--rows",
            "Rows of each table (or warehouses), as 100k.",
            show_default="as many as make the advised server's data",
        ),
    ] = None
    data: Annotated[str | None, option("--data SIZE", "Size of the tables, as 2G, instead of --rows.")] = None


@dataclass(frozen=True)
class ExperimentOptions:
    """What is measured, where, and how often."""

    panel: ClassVar = "Experiment"

    only: Annotated[
        str | None,
        option(
            "--only RULES",
            "Only these findings: names of rules, separated by commas.",
            autocompletion=completion.rules,
            show_default="all",
        ),
    ] = None
    repeats: Annotated[int, option("--repeats", "Trials of each level.", min=1)] = 5
    until: Annotated[
        Percent | None,
        percentage(
            "--until",
            "Instead of --repeats: repeat until the 95% interval of every finding is ± this.",
            least=0.001,
            most=0.5,
        ),
    ] = None
    within: Annotated[
        Duration,
        duration(
            "--within",
            "Time for all runs. All changes together are measured first, then each finding alone as the time "
            "allows.",
            least=1,
        ),
    ] = _WITHIN
    on: Annotated[
        Place,
        option(
            f"--on {'|'.join(get_args(Place))}",
            "sandbox: a private server here. vm, uml: one in a guest with separate disks, for mounts, queues "
            "and file systems. server: the advised server itself, under load meanwhile.",
        ),
    ] = "sandbox"
    database: Annotated[str, option("--database", "With --on server: schema for the tables.")] = "mydyno"
    release: Annotated[
        str | None,
        option(
            "--release",
            "The private server's release (`mydyno servers list`).",
            autocompletion=completion.releases,
            show_default="the advised server's, where available; else this machine's",
        ),
    ] = None
    facts: Annotated[
        Path | None,
        option(
            "--facts",
            "The facts of the advice (`mydyno facts`): size of the data, other settings, disks.",
            show_default="those in the advice",
        ),
    ] = None
