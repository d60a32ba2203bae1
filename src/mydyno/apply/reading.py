"""What the server reads when it starts: of the one that runs, or else of the one that was advised."""

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mydyno.apply.edits.option_file import Reading
from mydyno.core.errors import MydynoError, ServerError, UsageError
from mydyno.core.server_version import Version, parse_version
from mydyno.machine.local import LocalHost
from mydyno.server.access import dbapi
from mydyno.server.access.login import Login
from mydyno.server.access.session import process_of, session, show_global, version_line
from mydyno.server.program.binary import help_text
from mydyno.server.variables import catalogue
from mydyno.survey.facts.option_files import CHOOSE_FILES, chosen_files, command_line_options, start_files

_ADVISED = re.compile(r"(?P<vendor>.+?) (?P<number>\d+\.\d+\S*) at .*")
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
        """Whether it has a separate file for SET PERSIST."""
        return not self.version.is_mariadb and self.version.numbers >= _OWN_FILE


def find_server(login: Login) -> Running:
    """Reads a running server, and its process where that is here. Raises ServerError."""
    with session(login) as cursor:
        variables = {name.lower(): value for name, value in show_global(cursor, "VARIABLES").items()}
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
    release = _ADVISED.fullmatch(server)
    try:
        return parse_version(f"Ver {release['number']} {release['vendor']}" if release else "")
    except ServerError:
        raise UsageError(
            f"the advice does not say for which release it is: {server!r}", "ask for it again: mydyno advise"
        ) from None


def started_by(arguments: list[str], help_text: str | None) -> Started:
    """What a server's command line (without the program) says of its option files; pure.

    `help_text`: what the program prints with --verbose --help.
    """
    given = command_line_options(arguments)
    files = chosen_files(given, start_files(help_text))
    return Started(files, frozenset(given) - CHOOSE_FILES, given.get("defaults_group_suffix") or None)


def _persisted(cursor: dbapi.Cursor, version: Version) -> frozenset[str]:
    """What mysqld-auto.cnf holds; without the right to see that, as if it held nothing: the values are
    read back after the server's next start anyway."""
    if not Running(version, None).keeps_by_itself:
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
    text = None
    with suppress(MydynoError):
        text = help_text(LocalHost(), binary, version)
    return started_by(words, text), binary
