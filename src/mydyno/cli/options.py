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
        "--size", help="Which of the file's `sizes` to lay over it, such as toy or demo.", show_default="none"
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
