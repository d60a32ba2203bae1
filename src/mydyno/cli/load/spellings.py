"""Options as sysbench, mysqlslap and sql-bench spell them, so that their command lines need little change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from typer.core import TyperCommand, TyperOption

NAMES: dict[str, tuple[str, ...]] = {
    # sysbench 1.0 and 0.4, mysqlslap
    "connections": ("threads", "num-threads", "concurrency"),
    "seconds": ("time", "max-time"),
    "warmup": ("warmup-time",),
    "events": ("max-requests",),
    "seed": ("rand-seed",),
    "distribution": ("rand-type",),
    "storage_engine": ("mysql-storage-engine",),
    # mysqlslap
    "engines": ("engine",),
    "load_type": ("auto-generate-sql-load-type",),
    "int_columns": ("number-int-cols",),
    "char_columns": ("number-char-cols",),
    "secondary_indexes": ("auto-generate-sql-secondary-indexes",),
    "guid_primary": ("auto-generate-sql-guid-primary",),
    "autoincrement": ("auto-generate-sql-add-autoincrement",),
    "preload": ("auto-generate-sql-write-number",),
    "preload_texts": ("auto-generate-sql-unique-write-number",),
    "texts": ("auto-generate-sql-unique-query-number",),
    "queries": ("number-of-queries",),
    "execute_number": ("auto-generate-sql-execute-number",),
    # sql-bench
    "small": ("small-test",),
    "time_limit_s": ("time-limit",),
}
"""What else an option of the command line is called, by the parameter's name, without the dashes."""

_ON, _OFF = ("on", "true", "yes", "1"), ("off", "false", "no", "0")


def flags(name: str) -> tuple[str, ...]:
    """The other spellings of a parameter, as flags."""
    return tuple(f"--{other}" for other in NAMES.get(name, ()))


class Command(TyperCommand):
    """Also takes underscores in the names of options, and `=on` and `=off` for switches."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(respelled(args, self.params)))


def respelled(arguments: Sequence[str], parameters: Sequence[Any]) -> Iterator[str]:
    """The arguments in the spelling of these parameters. What none of them has is left as it is."""
    options = [one for one in parameters if isinstance(one, TyperOption)]
    known = {flag: option for option in options for flag in (*option.opts, *option.secondary_opts)}
    for number, argument in enumerate(arguments):
        if argument == "--":
            yield from arguments[number:]
            return
        flag, equals, value = argument.partition("=")
        flag = flag if flag in known or not flag.startswith("--") else flag.replace("_", "-")
        option = known.get(flag)
        if option is None:
            yield argument
        elif option.is_flag and equals and value.lower() in _ON + _OFF:
            yield from _switched(option, flag, value.lower() in _ON)
        else:
            yield f"{flag}{equals}{value}"


def _switched(option: TyperOption, flag: str, on: bool) -> Iterator[str]:
    """`--no-x=off` is on. A switch that cannot be turned off is left out."""
    if on != (flag in option.secondary_opts):
        yield option.opts[0]
    elif option.secondary_opts:
        yield option.secondary_opts[0]
