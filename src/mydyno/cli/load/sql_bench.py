"""`mydyno load sql-bench [GROUP...]`: the test programs of sql-bench and their RUN report."""

import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from mydyno.cli import outputs, screen
from mydyno.cli.declare import argument
from mydyno.cli.load import driving, parameters, result
from mydyno.cli.load.parameters import LOAD, option
from mydyno.core.document.given import validated
from mydyno.core.errors import UsageError
from mydyno.core.nearest import nearest, unknown
from mydyno.lab.load import sql_bench as report
from mydyno.lab.spec import Workload
from mydyno.lab.workload.sql_bench import GROUPS, SqlBench

_HELP = """sql-bench's test programs, one connection, one after the other, and their RUN report: for each
operation the tests as the original counts them and the statements really sent, client CPU and server CPU
apart.

Groups: {groups}. All of them without a name. Tables are made in the schema and dropped at the end.

```text
mydyno load sql-bench --socket /run/mysqld/mysqld.sock --small
mydyno load sql-bench insert select \\
    --socket /run/mysqld/mysqld.sock --create-options ENGINE=InnoDB
mydyno load sql-bench --socket /run/mysqld/mysqld.sock --out RUN-mariadb
```
"""
_GROUPS = parameters.Parameter(
    "groups", Annotated[list[str] | None, argument("[GROUP]...", "Test programs to run.")]
)
_OUT = option("out", Path | None, None, "Also write the report to this file.", LOAD)


def command() -> Callable[..., None]:
    of_section = parameters.of_section(SqlBench, "groups")

    def run(values: dict[str, Any]) -> None:
        options = parameters.given_options((one.name for one in of_section), values)
        if values["groups"]:
            options["groups"] = [_group(name) for name in values["groups"]]
        _load(options, values)

    return parameters.make_command(
        (
            _GROUPS,
            *parameters.LOGIN,
            parameters.DATABASE,
            parameters.SEED,
            parameters.QUERY_TIMEOUT,
            parameters.DROP_EXISTING,
            *of_section,
            _OUT,
            parameters.FORCE,
            parameters.AS_JSON,
        ),
        run,
        _HELP.format(groups=", ".join(GROUPS)),
    )


def _group(name: str) -> str:
    """The group of a name, in any case and without what is usually left out."""
    for group in GROUPS:
        if name.lower() in (group.lower(), group.lower().split("-")[0]):
            return group
    raise UsageError(unknown("group", name, nearest(name, GROUPS)), f"the groups are {', '.join(GROUPS)}")


def _load(options: dict[str, Any], values: dict[str, Any]) -> None:
    inputs = (values["defaults_file"], values["password_file"])
    allowed = outputs.Outputs(inputs, values["force"])
    output = allowed.file("--out", values["out"], outputs.SQL_BENCH_REPORT)
    target = driving.target_of(values)
    given = {"sql-bench": options, "answer_within": str(values["query_timeout"])}
    workload = validated(Workload, given, "command line")
    collected = driving.drive(
        workload,
        target,
        seed=values["seed"],
        prepare="none",
        drop_existing=values["drop_existing"],
        quiet=values["as_json"],
    )
    assert collected.hello is not None
    assert workload.sql_bench is not None
    if workload.sql_bench.groups is None and "transactions" not in workload.sql_bench.programs:
        screen.echo("transactions was left out: --create-options names no engine with transactions", err=True)
    here = os.uname()
    text = report.render(
        collected.hello,
        collected.run,
        collected.ends,
        machine=f"{here.sysname} {here.release} {here.machine}",
        arguments=workload.sql_bench.arguments,
    )
    if output is not None:
        output.write(text)
    if values["as_json"]:
        operations = [{"phase": phase, **asdict(one)} for phase, one in collected.operations]
        figures = {**result.figures("sql-bench", collected), "operations": operations}
        screen.echo_json(figures)
    else:
        screen.echo(text)
    for warning in driving.warnings(collected):
        screen.echo(f"warning: {warning}", err=True)
    driving.raise_if_failed(collected)
    wrong = sum(one.failed for _, one in collected.operations)
    if wrong:
        driving.refuse_wrong_results(wrong)
