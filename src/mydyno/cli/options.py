"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mydyno.cli import completion, experiment_files
from mydyno.core import environment

Lab = Annotated[
    Path,
    typer.Option(
        "--lab",
        envvar=environment.LAB.name,
        help="The folder that holds results.",
        file_okay=False,
        # It goes to guests, servers and programs that run in other folders.
        resolve_path=True,
        show_default=True,
    ),
]
DEFAULT_LAB = Path("lab")

ExperimentFile = Annotated[
    Path,
    typer.Argument(
        help="The experiment file (YAML), or the name of one that comes with mydyno, as thread-cache.",
        metavar="FILE",
        show_default=False,
        callback=experiment_files.find,
        autocompletion=completion.experiment_files,
    ),
]
AdviceFile = Annotated[
    Path, typer.Argument(help="What `mydyno advise` wrote.", metavar="ADVICE", show_default=False)
]
Size = Annotated[
    str | None,
    typer.Option(
        "--size", help="Which of the file's `sizes` to use, such as toy or demo.", show_default="none"
    ),
]
WIDTH = 110
"""Characters of a line of a summary."""


RunName = Annotated[
    str | None,
    typer.Argument(
        help="An experiment's or a run's name.",
        metavar="[NAME]",
        show_default="the newest run",
        autocompletion=completion.runs,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
JsonFile = Annotated[
    Path | None,
    typer.Option("--out", help="With --json: the file to write.", show_default="standard output"),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Trust an experiment file or a lab from another user (docs/reference/trust.md).",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
