"""`mydyno load`: an ad-hoc load on any server, without an experiment file. One command for each workload."""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand

from mydyno.cli.application import Application
from mydyno.cli.spellings import Group
from mydyno.core.errors import UsageError
from mydyno.core.nearest import unknown
from mydyno.core.visible import visible

_CODE = ("sql-bench", "slap", "sysbench", "mysqlslap")
"""Workloads that are not files: their commands are modules of this package."""
_CLEANUP = "cleanup"
_SWITCHES = ("--yes", "-y", "--json", "--poisson", "--drop-existing", "--ask-password")
"""Options that are followed by no value."""

_HELP = """Run a workload on any server, and print its throughput and latency.

The password comes from --defaults-file, --password-file or --ask-password, never from the command line.
Options of sysbench, mysqlslap and sql-bench are accepted in their spelling where they mean the same:
--threads, --time, --report-interval, --rand-type, --concurrency, --small-test, --skip_trx=on.

Tables are made in the schema `mydyno` (see --database and --prepare) and stay there until `mydyno load
cleanup`; a table that mydyno did not make is never replaced without --drop-existing.

```text
mydyno load oltp-read-only --socket /run/mysqld/mysqld.sock --threads 64
mydyno load oltp-read-write --defaults-file ~/.my.cnf --tables 4 --time 1m
mydyno load connect-storm --host db1 --ask-password --rate 500 --poisson
mydyno load shop.yaml --socket /tmp/s.sock --connections 1,8,64 --json
mydyno load smack select-key.smack 10 100 --socket /tmp/s.sock
mydyno load sql-bench insert select --socket /tmp/s.sock --small
mydyno load cleanup oltp-read-write --socket /tmp/s.sock
```
"""


class _Workloads(Group):
    """A command for each workload, made when it is needed: reading the files takes time."""

    def list_commands(self, ctx: Any) -> list[str]:
        from mydyno.lab.workload import builtin_names

        return sorted({*builtin_names(), *_CODE, _CLEANUP})

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        args = _without_command_of_sysbench(args, self.list_commands(ctx))
        name, command, rest = super().resolve_command(ctx, args)
        return name and visible(name), command, rest

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand:
        function, name = _command(cmd_name, self.list_commands(ctx))
        app = Application(add_completion=False, no_args_is_help=False)
        app.command(name)(function)
        made = typer.main.get_command(app)
        assert isinstance(made, TyperCommand)
        return made


def _without_command_of_sysbench(arguments: list[str], known: list[str]) -> list[str]:
    """`oltp_read_write ... run` as `oltp-read-write ...`; with `cleanup` at its end as `cleanup NAME ...`.

    Raises UsageError for `prepare`.
    """
    name, *rest = arguments
    dashed = _dashed(name, known)
    if not rest or rest[-1] not in ("prepare", "run", "cleanup") or dashed not in known:
        return arguments
    *before, word = rest
    is_value = before and before[-1].startswith("-") and "=" not in before[-1] and before[-1] not in _SWITCHES
    if is_value or dashed in ("smack", _CLEANUP, *_CODE):
        return arguments
    if word == "prepare":
        raise UsageError(
            "mydyno load has no command 'prepare': it makes missing tables itself, before the load",
            "leave the word out; --prepare create makes the tables again",
        )
    return [dashed, *before] if word == "run" else [_CLEANUP, dashed, *before]


def _dashed(name: str, known: list[str]) -> str:
    """A workload by sysbench's name of its script: oltp_read_write."""
    dashed = name.replace("_", "-")
    return dashed if dashed in known else name


def _command(name: str, known: list[str]) -> tuple[Callable[..., Any], str]:
    """The function behind a workload's name, or behind the path of a workload file, and its name."""
    name = _dashed(name, known)
    if name == _CLEANUP:
        from mydyno.cli.load import cleanup

        workloads = [one for one in known if one != _CLEANUP]
        return cleanup.command(lambda workload: _command(workload, workloads)[1]), name
    if name in _CODE or name == "smack":
        return _of_code(name), name
    from mydyno.cli.load import program
    from mydyno.lab.workload import read

    if name in known:
        return program.command(name, read(name)), name
    if name.endswith((".yaml", ".yml")) or "/" in name:
        return program.command("file", read(name), name), name
    from mydyno.lab.workload.definitions import nearest_workload

    raise UsageError(
        unknown("workload", name, nearest_workload(name, known)),
        f"the workloads are {', '.join(known)}, or the path of a workload file",
    )


def _of_code(name: str) -> Callable[..., Any]:
    match name:
        case "smack":
            from mydyno.cli.load import smack

            return smack.command()
        case "slap":
            from mydyno.cli.load import slap

            return slap.command()
        case "sql-bench":
            from mydyno.cli.load import sql_bench

            return sql_bench.command()
        case _:
            from mydyno.cli.load import external

            return external.command(name)


commands = Application(name="load", cls=_Workloads, help=_HELP, add_completion=False)


@commands.callback(help=_HELP)
def _load() -> None:
    pass
