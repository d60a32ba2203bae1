"""What the server reads when it starts: of the one that runs, or else of the one that was advised."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from mydyno.apply.edits.option_file import Reading
from mydyno.core.errors import MydynoError, ServerError, UsageError
from mydyno.core.server_variables import option_name
from mydyno.core.server_version import Version, parse_version
from mydyno.machine.local import LocalHost
from mydyno.server.access import dbapi
from mydyno.server.access.login import Login
from mydyno.server.access.server_process import process_of
from mydyno.server.access.session import session, version_line
from mydyno.server.program.binary import help_text
from mydyno.server.variables import catalogue
from mydyno.survey.facts.option_files import start_files

_ADVISED = re.compile(r"(?P<vendor>.+?) (?P<number>\d+\.\d+\S*) at .*")
_ONLY, _MORE, _NONE, _SUFFIX = "defaults_file", "defaults_extra_file", "no_defaults", "defaults_group_suffix"
_OWN_FILE = (8, 0, 0)
"""MySQL's first release with SET PERSIST."""


@dataclass(frozen=True)
class Started:
    """How a server was started, by its command line."""

    start_files: tuple[str, ...]
    options: frozenset[str]
    """Plain names of the variables that the command line sets: no option file can."""
    suffix: str | None = None


@dataclass(frozen=True)
class Running:
    """The server as it was found."""

    version: Version
    reading: Reading | None
    """None: its process is not on this machine, so its option files are not, either."""
    binary: Path | None = None
    """The program that runs, to check option files with."""

    @property
    def keeps_by_itself(self) -> bool:
        """Whether it has a file of its own for SET PERSIST."""
        return _keeps(self.version)


def find_server(login: Login) -> Running:
    """Asks a running server, and its process where that is here. Raises ServerError."""
    with session(login) as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        variables = {str(name).lower(): str(value) for name, value in cursor.fetchall()}
        pid = process_of(cursor, login, variables)
        version = parse_version(version_line(variables))
        persisted = _persisted(cursor, version)
    if pid is None:
        return Running(version, None)
    started, binary = _started(pid, version)
    reading = Reading(
        version, started.start_files, frozenset(variables), started.options, persisted, started.suffix
    )
    return Running(version, reading, binary)


def advised_server(server: str) -> Running:
    """The one that an advice names (`MariaDB 10.11.19 at ...`), with the usual files. Raises UsageError."""
    version = advised_version(server)
    return Running(version, Reading(version, start_files(), frozenset(catalogue().names_of(version))))


def advised_version(server: str) -> Version:
    """Raises UsageError."""
    found = _ADVISED.fullmatch(server)
    try:
        return parse_version(f"Ver {found['number']} {found['vendor']}" if found else "")
    except ServerError:
        raise UsageError(
            f"the advice does not say for which release it is: {server!r}", "ask for it again: mydyno advise"
        ) from None


def started_by(arguments: list[str], help_text: str | None) -> Started:
    """What a server's command line (without the program) says of its option files; pure.

    `help_text`: what the program tells with --verbose --help.
    """
    given = dict(_option(argument) for argument in arguments if argument.startswith("--"))
    usual = start_files(help_text)
    if _NONE in given:
        files: tuple[str, ...] = ()
    elif given.get(_ONLY):
        files = (given[_ONLY],)
    else:
        files = (*usual, given[_MORE]) if given.get(_MORE) else usual
    own = frozenset({_ONLY, _MORE, _NONE, _SUFFIX})
    return Started(files, frozenset(given) - own, given.get(_SUFFIX) or None)


def _option(argument: str) -> tuple[str, str]:
    name, _, value = argument.removeprefix("--").partition("=")
    return option_name(name).removeprefix("loose_"), value


def _keeps(version: Version) -> bool:
    return not version.is_mariadb and version.numbers >= _OWN_FILE


def _persisted(cursor: dbapi.Cursor, version: Version) -> frozenset[str]:
    """What mysqld-auto.cnf holds; without the right to see that, as if it held nothing: the values are
    read back after the server's next start anyway."""
    if not _keeps(version):
        return frozenset()
    try:
        cursor.execute("SELECT VARIABLE_NAME FROM performance_schema.persisted_variables")
    except dbapi.Error:
        return frozenset()
    return frozenset(str(row[0]).lower() for row in cursor.fetchall())


def _started(pid: int, version: Version) -> tuple[Started, Path | None]:
    process = Path(f"/proc/{pid}")
    try:
        words = (process / "cmdline").read_bytes().decode(errors="surrogateescape").split("\0")[1:]
        binary = (process / "exe").readlink()
    except OSError:
        return Started(start_files(), frozenset()), None
    return started_by(words, _help(binary, version)), binary


def _help(binary: Path, version: Version) -> str | None:
    try:
        return help_text(LocalHost(), binary, version)
    except MydynoError:
        return None
