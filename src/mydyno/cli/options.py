"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
    Path, typer.Argument(help="The experiment file (YAML).", metavar="FILE", show_default=False)
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
    typer.Argument(help="An experiment's or a run's name.", metavar="[NAME]", show_default="the newest run"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Trust an experiment file or a lab that somebody else wrote (docs/reference/trust.md).",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
