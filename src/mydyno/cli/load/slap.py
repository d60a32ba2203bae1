"""`mydyno load slap`: the auto-generated load of mysqlslap, by the engine."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from mydyno.cli import screen
from mydyno.cli.load import driving, parameters
from mydyno.cli.load.parameters import LOAD, TABLES, WORKLOAD
from mydyno.cli.login_options import LoadLogin
from mydyno.core.document.given import validated
from mydyno.core.errors import ExitCode, UsageError
from mydyno.lab.load import slap as runner
from mydyno.lab.load.slap.run import split_sql
from mydyno.lab.workload import slap

_HELP = """mysqlslap's auto-generated load: for each engine and number of clients several iterations, each on
a new schema that is dropped afterwards. Clients connect inside the timed part, as there.

The schema (--database, default mydyno_slap) is dropped before and after; one that holds tables which
this load did not make is refused without --drop-existing. `mydyno load mysqlslap` runs the real program.

```text
mydyno load slap --socket /run/mysqld/mysqld.sock --load-type write \\
    --connections 2 --queries 10000 --guid-primary --engines innodb
mydyno load slap --socket /run/mysqld/mysqld.sock --csv \\
    --connections 1,10,100 --iterations 5
```
"""
_COLUMNS = ("int_columns", "char_columns")
_OWN = (
    parameters.option("connections", str, "1", "Numbers of clients: 2 or 1,10,100.", LOAD),
    parameters.option(
        "iterations", int, 1, "Runs of each number of clients, each on a new schema.", LOAD, min=1
    ),
    parameters.option("engines", str | None, None, "Storage engines, one after the other.", WORKLOAD),
    parameters.option(
        "query", str | None, None, "Own SQL in place of the generated: text, or a file.", WORKLOAD
    ),
    parameters.option("create", str | None, None, "With --query: SQL that makes the tables.", WORKLOAD),
    parameters.option("delimiter", str, ";", "Between the statements of own SQL.", WORKLOAD),
    parameters.option("pre_query", str | None, None, "SQL before each run.", WORKLOAD),
    parameters.option("post_query", str | None, None, "SQL after each run.", WORKLOAD),
    parameters.option("init_command", str | None, None, "SQL on each new connection.", WORKLOAD),
    parameters.option("no_drop", bool, False, "Leave the schema there.", TABLES),
    parameters.option("csv", bool, False, "Print lines of CSV.", LOAD),
    parameters.option("strict_compat", bool, False, "Print what mysqlslap prints and nothing else.", LOAD),
)


def command() -> Callable[..., None]:
    of_options = tuple(
        parameters.option(name, str | None, None, _COLUMN_TEXTS[name], WORKLOAD) if name in _COLUMNS else one
        for one in parameters.of_section(slap.Options, "engine", "seed", "int_indexes", "char_indexes")
        for name in (one.name,)
    )

    def start(values: dict[str, Any]) -> None:
        _run(values, parameters.given_options((one.name for one in of_options), values))

    database = parameters.option(
        "database", str, "mydyno_slap", "The schema that is made and dropped.", LoadLogin.panel
    )
    return parameters.make_command(
        (
            *parameters.LOGIN,
            database,
            *_OWN,
            parameters.SEED,
            parameters.QUERY_TIMEOUT,
            parameters.DROP_EXISTING,
            *of_options,
            parameters.AS_JSON,
        ),
        start,
        _HELP,
    )


_COLUMN_TEXTS = {
    "int_columns": "INT columns of table t1; N:1 with an index on each [default: 1]",
    "char_columns": "VARCHAR(128) columns of table t1; N:1 with an index on each [default: 1]",
}


def _run(values: dict[str, Any], given: dict[str, Any]) -> None:
    for columns, indexes in zip(_COLUMNS, ("int_indexes", "char_indexes"), strict=True):
        if columns in given:
            given[columns], given[indexes] = slap.split_columns(str(given[columns]))
    options = validated(slap.Options, {**given, "seed": values["seed"]}, "command line")
    settings = runner.Settings(
        options=options,
        own=_own_sql(values),
        engines=slap.engine_names(values["engines"]) if values["engines"] else (),
        concurrency=slap.number_list(values["connections"]),
        iterations=values["iterations"],
        pre_query=_statements(values, "pre_query"),
        post_query=_statements(values, "post_query"),
        init_command=values["init_command"],
        no_drop=values["no_drop"],
        drop_existing=values["drop_existing"],
        query_timeout_s=float(values["query_timeout"]),
        csv=values["csv"],
        strict=values["strict_compat"],
    )
    quiet = values["as_json"]

    def emit(kind: str, text: str) -> None:
        if kind == "note":
            screen.echo(text, err=True)
        elif not quiet:
            screen.echo(text)

    result = runner.run(driving.target_of(values), settings, emit)
    if quiet:
        blocks = [runner.figures(block) for block in result.blocks]
        totals = {key: value for key, value in asdict(result).items() if key != "blocks"}
        screen.echo_json({"workload": "slap", **totals, "blocks": blocks})
    if result.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    runner.complain(result)


def _own_sql(values: dict[str, Any]) -> slap.OwnSql | None:
    if values["query"] is None:
        if values["create"] is not None:
            raise UsageError("--create needs --query", "the generated SQL makes its own table")
        return None
    return slap.OwnSql(queries=_statements(values, "query"), create=_statements(values, "create"))


def _statements(values: dict[str, Any], name: str) -> tuple[str, ...]:
    """The statements of an option, which is SQL or the path of a file with SQL."""
    text = values[name]
    if text is None:
        return ()
    path = Path(text)
    if len(text) < 256 and path.is_file():
        text = path.read_text("utf-8")
    return split_sql(text, values["delimiter"])
