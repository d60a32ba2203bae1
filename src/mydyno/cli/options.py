"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

from mydyno.cli import completion, experiment_files
from mydyno.cli.declare import argument, option
from mydyno.core import environment

Lab = Annotated[
    Path,
    option(
        "--lab",
        "The folder that holds results.",
        envvar=environment.LAB.name,
        file_okay=False,
        # It goes to guests, servers and programs that run in other folders.
        resolve_path=True,
        show_default=True,
    ),
]
DEFAULT_LAB = Path("lab")

ExperimentFile = Annotated[
    Path,
    argument(
        "FILE",
        "The experiment file (YAML), or the name of one that comes with mydyno, as thread-cache.",
        callback=experiment_files.find,
        autocompletion=completion.experiment_files,
    ),
]
AdviceFile = Annotated[Path, argument("ADVICE", "What `mydyno advise` wrote.")]
Size = Annotated[
    str | None,
    option("--size", "Which of the file's `sizes` to use, such as toy or demo.", show_default="none"),
]
Hosts = Annotated[
    Path | None,
    option(
        "--hosts FILE",
        "The other machines that `host: ssh`, `ssh:NAME` and `load.hosts` mean (docs/reference/hosts.md).",
    ),
]
Launcher = Annotated[
    str | None,
    option(
        "--launcher",
        "`slurm`: `host: ssh` means the nodes of --partition instead of machines of --hosts.",
        show_default="ssh, with --hosts",
    ),
]
Partition = Annotated[str | None, option("--partition NAME", "With --launcher slurm: the partition.")]
WIDTH = 110
"""Characters of a line of a summary."""


RunName = Annotated[
    str | None,
    argument(
        "NAME",
        "An experiment's or a run's name.",
        show_default="the newest run",
        autocompletion=completion.runs,
    ),
]
AsJson = Annotated[bool, option("--json", "Print JSON, for programs.")]
JsonFile = Annotated[
    Path | None, option("--out", "With --json: the file to write.", show_default="standard output")
]
Trust = Annotated[
    bool, option("--trust", "Trust an experiment file or a lab from another user (docs/reference/trust.md).")
]
Yes = Annotated[bool, option("--yes -y", "Do not ask for confirmation.")]
