"""`mydyno load smack FILE.smack CLIENTS ROUNDS`, and the stock scenarios as a workload without a file."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from mydyno.cli import screen
from mydyno.cli.declare import argument
from mydyno.cli.load import parameters, program
from mydyno.cli.load.parameters import LOAD, TABLES
from mydyno.cli.login_options import LoadLogin
from mydyno.core.errors import ExitCode
from mydyno.core.secrets import Secret
from mydyno.lab.load.smack import Overrides, Settings, complain, figures, run
from mydyno.lab.workload import read

_HELP = """super-smack's `.smack` files, unchanged, or without a file its two stock scenarios.

With a file, the arguments after it are its $1, $2 and so on: in the stock files the clients and their
rounds. Server, account and schema are the file's own unless options say otherwise. Each known trap of
super-smack that the file meets is reported by name; it is corrected, or imitated with --strict-compat.
Without a file it is a workload as the others are: --connections, --seconds and the options of the scenario.

```text
mydyno load smack select-key.smack 10 100 --socket /run/mysqld/mysqld.sock
mydyno load smack --scenario update-select \\
    --socket /run/mysqld/mysqld.sock --connections '10..400 step 10'
```
"""
_FILE = (
    parameters.Parameter("file", Annotated[Path | None, argument("[FILE.smack]", "The script.")]),
    parameters.Parameter(
        "arguments", Annotated[list[str] | None, argument("[ARGUMENT]...", "What $1, $2... stand for.")]
    ),
)
_OF_FILE = (
    parameters.option(
        "datadir",
        Path | None,
        None,
        "With a file: where its data files are [default: its own folder].",
        TABLES,
    ),
    parameters.option("strict_compat", bool, False, "With a file: imitate super-smack's defects.", LOAD),
    parameters.option(
        "allow_commands",
        bool,
        False,
        "With a file: run the shell commands that it names to make data files.",
        TABLES,
    ),
)


def command() -> Callable[..., None]:
    scenarios = read("smack")
    of_workload = parameters.of_section(scenarios.options)

    def start(values: dict[str, Any]) -> None:
        if values["file"] is None:
            options = parameters.given_options((one.name for one in of_workload), values)
            program.load("smack", "smack", options, {**values, "database": values["database"] or "mydyno"})
        else:
            _run_file(values)

    database = parameters.option(
        "database", str | None, None, "Schema [default: the file's, or mydyno].", LoadLogin.panel
    )
    return parameters.make_command(
        (
            *_FILE,
            *parameters.of_load(database),
            parameters.PERCENTILE,
            *_OF_FILE,
            *of_workload,
            parameters.FORCE,
            parameters.TRUST,
            parameters.AS_JSON,
        ),
        start,
        _HELP,
    )


def _run_file(values: dict[str, Any]) -> None:
    quiet = values["as_json"]

    def emit(kind: str, text: str) -> None:
        if kind == "note":
            screen.echo(text, err=True)
        elif not quiet:
            screen.echo(text, nl=not text.endswith("\n"))

    settings = Settings(
        overrides=_overrides(values),
        datadir=values["datadir"],
        seed=values["seed"],
        strict=values["strict_compat"],
        drop_existing=values["drop_existing"],
        query_timeout_s=float(values["query_timeout"]),
        allow_commands=values["allow_commands"],
        trust=values["trust"],
        force=values["force"],
    )
    result = run(values["file"], values["arguments"] or [], settings, emit)
    if quiet:
        screen.echo_json(figures(result))
    if result.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    complain(result)


def _overrides(values: dict[str, Any]) -> Overrides:
    """What the command line and the option file say in the script's place."""
    login = LoadLogin.of(values)
    address, file = login.address, login.option_file
    user = login.user or address.user or file.user
    has_password = login.password_file or login.ask_password or isinstance(file.password, Secret)
    return Overrides(
        socket=address.socket and address.socket.expanduser().absolute(),
        host=address.host,
        port=address.port,
        user=user,
        password=login.password(user or "root") if has_password else None,
        database=values["database"],
        transport=login.transport(),
    )
