"""`mydyno load smack FILE.smack CLIENTS ROUNDS`, and the stock scenarios as a workload without a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from mydyno.cli import outputs, screen
from mydyno.cli.load import parameters, program, server
from mydyno.core.errors import ExitCode, UsageError
from mydyno.core.secrets import Secret
from mydyno.lab.load.smack import Overrides, Settings, complain, figures, run
from mydyno.lab.workload import read
from mydyno.server.access import credentials

_HELP = """super-smack's `.smack` files, unchanged, or without a file its two stock scenarios.

With a file, the arguments after it are its $1, $2 and so on: in the stock files the clients and their rounds.
Server, account and schema are the file's own unless options say otherwise. Each known trap of super-smack
that the file meets is told by name; it is corrected, or imitated with --strict-compat. Without a file it is
a workload as the others are: --connections, --seconds and the options of the scenario.

```text
mydyno load smack select-key.smack 10 100 --socket /run/mysqld/mysqld.sock --user root
mydyno load smack --scenario update-select --socket /run/mysqld/mysqld.sock --connections 10..400 step 10
```
"""
_FILE = (
    parameters.Parameter(
        "file",
        Annotated[
            Path | None, typer.Argument(metavar="[FILE.smack]", help="The script.", show_default=False)
        ],
    ),
    parameters.Parameter(
        "arguments",
        Annotated[
            list[str] | None,
            typer.Argument(metavar="[ARGUMENT]...", help="What $1, $2... stand for.", show_default=False),
        ],
    ),
)
_OF_FILE = (
    parameters.option(
        "datadir",
        Path | None,
        None,
        "With a file: where its data files are [default: its own folder].",
        parameters.TABLES,
    ),
    parameters.option(
        "strict_compat",
        bool,
        False,
        "With a file: imitate super-smack's defects.",
        parameters.LOAD,
        "--strict-compat",
    ),
    parameters.option(
        "allow_commands",
        bool,
        False,
        "With a file: run the shell commands that it names to make data files.",
        parameters.TABLES,
        "--allow-commands",
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

    shared = [one for one in parameters.OF_SERVER if one.name != "database"]
    database = parameters.option(
        "database", str | None, None, "Schema [default: the file's, or mydyno].", parameters.SERVER
    )
    return parameters.make_command(
        (
            *_FILE,
            *shared,
            database,
            *parameters.OF_SHAPE,
            parameters.SEED,
            parameters.ANSWER_WITHIN,
            parameters.REPORT_INTERVAL,
            parameters.PREPARE,
            parameters.DROP_EXISTING,
            *_OF_FILE,
            *of_workload,
            parameters.Parameter("force", outputs.Force, False),
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
        allow_commands=values["allow_commands"],
        trust=values["trust"],
        force=values["force"],
    )
    result = run(values["file"], values["arguments"] or [], settings, emit)
    if quiet:
        screen.echo_json(json.dumps(figures(result), indent=2))
    if result.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    complain(result)


def _overrides(values: dict[str, Any]) -> Overrides:
    """What the command line says in the file's place."""
    if values["socket"] and (values["host"] or values["port"]):
        raise UsageError("--socket and --host exclude each other", "give one of them")
    defaults_file = values["defaults_file"]
    file = credentials.read_option_file(defaults_file) if defaults_file else credentials.ClientOptions()
    named = any(values[name] for name in ("socket", "host", "port"))
    user = values["user"] or file.user
    return Overrides(
        socket=values["socket"] and values["socket"].expanduser().absolute() if named else file.socket,
        host=values["host"] if named or file.socket else file.host,
        port=values["port"] if named or file.socket else file.port,
        user=user,
        password=server.password(values, file, user or "root") if _has_password(values, file) else None,
        database=values["database"],
    )


def _has_password(values: dict[str, Any], file: credentials.ClientOptions) -> bool:
    return bool(values["password_file"] or values["ask_password"] or isinstance(file.password, Secret))
