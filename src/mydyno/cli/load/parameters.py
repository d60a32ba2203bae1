"""Options that the commands of `mydyno load` share, and commands put together from lists of options."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from mydyno.cli import declare, options, outputs
from mydyno.cli.declare import parameters_of
from mydyno.cli.login_options import LoadLogin
from mydyno.cli.quantities import Duration, duration
from mydyno.core.document.base import Section
from mydyno.core.document.quantities import DurationRule

LOAD, TABLES, WORKLOAD = "Load", "Tables", "Workload"


@dataclass(frozen=True)
class Parameter:
    """One option or argument: its keyword in the function, its type with typer's own description, default."""

    name: str
    annotation: Any
    default: Any = None

    def of_signature(self) -> inspect.Parameter:
        return declare.parameter_of(self.name, self.annotation, self.default)


def option(name: str, kind: Any, default: Any, text: str, panel: str, *flags: str, **more: Any) -> Parameter:
    """An option with its type, default and help, under a heading of the help."""
    declared = declare.option(" ".join(flags) or _flag(name), text, rich_help_panel=panel, **more)
    return Parameter(name, Annotated[kind, declared], default)


def duration_option(name: str, default: float | None, text: str, panel: str, least: float = 0.0) -> Parameter:
    """An option with a duration."""
    declared = duration(_flag(name), text, least, rich_help_panel=panel)
    kind: Any = Duration if default is not None else Duration | None
    return Parameter(name, Annotated[kind, declared], None if default is None else Duration(default))


def of_group(group: type) -> tuple[Parameter, ...]:
    """The options that the fields of a dataclass stand for."""
    return tuple(Parameter(one.name, one.annotation, one.default) for one in parameters_of(group))


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


LOGIN = of_group(LoadLogin)
DATABASE = option(
    "database", str, "mydyno", "Schema to work in; nothing is written outside it.", LoadLogin.panel
)

OF_SHAPE = (
    option(
        "connections",
        str,
        "8",
        "Connections; several numbers are phases one after the other: 1,8,64 or 10..400 step 10.",
        LOAD,
    ),
    duration_option("seconds", 10, "How long to measure.", LOAD, least=0.1),
    duration_option("warmup", 1, "Load before measuring.", LOAD),
    option(
        "rounds", int | None, None, "Transactions of each connection, instead of a duration.", LOAD, min=1
    ),
    option("events", int | None, None, "Transactions in total, instead of a duration.", LOAD, min=1),
    option(
        "rate",
        float | None,
        None,
        "Open loop: transactions per second over all connections, latency from the intended start.",
        LOAD,
        min=0.001,
    ),
    option("poisson", bool, False, "With --rate: Poisson arrivals.", LOAD),
    option("active", int | None, None, "Connections that work; the others stay idle.", LOAD, min=1),
    option(
        "think",
        str | None,
        None,
        "Pause between two transactions of a connection: 10ms, exponential:10ms or uniform:10ms.",
        LOAD,
    ),
    duration_option("ramp", 0, "Spread opening and starting the connections over this time.", LOAD),
    duration_option("pause", 0, "Pause between two phases.", LOAD),
)

TRUST = Parameter("trust", options.Trust, False)
SEED = option("seed", int, 1, "Seed of the random numbers.", LOAD, min=0)
QUERY_TIMEOUT = duration_option("query_timeout", 60, "Timeout of a statement.", LOAD, least=0.1)
REPORT_INTERVAL = duration_option("report_interval", 1, "Time between lines of progress; 0: none.", LOAD)
PERCENTILE = option(
    "percentile",
    float,
    95.0,
    "Percentile of the transactions' latency in the lines and in the result.",
    LOAD,
    min=0.1,
    max=100,
)
PREPARE = option(
    "prepare",
    str,
    "if-missing",
    "if-missing: make the tables that do not exist; create: make them again; none.",
    TABLES,
)
DROP_EXISTING = option("drop_existing", bool, False, "Replace tables that mydyno did not make.", TABLES)
AS_JSON = Parameter("as_json", options.AsJson, False)
FORCE = Parameter("force", outputs.Force, False)


def of_load(database: Parameter = DATABASE, shape: Iterable[Parameter] = OF_SHAPE) -> tuple[Parameter, ...]:
    """What every load takes that is driven in phases."""
    common = (SEED, QUERY_TIMEOUT, REPORT_INTERVAL, PREPARE, DROP_EXISTING)
    return (*LOGIN, database, *shape, *common)


def of_section(section: type[Section], *without: str, panel: str = WORKLOAD) -> tuple[Parameter, ...]:
    """An option for each key of a section. What it means and which values it takes, the section says."""
    return tuple(
        _of_field(name, field, panel) for name, field in section.model_fields.items() if name not in without
    )


def _of_field(name: str, field: FieldInfo, panel: str) -> Parameter:
    dashed = _flag(name)
    text = field.description or ""
    default = field.get_default(call_default_factory=True)
    if field.annotation is bool:
        shown = f"{text} [default: {str(default).lower()}]"
        return option(
            name, bool | None, None, shown, panel, f"{dashed}/--no-{dashed[2:]}", show_default=False
        )
    choices = [arg for part in (field.annotation, *get_args(field.annotation)) for arg in _choices(part)]
    if choices:
        text = f"{text} One of {', '.join(map(str, choices))}."
    if default not in (None, "", [], {}):
        text = f"{text} [default: {default}]"
    if any(isinstance(rule, DurationRule) for rule in field.metadata):
        return duration_option(name, None, text, panel)
    numeric = {field.annotation, *get_args(field.annotation)} & {int, float}
    metavar = "NUMBER" if numeric else "TEXT"
    return option(name, str | None, None, text, panel, dashed, metavar=metavar, show_default=False)


def _choices(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def given_options(names: Iterable[str], values: dict[str, Any]) -> dict[str, Any]:
    """What was given of a section's options, as its keys; texts that are numbers become numbers."""
    return {name: plain(values[name]) for name in names if values[name] is not None}


def plain(value: Any) -> Any:
    """A text of the command line as the number that it is, if it is one."""
    if not isinstance(value, str):
        return str(value) if isinstance(value, Duration) else value
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

    command.__doc__ = text
    return declare.with_parameters(command, map(Parameter.of_signature, parameters))
