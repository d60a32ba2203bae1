"""Whether a binary takes the values of settings: by its own parser of options, and no server is started.

`--verbose --help` reads all options first. A value that it refuses ends it or is an [ERROR] of its log; one
that is out of range is a warning, "adjusted to"; one that it rounds is another one in the table that ends the
help.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from mydyno.core.errors import ServerError
from mydyno.core.server_variables import Setting, option_name
from mydyno.machine.protocol import Finished, Host
from mydyno.server.program.binary import ServerBinary, help_arguments, parse_options
from mydyno.server.program.command import server_command
from mydyno.server.program.config import argument
from mydyno.server.variables.settings import number, rounded_down

_ADJUSTED = re.compile(r"option '([\w-]+)': (?:\w+ )?value \S+ adjusted to (\S+?)\.?$", re.MULTILINE)
_NO_SWITCH = re.compile(r"option '([\w-]+)': boolean value '.*' wasn't recognized")
_REFUSED = re.compile(r"Error while setting value '.*' to '([\w-]+)'")
_UNKNOWN = "this server does not take the value"
_LOG_LINE = re.compile(r"^.*\[ERROR\] (?:\[[^]]*\] )*")

NamedValue = tuple[str, Setting]
"""A setting under the name that the binary lists, and its value."""

_known: dict[tuple[Path, int, int], dict[str, str | None]] = {}
"""By a program's file, its time and size: argument -> why it is refused; None: it is not."""


def refused_values(host: Host, binary: ServerBinary, values: Iterable[NamedValue]) -> Mapping[str, str]:
    """Why the binary does not take a setting as it is written, by its command-line argument (`argument`).

    What it takes is left out. Each value is looked up once in a process. Raises ServerError when the binary
    cannot be run.
    """
    status = binary.file.stat()
    known = _known.setdefault((binary.file, status.st_mtime_ns, status.st_size), {})
    wanted = {argument(*each): each for each in values}
    for batch in _batches({text: each for text, each in wanted.items() if text not in known}):
        known |= _ask(host, binary, batch)
    return {text: why for text in wanted if (why := known[text]) is not None}


def _batches(values: Mapping[str, NamedValue]) -> Iterator[dict[str, NamedValue]]:
    """All of them in as few runs as possible: a run has one value of each setting."""
    left = dict(values)
    while left:
        by_name = {name: text for text, (name, _) in left.items()}
        yield {text: left.pop(text) for text in by_name.values()}


def _ask(host: Host, binary: ServerBinary, values: Mapping[str, NamedValue]) -> dict[str, str | None]:
    answer = _run(host, binary, values)
    if answer.returncode == 0:
        refused = {option_name(match[1]) for match in _REFUSED.finditer(answer.stderr)}
        # A plugin does not read its other options after one that it refuses.
        left = {text: each for text, each in values.items() if each[0] not in refused}
        if 0 < len(left) < len(values):
            return dict.fromkeys(values.keys() - left.keys(), _UNKNOWN) | _ask(host, binary, left)
        return {text: _why(answer, *each) for text, each in values.items()}
    if len(values) == 1:
        (text,) = values
        return {text: _complaint(answer)}
    # It ends at the first that it refuses, so each of them is tried alone.
    return {text: why for each in values for text, why in _ask(host, binary, {each: values[each]}).items()}


def _run(host: Host, binary: ServerBinary, arguments: Iterable[str]) -> Finished:
    # MySQL since 5.7 logs only errors while it prints its help, unless warnings are requested, too.
    settings = ("--loose-log-error-verbosity=2", *arguments)
    words = help_arguments(binary.path, binary.version, binary.root, settings)
    command = server_command(host, binary.path, words, root=binary.root)
    return host.run(command.argv, identity=command.identity, timeout_seconds=30)


def _why(answer: Finished, name: str, value: Setting) -> str | None:
    for match in _ADJUSTED.finditer(answer.stderr):
        if option_name(match[1]) == name:
            return f"out of range: this server takes {match[2]} instead"
    for match in _NO_SWITCH.finditer(answer.stderr):
        if option_name(match[1]) == name:
            return "neither ON nor OFF"
    for match in _REFUSED.finditer(answer.stderr):
        if option_name(match[1]) == name:
            return _UNKNOWN
    shown = number(_shown(answer, name) or "")
    wanted = number(str(value))
    if isinstance(wanted, int) and isinstance(shown, int) and (block := rounded_down(wanted, shown)):
        return f"this server rounds it down to {shown}, a multiple of {block}"
    return None


def _shown(answer: Finished, name: str) -> str | None:
    try:
        return parse_options(answer.stdout).get(name)
    except ServerError:
        return None


def _complaint(answer: Finished) -> str:
    if _REFUSED.search(answer.stderr):
        return _UNKNOWN
    lines = [line for line in answer.stderr.splitlines() if line and "[Warning]" not in line]
    complaint = _LOG_LINE.sub("", lines[0]) if lines else f"exit code {answer.returncode}"
    return f"this server does not start with it: {complaint}"
