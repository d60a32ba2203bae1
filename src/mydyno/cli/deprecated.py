"""Spellings of an earlier release: they work for one more, with a warning, and are not in the help."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from mydyno.cli import screen


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
