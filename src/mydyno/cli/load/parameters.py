"""Options that the commands of `mydyno load` share, and commands put together from lists of options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from mydyno.cli import options
from mydyno.cli.load import spellings
from mydyno.cli.options import SSL_HELP
from mydyno.core.document.base import Section

SERVER, LOAD, TABLES, WORKLOAD = "Server", "Load", "Tables", "Workload"


@dataclass(frozen=True)
class Parameter:
    """One option or argument: its keyword in the function, its type with typer's own description, default."""

    name: str
    annotation: Any
    default: Any = None


def option(name: str, kind: Any, default: Any, text: str, panel: str, *flags: str, **more: Any) -> Parameter:
    """An option with its type, default and help, under a heading of the help."""
    own = flags or (f"--{name.replace('_', '-')}",)
    declared = typer.Option(*own, *spellings.flags(name), help=text, rich_help_panel=panel, **more)
    return Parameter(name, Annotated[kind, declared], default)


OF_SERVER = (
    option("socket", Path | None, None, "Unix socket of the server.", SERVER),
    option("host", str | None, None, "Host of the server.", SERVER),
    option("port", int | None, None, "Port of the server [default: 3306].", SERVER),
    option("user", str | None, None, "Account [default: root].", SERVER),
    option("defaults_file", Path | None, None, "Client option file with socket, user and password.", SERVER),
    option("password_file", Path | None, None, "File whose first line is the password.", SERVER),
    option("ask_password", bool, False, "Ask for the password.", SERVER, "--ask-password"),
    option("ssl_mode", str | None, None, SSL_HELP["ssl_mode"], SERVER, metavar="MODE"),
    *(option(name, Path | None, None, text, SERVER) for name, text in SSL_HELP.items() if name != "ssl_mode"),
    option("database", str, "mydyno", "Schema to work in; nothing is written outside it.", SERVER),
)

OF_SHAPE = (
    option(
        "connections",
        str,
        "8",
        "Connections to hold; several numbers are phases one after the other: 1,8,64 or 10..400 step 10.",
        LOAD,
    ),
    option("seconds", float, 10.0, "How long to measure.", LOAD, min=0.1),
    option("warmup", float, 1.0, "Seconds of load before measuring.", LOAD, min=0.0),
    option("rounds", int | None, None, "Transactions of each connection, instead of a time.", LOAD, min=1),
    option("events", int | None, None, "Transactions in all, instead of a time.", LOAD, min=1),
    option(
        "rate",
        float | None,
        None,
        "Open loop: transactions a second over all connections, latency from the intended start.",
        LOAD,
        min=0.001,
    ),
    option("poisson", bool, False, "With --rate: Poisson arrivals.", LOAD, "--poisson"),
    option("active", int | None, None, "Only so many connections work; the others stay idle.", LOAD, min=1),
    option(
        "think",
        str | None,
        None,
        "Rest between two transactions of a connection: 10ms, exponential:10ms or uniform:10ms.",
        LOAD,
    ),
    option("ramp", float, 0.0, "Seconds over which the connections open and start.", LOAD, min=0.0),
    option("pause", float, 0.0, "Seconds of rest between two phases.", LOAD, min=0.0),
)

TRUST = Parameter("trust", options.Trust, False)
SEED = option("seed", int, 1, "Seed of the random numbers.", LOAD, min=0)
ANSWER_WITHIN = option(
    "answer_within", float, 60.0, "Seconds after which an unanswered statement is given up.", LOAD, min=0.1
)
REPORT_INTERVAL = option(
    "report_interval", float, 1.0, "Seconds from one line of progress to the next; 0: none.", LOAD, min=0.0
)
PREPARE = option(
    "prepare",
    str,
    "if-missing",
    "if-missing: make the tables that are not there; create: make them anew; none.",
    TABLES,
)
DROP_EXISTING = option(
    "drop_existing", bool, False, "Replace tables that mydyno did not make.", TABLES, "--drop-existing"
)
AS_JSON = Parameter(
    "as_json", Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")], False
)


def of_section(section: type[Section], *without: str, panel: str = WORKLOAD) -> tuple[Parameter, ...]:
    """An option for each key of a section. What it means and which values it takes, the section says."""
    return tuple(
        _of_field(name, field, panel) for name, field in section.model_fields.items() if name not in without
    )


def _of_field(name: str, field: FieldInfo, panel: str) -> Parameter:
    dashed = f"--{name.replace('_', '-')}"
    text = field.description or ""
    default = field.get_default(call_default_factory=True)
    if field.annotation is bool:
        shown = f"{text} [default: {str(default).lower()}]"
        return option(
            name, bool | None, None, shown, panel, f"{dashed}/--no-{dashed[2:]}", show_default=False
        )
    if default not in (None, "", [], {}):
        text = f"{text} [default: {default}]"
    return option(name, str | None, None, text, panel, dashed, metavar=_metavar(field), show_default=False)


def _metavar(field: FieldInfo) -> str:
    choices = [arg for part in (field.annotation, *get_args(field.annotation)) for arg in _choices(part)]
    if choices:
        return "|".join(map(str, choices))
    kinds = {field.annotation, *get_args(field.annotation)}
    return "NUMBER" if kinds & {int, float} else "TEXT"


def _choices(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def given_options(names: Iterable[str], values: dict[str, Any]) -> dict[str, Any]:
    """What was given of a section's options, as its keys; texts that are numbers become numbers."""
    return {name: plain(values[name]) for name in names if values[name] is not None}


def plain(value: Any) -> Any:
    """A text of the command line as the number that it is, if it is one."""
    if not isinstance(value, str):
        return value
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def make_command(
    parameters: Iterable[Parameter], run: Callable[[dict[str, Any]], None], text: str
) -> Callable[..., None]:
    """A function with these parameters for typer to read, which calls `run` with all their values."""

    def command(**values: Any) -> None:
        run(values)

    chosen = list(parameters)
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.annotation
            )
            for one in chosen
        ]
    )
    command.__annotations__ = {one.name: one.annotation for one in chosen}
    command.__doc__ = text
    return command
