"""Server variables at each start: a separate file that is read late enough to win.

First choice is zz-mydyno.cnf in the folder that the server reads last; where a line below its `!includedir`
wins over that, or there is no such folder, a separate group at the end of the last file.
The resolver that finds where a value comes from decides which line wins (`facts.option_files`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mydyno.apply.change import RemoveVariable, SetVariable
from mydyno.apply.edits.texts import HEADER, RefusedError, Texts, set_line, switch_off
from mydyno.core.server_version import Version
from mydyno.server.variables.row import same_meaning
from mydyno.survey.facts.option_files import OptionFiles, OptionLine, option_files, server_groups

NAME = "zz-mydyno.cnf"
_SECTION = "# mydyno apply: the group below is its own, and has to stay the last of this file\n"
_PLAIN_VALUE = re.compile(r"[^\s#'\"\\]([^#'\"\\]*[^\s#'\"\\])?")
_PACKAGED = "/usr/"
"""Below it files are a package's, which an upgrade replaces."""


@dataclass(frozen=True)
class Reading:
    """What a server reads when it starts."""

    version: Version
    start_files: tuple[str, ...]
    known: frozenset[str]
    """Plain names of its variables."""
    on_command_line: frozenset[str] = frozenset()
    """Those that it is started with, which win over every file."""
    persisted: frozenset[str] = frozenset()
    """Those that it keeps itself (SET PERSIST), which win over every file: it goes on keeping them."""
    suffix: str | None = None
    """--defaults-group-suffix."""

    def of(self, texts: Texts) -> OptionFiles:
        groups = server_groups(self.version, self.suffix)
        return option_files(texts.get, texts.names, self.start_files, groups, self.known)

    @property
    def group(self) -> str:
        """The one that no other maker's server and no client reads."""
        return "mariadb" if self.version.is_mariadb else "mysqld"

    def knowing(self, name: str) -> Reading:
        return replace(self, known=self.known | {name})


def set_variable(texts: Texts, change: SetVariable, reading: Reading) -> None:
    """Raises RefusedError when no place of mydyno's wins, naming the line that does."""
    if change.name in reading.persisted:
        return
    reading = reading.knowing(change.name)
    _refuse_what_wins_over_files(change.name, reading)
    now = reading.of(texts)
    if _says(now.effective(change.name), change.value):
        return
    winner: OptionLine | None = None
    for path, is_own in _places(now, reading.start_files):
        tried = texts.branch()
        tried.put(path, _with(tried.get(path), change, reading.group, is_own=is_own))
        winner = reading.of(tried).effective(change.name)
        if winner is not None and texts.real(winner.file) == texts.real(path) and _says(winner, change.value):
            texts.put(path, tried.get(path) or "")
            return
    raise RefusedError(
        f"{winner.place if winner else 'no option file'} would win over mydyno's {change.name}",
        f"write {change.name} = {change.value} there",
    )


def is_written(texts: Texts, change: SetVariable, reading: Reading) -> bool:
    """Whether the line that counts says it."""
    reading = reading.knowing(change.name)
    return _says(reading.of(texts).effective(change.name), change.value)


def remove_variable(texts: Texts, change: RemoveVariable, reading: Reading) -> None:
    """Every line that says it becomes a comment: without the last, the one before it would count."""
    lines = reading.knowing(change.name).of(texts).of(change.name)
    for line in sorted(lines, key=lambda each: (each.file, -each.line)):
        switch_off(texts, line.file, line.line, f"{change.name} is not to be set here any more")


def _refuse_what_wins_over_files(name: str, reading: Reading) -> None:
    if not reading.start_files:
        raise RefusedError("the server is started with --no-defaults and reads no option file")
    if name in reading.on_command_line:
        raise RefusedError(
            f"the server is started with --{name} on its command line, which wins over every file",
            "take it out there (`systemctl cat` shows the command line)",
        )


def _places(now: OptionFiles, start_files: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Where mydyno's line may go, the best first, and whether that is a separate file."""
    for folder in reversed(now.folders):
        if not folder.startswith(_PACKAGED):
            yield f"{folder.rstrip('/')}/{NAME}", True
    # The end of a file is read after whatever it includes.
    read = [path for path in start_files if path in now.files and not path.startswith(_PACKAGED)]
    yield (read[-1], False) if read else (start_files[0], True)


def _with(text: str | None, change: SetVariable, group: str, *, is_own: bool) -> str:
    line = f"{change.name} = {_written(change.value)}"
    starts = f"{change.name} = "
    if is_own:
        return set_line(f"{HEADER}[{group}]\n" if text is None else text, starts, line)
    head, marker, tail = (text or "").partition(_SECTION)
    if not marker:
        head += "" if head.endswith("\n") or not head else "\n"
    return head + set_line(f"{_SECTION}{tail or f'[{group}]{chr(10)}'}", starts, line)


def _written(value: str) -> str:
    """As an option file takes it: in quotes where a blank, a quote, a # or a backslash would be lost."""
    if _PLAIN_VALUE.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\")
    return f"'{escaped}'" if '"' in value else f'"{escaped}"'


def _says(line: OptionLine | None, value: str) -> bool:
    return line is not None and same_meaning(line.value if line.value is not None else "ON", value)
