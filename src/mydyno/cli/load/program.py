"""`mydyno load NAME` and `mydyno load FILE.yaml`: a workload that is data."""

from collections.abc import Callable
from typing import Any

from mydyno.cli import screen
from mydyno.cli.load import driving, parameters, result, shape
from mydyno.cli.shown import width
from mydyno.core.errors import UsageError
from mydyno.lab.trial.job import load_of
from mydyno.lab.trial.validity import missed_rate
from mydyno.lab.workload import WorkloadFile
from mydyno.lab.workload.statement_trust import reaching_statements, refuse_reaching

PREPARE = ("none", "create", "if-missing")
_OF_SYSBENCH = tuple(
    parameters.option(name, str | None, None, "", parameters.WORKLOAD, hidden=True)
    for name in ("db_driver", "db_ps_mode")
)
_PREPARED = {"auto": True, "disable": False}
"""--db-ps-mode of sysbench."""


def command(generator: str, workload: WorkloadFile, path: str | None = None) -> Callable[..., None]:
    """The command of a workload file. `generator` is its key in an experiment, `path` where it lies."""
    of_workload = parameters.of_section(workload.options)

    def run(values: dict[str, Any]) -> None:
        _take_options_of_sysbench(values)
        options = parameters.given_options((one.name for one in of_workload), values)
        given = options if path is None else {"path": path, "options": options}
        load(workload.name, generator, given, values)

    return parameters.make_command(
        (
            *parameters.of_load(),
            parameters.PERCENTILE,
            *of_workload,
            *_OF_SYSBENCH,
            *(() if path is None else (parameters.TRUST,)),
            parameters.AS_JSON,
        ),
        run,
        f"{workload.about}\n\n```text\n"
        f"mydyno load {path or workload.name} \\\n    --socket /run/mysqld/mysqld.sock --connections 64\n"
        "```\n",
    )


def _take_options_of_sysbench(values: dict[str, Any]) -> None:
    driver, mode = values["db_driver"], values["db_ps_mode"]
    if driver not in (None, "mysql"):
        raise UsageError(f"--db-driver {driver}: mydyno loads MySQL and MariaDB", "leave the option out")
    if mode is not None and "prepared" in values:
        if mode not in _PREPARED:
            raise UsageError(f"--db-ps-mode {mode} is not known", f"one of {', '.join(_PREPARED)}")
        values["prepared"] = _PREPARED[mode]


def load(name: str, generator: str, options: dict[str, Any], values: dict[str, Any]) -> None:
    """Run the load of the command line, and print its figures."""
    if values["prepare"] not in PREPARE:
        raise UsageError(f"--prepare {values['prepare']} is not known", f"one of {', '.join(PREPARE)}")
    target = driving.target_of(values)
    percentile = float(values.get("percentile") or 95)
    workload = shape.workload(generator, options, values)
    if generator == "file" and not values["trust"] and workload.resolved is not None:
        refuse_reaching(name, reaching_statements(workload.resolved.program))
    collected = driving.drive(
        workload,
        target,
        seed=values["seed"],
        prepare=values["prepare"],
        drop_existing=values["drop_existing"],
        quiet=values["as_json"],
        report_every_s=values["report_interval"],
        percentile=percentile,
    )
    figures = result.figures(name, collected, percentile)
    if values["as_json"]:
        screen.echo_json(figures)
    else:
        screen.echo(result.as_text(figures, target.address, width()))
    missed = (missed_rate(phase, load_of(workload, phase)) for phase in collected.phases)
    for warning in (*driving.warnings(collected), *filter(None, missed)):
        screen.echo(f"warning: {warning}", err=True)
    driving.raise_if_failed(collected)
