"""`mydyno workload`: the built-in workloads and those of files, shown and checked."""

from __future__ import annotations

import json
import textwrap
from typing import Annotated

import typer

from mydyno.cli import completion, options, screen

_Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="An option of the workload, as table_size=20k; may be given several times.",
        metavar="NAME=VALUE",
        show_default=False,
    ),
]
_Name = Annotated[
    str,
    typer.Argument(
        help="A built-in workload's name, or the path of a file.",
        metavar="NAME|FILE",
        show_default=False,
        autocompletion=completion.workloads,
    ),
]

commands = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""Show and check workloads; docs/reference/workloads.md teaches how to write one.

```text
mydyno workload list
mydyno workload show oltp-read-write --set tables=4
mydyno workload check shop.yaml --set rows=1M
```
""",
)


@commands.command("list")
def list_workloads(as_json: options.AsJson = False) -> None:
    """List the built-in workloads.

    ```text
    mydyno workload list
    ```
    """
    from mydyno.lab import workload

    about = {name: workload.read(name).about for name in workload.builtin_names()}
    if as_json:
        screen.echo_json(json.dumps(about, indent=2))
        return
    for name, text in about.items():
        screen.echo(textwrap.fill(text, 100, initial_indent=f"{name:<24}", subsequent_indent=" " * 24))


@commands.command()
def show(
    name: _Name,
    chosen: _Set = None,
    program: Annotated[
        bool, typer.Option("--program", help="Print the JSON that the load engine gets.")
    ] = False,
    text: Annotated[bool, typer.Option("--text", help="Print the file itself.")] = False,
) -> None:
    """Show a workload: its options, its tables, and what an event sends.

    ```text
    mydyno workload show oltp-read-write
    mydyno workload show oltp04 --set mode=nontrx --set nontrx=delete
    mydyno workload show smack --program | jq .transactions
    mydyno workload show oltp-read-only --text > mine.yaml
    ```
    """
    from mydyno.lab import workload
    from mydyno.lab.workload.assignments import options_from
    from mydyno.lab.workload.describe import describe

    read = workload.read(name)
    if text:
        screen.echo_data(read.text)
        return
    resolved = read.resolve(options_from(read, chosen or ()))
    if program:
        screen.echo_json(json.dumps(resolved.program, indent=2))
    else:
        screen.echo(describe(read, resolved))


@commands.command()
def check(name: _Name, chosen: _Set = None) -> None:
    """Check a workload file: every problem with its line, or what an event sends.

    ```text
    mydyno workload check shop.yaml
    mydyno workload check shop.yaml --set rows=1M --set distribution=uniform
    ```
    """
    from mydyno.lab import workload
    from mydyno.lab.workload.assignments import options_from
    from mydyno.lab.workload.describe import summary

    read = workload.read(name)
    resolved = read.resolve(options_from(read, chosen or ()))
    screen.echo(f"{name}: nothing is wrong with it\n\n{summary(resolved)}")


def add_to(app: typer.Typer) -> None:
    app.add_typer(commands, name="workload")
