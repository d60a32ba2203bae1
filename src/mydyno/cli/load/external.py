"""`mydyno load sysbench` and `mydyno load mysqlslap`: the real programs, where they are installed."""

from collections.abc import Callable
from typing import Annotated, Any

from mydyno.cli.declare import option
from mydyno.cli.load import parameters, program
from mydyno.cli.load.parameters import WORKLOAD
from mydyno.cli.quantities import Duration
from mydyno.core.errors import UsageError
from mydyno.lab.workload.external_program import ExternalSlap, ExternalSysbench

_SECTIONS: dict[str, tuple[type[ExternalSysbench | ExternalSlap], str, str]] = {
    "sysbench": (
        ExternalSysbench,
        "The real sysbench, as installed, to compare its figures with those of the engine's workloads.",
        "--script oltp_read_only --tables 4",
    ),
    "mysqlslap": (
        ExternalSlap,
        "The real mysqlslap or mariadb-slap, as installed. `slap` runs the same load by the engine.",
        "--load-type write --events 10000",
    ),
}
_PASSED = parameters.Parameter(
    "option",
    Annotated[
        list[str] | None,
        option(
            "--option NAME=VALUE",
            "An option of the program itself, without the dashes; can be repeated.",
            rich_help_panel=WORKLOAD,
        ),
    ],
)
_SHAPE = tuple(one for one in parameters.OF_SHAPE if one.name not in ("active", "think", "ramp"))


def command(name: str) -> Callable[..., None]:
    section, about, example = _SECTIONS[name]
    of_section = parameters.of_section(section, "options", "database")

    def run(values: dict[str, Any]) -> None:
        options = parameters.given_options((one.name for one in of_section), values)
        if values["option"]:
            options["options"] = dict(_pair(text) for text in values["option"])
        program.load(name, name, options, {**values, "active": None, "think": None, "ramp": Duration(0)})

    return parameters.make_command(
        (*parameters.of_load(shape=_SHAPE), *of_section, _PASSED, parameters.AS_JSON),
        run,
        f"{about}\n\n```text\nmydyno load {name} --socket /run/mysqld/mysqld.sock \\\n    {example}\n```\n",
    )


def _pair(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--option {text} has no value", "NAME=VALUE, as skip_trx=true")
    return name, {"true": True, "false": False}.get(value, parameters.plain(value))
