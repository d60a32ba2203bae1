"""Options as sysbench, mysqlslap, sql-bench and pt-query-digest spell them, and commands that take them.

Spellings of an earlier release work for one more, with a warning, and are not in the help.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeVar

from typer.core import TyperCommand, TyperGroup, TyperOption

from mydyno.cli import screen

ALIASES: dict[str, tuple[str, ...]] = {
    # sysbench 1.0 and 0.4, mysqlslap
    "--connections": ("--threads", "--num-threads", "--concurrency"),
    "--seconds": ("--time", "--max-time", "--duration"),
    "--warmup": ("--warmup-time",),
    "--events": ("--max-requests",),
    "--seed": ("--rand-seed",),
    "--distribution": ("--rand-type",),
    "--storage-engine": ("--mysql-storage-engine",),
    "--socket": ("--mysql-socket",),
    "--host": ("--mysql-host",),
    "--port": ("--mysql-port",),
    "--user": ("--mysql-user",),
    "--database": ("--mysql-db", "--create-schema"),
    # mysqlslap
    "--engines": ("--engine",),
    "--load-type": ("--auto-generate-sql-load-type",),
    "--int-columns": ("--number-int-cols",),
    "--char-columns": ("--number-char-cols",),
    "--secondary-indexes": ("--auto-generate-sql-secondary-indexes",),
    "--guid-primary": ("--auto-generate-sql-guid-primary",),
    "--autoincrement": ("--auto-generate-sql-add-autoincrement",),
    "--preload": ("--auto-generate-sql-write-number",),
    "--preload-texts": ("--auto-generate-sql-unique-write-number",),
    "--texts": ("--auto-generate-sql-unique-query-number",),
    "--queries": ("--number-of-queries",),
    "--execute-number": ("--auto-generate-sql-execute-number",),
    # sql-bench
    "--small": ("--small-test",),
    "--time-limit-s": ("--time-limit",),
    # super-smack's gen-data
    "--rows": ("--num-rows",),
    # pt-query-digest
    "--for": ("--run-time", "--time", "--duration"),
    "--ask-password": ("--ask-pass",),
}
"""What else an option is called, where it means the same. Not in the lists of options of the help."""
_ON, _OFF = ("on", "true", "yes", "1"), ("off", "false", "no", "0")


class Command(TyperCommand):
    """Takes other spellings of its options, underscores in their names, and `=on` and `=off` for switches."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = _by_flag(self.params)
        renewed = renewed_options(ctx.info_name or "", args, known)
        return super().parse_args(ctx, list(respelled(renewed, self.params)))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        super(Command, _as_shown(self, ctx)).format_help(ctx, formatter)


class Group(TyperGroup):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        super(Group, _as_shown(self, ctx)).format_help(ctx, formatter)


_Shown = TypeVar("_Shown", Command, Group)


def _as_shown(command: _Shown, ctx: Any) -> _Shown:
    """For the help: with the values of options as placeholders, not as types of Python.

    There is no column for `--no-x`, which would cut the others: it is in the text of `--x`.
    """
    shown = copy(command)
    parameters: list[Any] = [copy(parameter) for parameter in command.get_params(ctx)]
    for parameter in parameters:
        is_option = isinstance(parameter, TyperOption)
        value: str = placeholder(parameter) if is_option else ""
        parameter.display_type_rich = lambda ctx, value=value: value
        if is_option and parameter.secondary_opts:
            parameter.help = f"{parameter.help} Off: {parameter.secondary_opts[0]}."
            parameter.secondary_opts = []
    shown.get_params = lambda ctx: parameters  # type: ignore[method-assign]
    return shown


def placeholder(option: Any) -> str:
    """What stands for the value of an option in help and manual; nothing for a switch."""
    kind = option.type_descriptor
    if option.is_flag:
        return ""
    if option.metavar:
        return str(option.metavar)
    if kind.is_choice:
        return "|".join(map(str, kind.choices))
    if kind.is_path:
        return "DIR" if kind.path_type == "dir" else "FILE"
    return "N" if kind.annotation in (int, float) else str(option.name).upper()


def respelled(arguments: Sequence[str], parameters: Sequence[Any]) -> Iterator[str]:
    """The arguments in the spelling of these parameters. What none of them has is left as it is."""
    known = _by_flag(parameters)
    aliases = {alias: flag for flag in known for alias in ALIASES.get(flag, ()) if alias not in known}
    for number, argument in enumerate(arguments):
        if argument == "--":
            yield from arguments[number:]
            return
        flag, equals, value = argument.partition("=")
        if flag.startswith("--") and flag not in known and flag not in aliases:
            flag = flag.replace("_", "-")
        flag = aliases.get(flag, flag)
        option = known.get(flag)
        if option is None:
            yield argument
        elif option.is_flag and equals and value.lower() in _ON + _OFF:
            yield from _switched(option, flag, value.lower() in _ON)
        else:
            yield f"{flag}{equals}{value}"


def _by_flag(parameters: Sequence[Any]) -> dict[str, TyperOption]:
    options = [one for one in parameters if isinstance(one, TyperOption)]
    return {flag: option for option in options for flag in (*option.opts, *option.secondary_opts)}


def _switched(option: TyperOption, flag: str, on: bool) -> Iterator[str]:
    """`--no-x=off` is on. A switch that cannot be turned off is left out."""
    if on != (flag in option.secondary_opts):
        yield option.opts[0]
    elif option.secondary_opts:
        yield option.secondary_opts[0]


class Commands(Group):
    """The top of the command line: an argument quoted in an error message is visible too."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        return super().resolve_command(ctx, renewed_command(args))

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        with screen.visible_message():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        with screen.visible_message():
            return super().invoke(ctx)


@dataclass(frozen=True)
class Renamed:
    """An option with another name; with `when` only for such values, since the old name has a new meaning."""

    old: str
    new: str
    when: Callable[[str], bool] | None = None

    def applies(self, flag: str, value: str, known: Collection[str]) -> bool:
        if flag != self.old or self.new not in known:
            return False
        return flag not in known if self.when is None else self.when(value)


OPTIONS = (
    Renamed("--answer-within", "--query-timeout"),
    Renamed("--order", "--order-by"),
    Renamed("--output", "--out"),
    Renamed("--host", "--ssh", lambda value: value in ("local", "none") or value.startswith("ssh:")),
)
_JSON_TO_FILE = ("compare", "trend")
"""Commands whose --json took a file."""


def renewed_command(words: Sequence[str]) -> list[str]:
    """The words of a command line with the command's name of today: `explain` was about rules."""
    if words[:1] != ["explain"]:
        return list(words)
    rest = list(words[1:])
    new = ["rules", "show" if rest else "list"]
    _warn("explain", " ".join(new))
    return [*new, *rest]


def renewed_options(command: str, arguments: Sequence[str], known: Collection[str]) -> list[str]:
    """The arguments with the names of today. `known`: the command's options."""
    renewed: list[str] = []
    end = arguments.index("--") if "--" in arguments else len(arguments)
    for place, argument in enumerate(arguments[:end]):
        flag, equals, value = argument.partition("=")
        following = value if equals else arguments[place + 1] if place + 1 < end else ""
        for rule in OPTIONS:
            if rule.applies(flag, following, known):
                _warn(flag, rule.new)
                argument = f"{rule.new}{equals}{value}"
        renewed.append(argument)
    if command in _JSON_TO_FILE:
        renewed = _json_to_file(command, renewed)
    return [*renewed, *arguments[end:]]


def _json_to_file(command: str, arguments: list[str]) -> list[str]:
    """`--json FILE` is `--json --out FILE`; `compare --out DIR` was the whole report."""
    files = [
        place
        for place, argument in enumerate(arguments)
        if argument.startswith("--json=")
        or (argument == "--json" and "".join(arguments[place + 1 : place + 2]).endswith(".json"))
    ]
    is_switch = "--json" in arguments and not files
    renewed: list[str] = []
    for place, argument in enumerate(arguments):
        flag, equals, value = argument.partition("=")
        if place in files:
            _warn("--json FILE", "--json --out FILE")
            renewed += ["--json", f"--out={value}" if equals else "--out"]
        elif flag == "--out" and command == "compare" and not is_switch:
            _warn("--out DIR", "--report DIR")
            renewed.append(f"--report{equals}{value}")
        else:
            renewed.append(argument)
    return renewed


def _warn(old: str, new: str) -> None:
    screen.echo(f"mydyno: warning: {old} is deprecated and will be removed: use {new}", err=True)
