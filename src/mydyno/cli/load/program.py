"""`mydyno load NAME` and `mydyno load FILE.yaml`: a workload that is data."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from mydyno.cli import screen
from mydyno.cli.load import driving, parameters, result, server, shape
from mydyno.core.errors import UsageError
from mydyno.lab.workload import WorkloadFile
from mydyno.lab.workload.statement_trust import reaching_statements, refuse_reaching

PREPARE = ("none", "create", "if-missing")


def command(generator: str, workload: WorkloadFile, path: str | None = None) -> Callable[..., None]:
    """The command of a workload file. `generator` is its key in an experiment, `path` where it lies."""
    of_workload = parameters.of_section(workload.options)

    def run(values: dict[str, Any]) -> None:
        options = parameters.given_options((one.name for one in of_workload), values)
        given = options if path is None else {"path": path, "options": options}
        load(workload.name, generator, given, values)

    return parameters.make_command(
        (
            *parameters.OF_SERVER,
            *parameters.OF_SHAPE,
            parameters.SEED,
            parameters.ANSWER_WITHIN,
            parameters.REPORT_INTERVAL,
            parameters.PREPARE,
            parameters.DROP_EXISTING,
            *of_workload,
            *(() if path is None else (parameters.TRUST,)),
            parameters.AS_JSON,
        ),
        run,
        f"{workload.about}\n\n```text\n"
        f"mydyno load {path or workload.name} --socket /run/mysqld/mysqld.sock --connections 64\n"
        "```\n",
    )


def load(name: str, generator: str, options: dict[str, Any], values: dict[str, Any]) -> None:
    """Carry out the load that the values of the command line ask for, and print what it did."""
    if values["prepare"] not in PREPARE:
        raise UsageError(f"--prepare {values['prepare']} is not known", f"use one of {', '.join(PREPARE)}")
    target = server.target(values)
    workload = shape.workload(generator, options, values)
    if generator == "file" and not values["trust"] and workload.resolved is not None:
        refuse_reaching(name, reaching_statements(workload.resolved.program))
    heard = driving.drive(
        workload,
        target,
        seed=values["seed"],
        prepare=values["prepare"],
        drop_existing=values["drop_existing"],
        quiet=values["as_json"],
        report_every_s=values["report_interval"],
    )
    figures = result.figures(name, heard)
    if values["as_json"]:
        screen.echo_json(json.dumps(figures, indent=2))
    else:
        screen.echo(result.as_text(figures, target.address))
    for warning in driving.warnings(heard):
        screen.echo(f"warning: {warning}", err=True)
    driving.raise_if_failed(heard)
