"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mydyno.cli import completion, experiment_files
from mydyno.core import environment
from mydyno.core.errors import UsageError
from mydyno.core.units import parse_share

Lab = Annotated[
    Path,
    typer.Option(
        "--lab",
        envvar=environment.LAB.name,
        help="The folder that holds results.",
        file_okay=False,
        # Once and for all: it goes to guests, servers and programs that run in other folders.
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
Size = Annotated[
    str | None,
    typer.Option(
        "--size", help="Which of the file's `sizes` to lay over it, such as toy or demo.", show_default="none"
    ),
]
WIDTH = 110
"""Characters of a line of a summary."""


def share(text: str, option: str) -> float:
    """The share that `3%` or `0.03` means. Raises UsageError naming the option."""
    try:
        found = parse_share(text)
    except ValueError as error:
        raise UsageError(f"{option} {text}: {error}") from error
    if found >= 1:
        raise UsageError(f"{option} {text}: not a share below 100%", f"as {option} 3%")
    return found


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
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Use an experiment file or a lab that somebody else wrote as if it were yours"
        " (docs/reference/trust.md).",
    ),
]

SSL_HELP = {
    "ssl_mode": "DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY, as with the MySQL clients"
    " [default: PREFERRED, with --ssl-ca VERIFY_CA].",
    "ssl_ca": "Authority (PEM) that has signed the server's certificate.",
    "ssl_cert": "The account's own certificate (PEM).",
    "ssl_key": "Key of --ssl-cert (PEM, without a passphrase).",
    "server_public_key": "The server's RSA key (PEM), for passwords over TCP without TLS.",
}
"""Options of a login by their keywords: how connections are protected."""
