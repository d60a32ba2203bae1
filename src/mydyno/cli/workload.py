"""`mydyno workload`: the built-in workloads and those of files, shown and checked."""

import textwrap
from pathlib import Path
from typing import Annotated

from mydyno.cli import completion, options, screen, workload_kinds
from mydyno.cli.application import Application
from mydyno.cli.declare import argument, option
from mydyno.cli.shown import width
from mydyno.core.errors import UsageError

_Set = Annotated[
    list[str] | None,
    option("--set NAME=VALUE", "An option of the workload, as table_size=20k. Can be repeated."),
]
_Name = Annotated[
    str,
    argument(
        "NAME|FILE",
        "A workload's name, or the path of a workload file or a .smack script.",
        autocompletion=completion.workloads,
    ),
]

commands = Application(
    name="workload",
    help="""List, show and check workloads; docs/reference/workloads.md teaches how to write one.

```text
mydyno workload list
mydyno workload show oltp-read-write --set tables=4
mydyno workload check shop.yaml --set rows=1M
```
""",
)


@commands.command("list")
def list_workloads(as_json: options.AsJson = False) -> None:
    """List the workloads: the built-in files, and those of other programs.

    ```text
    mydyno workload list
    ```
    """
    from mydyno.lab import workload

    about = {name: workload.read(name).about for name in workload.builtin_names()}
    about |= workload_kinds.PROGRAMS
    if as_json:
        screen.echo_json(about)
        return
    for name, text in about.items():
        screen.echo(textwrap.fill(text, width(), initial_indent=f"{name:<24}", subsequent_indent=" " * 24))
    screen.echo("\nThe path of a workload file or of a .smack script of super-smack is also a workload.")


@commands.command()
def show(
    name: _Name,
    chosen: _Set = None,
    program: bool = option("--program", "Print the JSON for the load engine.", default=False),
    text: bool = option("--text", "Print the file itself.", default=False),
) -> None:
    """Show a workload: its options, its tables, and what an event sends.

    ```text
    mydyno workload show oltp-read-write
    mydyno workload show oltp04 --set mode=nontrx --set nontrx=delete
    mydyno workload show smack --program | jq .transactions
    mydyno workload show oltp-read-only --text > mine.yaml
    mydyno workload show slap --set load_type=write
    mydyno workload show select-key.smack
    ```
    """
    from mydyno.lab import workload
    from mydyno.lab.workload.file import options_from
    from mydyno.lab.workload.reference import describe

    if name in workload_kinds.PROGRAMS or workload_kinds.is_script(name):
        _show_other(name, chosen or [], program=program, text=text)
        return
    read = workload.read(name)
    if text:
        screen.echo_data(read.text)
        return
    resolved = read.resolve(options_from(read, chosen or ()))
    if program:
        screen.echo_json(resolved.program)
    else:
        screen.echo(describe(read, resolved, width()))


def _show_other(name: str, chosen: list[str], *, program: bool, text: bool) -> None:
    """A script of super-smack, or the workload of another program."""
    is_script = workload_kinds.is_script(name)
    if program or (text and not is_script) or (chosen and is_script):
        raise UsageError(
            f"{name} is {'a script of super-smack' if is_script else 'not a file'}",
            "--set is for workloads with options, --program for workload files, --text for files",
        )
    if text:
        screen.echo_data(Path(name).read_text("utf-8"))
    elif is_script:
        screen.echo(workload_kinds.describe_script(Path(name), width()))
    else:
        screen.echo(workload_kinds.describe_program(name, chosen, width()))


@commands.command()
def check(name: _Name, chosen: _Set = None) -> None:
    """Check a workload file or a .smack script: every problem with its line.

    ```text
    mydyno workload check shop.yaml
    mydyno workload check shop.yaml --set rows=1M --set distribution=uniform
    mydyno workload check select-key.smack
    ```
    """
    from mydyno.lab import workload
    from mydyno.lab.workload.file import options_from
    from mydyno.lab.workload.reference import summary

    if workload_kinds.is_script(name):
        for defect in workload_kinds.check_script(Path(name)):
            screen.echo(defect)
        screen.echo(f"{name}: no problem found")
        return
    read = workload.read(name)
    resolved = read.resolve(options_from(read, chosen or ()))
    screen.echo(f"{name}: no problem found\n\n{summary(resolved, width())}")
