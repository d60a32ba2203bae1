"""The options of `mydyno prove`: the load, and what is measured, where and how often."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, get_args

import typer

from mydyno.cli.quantities import Duration, Percent, duration, percentage
from mydyno.prove.place import Place

_EXPERIMENT, _LOAD = "Experiment", "Load"
_WARMUP, _MEASURE, _WITHIN = Duration(5), Duration(20), Duration(600)


@dataclass(frozen=True)
class LoadOptions:
    """The load of the experiment."""

    workload: Annotated[
        str | None,
        typer.Option(
            "--workload",
            help="A workload (`mydyno workload list`), or a workload file.",
            rich_help_panel=_LOAD,
            show_default="oltp-read-only, -read-write or -write-only, by the advised server's statements",
        ),
    ] = None
    connections: Annotated[
        str | None,
        typer.Option(
            "--connections",
            help="Numbers of connections, as 1,8,32.",
            rich_help_panel=_LOAD,
            show_default="as many as ran statements on the advised server; else 8",
        ),
    ] = None
    warmup: Annotated[
        Duration, duration("--warmup", help="Load before measuring.", rich_help_panel=_LOAD)
    ] = _WARMUP
    measure: Annotated[
        Duration,
        duration("--measure", help="How long each number is measured.", rich_help_panel=_LOAD),
    ] = _MEASURE
    chosen: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="An option of the workload, as tables=4. Can be repeated.",
            rich_help_panel=_LOAD,
            show_default=False,
        ),
    ] = None
    rows: Annotated[
        str | None,
        typer.Option(
            "--rows",
            help="Rows of each table (or warehouses), as 100k.",
            rich_help_panel=_LOAD,
            show_default="as many as make the advised server's data",
        ),
    ] = None
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="SIZE",
            help="Size of the tables, as 2G, instead of --rows.",
            rich_help_panel=_LOAD,
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True)
class ExperimentOptions:
    """What is measured, where, and how often."""

    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="RULES",
            help="Only these findings: names of rules, separated by commas.",
            rich_help_panel=_EXPERIMENT,
            show_default="all",
        ),
    ] = None
    repeats: Annotated[
        int, typer.Option("--repeats", help="Trials of each level.", min=1, rich_help_panel=_EXPERIMENT)
    ] = 5
    until: Annotated[
        Percent | None,
        percentage(
            "--until",
            least=0.001,
            most=0.5,
            help="Instead of --repeats: repeat until the 95% interval of every finding is ± this.",
            rich_help_panel=_EXPERIMENT,
            show_default=False,
        ),
    ] = None
    within: Annotated[
        Duration,
        duration(
            "--within",
            least=1,
            help="Time for all runs. All changes together are measured first, then each finding alone as the"
            " time allows.",
            rich_help_panel=_EXPERIMENT,
        ),
    ] = _WITHIN
    on: Annotated[
        Place,
        typer.Option(
            "--on",
            help="sandbox: a private server here. vm, uml: one in a guest with separate disks, for mounts, "
            "queues and file systems. server: the advised server itself, under load meanwhile.",
            metavar="|".join(get_args(Place)),
            rich_help_panel=_EXPERIMENT,
        ),
    ] = "sandbox"
    release: Annotated[
        str | None,
        typer.Option(
            "--release",
            help="The private server's release (`mydyno servers list`).",
            rich_help_panel=_EXPERIMENT,
            show_default="the advised server's, where available; else this machine's",
        ),
    ] = None
    facts: Annotated[
        Path | None,
        typer.Option(
            "--facts",
            help="The facts of the advice (`mydyno facts`): size of the data, other settings, disks.",
            rich_help_panel=_EXPERIMENT,
            show_default="those in the advice",
        ),
    ] = None
