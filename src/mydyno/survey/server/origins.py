"""Where the values in force come from: what the server reports, joined with its option files."""

from collections.abc import Mapping
from dataclasses import dataclass

from mydyno.core.server_version import Version
from mydyno.server.variables.row import same_meaning, same_value
from mydyno.survey.asking import Asking
from mydyno.survey.facts import Origin
from mydyno.survey.facts.option_files import OptionFiles, OptionLine
from mydyno.survey.facts.server import Source

_MARIADB: Mapping[str, Source] = {
    "COMPILE-TIME": "compiled",
    "CONFIG": "file",
    "COMMAND-LINE": "command line",
    "ENVIRONMENT": "command line",
    "SQL": "set while running",
    "AUTO": "computed",
}
"""GLOBAL_VALUE_ORIGIN (MariaDB Knowledge Base, "Information Schema SYSTEM_VARIABLES Table")."""
_MYSQL: Mapping[str, Source] = {
    "COMPILED": "compiled",
    "GLOBAL": "file",
    "SERVER": "file",
    "EXPLICIT": "file",
    "EXTRA": "file",
    "USER": "file",
    "LOGIN": "file",
    "COMMAND_LINE": "command line",
    "PERSISTED": "persisted",
    "DYNAMIC": "set while running",
}
"""VARIABLE_SOURCE (MySQL Reference Manual, "Performance Schema variables_info Table")."""

_OF_THIS_SESSION = frozenset({"wait_timeout", "max_execution_time", "information_schema_stats_expiry"})
"""Set by the survey for itself; MySQL shows the source of a session's value where there is one."""


@dataclass(frozen=True)
class Reported:
    """What the server itself says of one variable."""

    source: Source | None
    file: str | None = None
    dynamic: bool | None = None
    """None: the server has no table of that."""


def read_origins(asking: Asking, version: Version) -> Mapping[str, Reported]:
    """What the server says, by plain name; empty where it reports no origins (MySQL up to 5.7)."""
    what = "where the settings come from"
    if version.is_mariadb:
        rows = asking.rows(
            what,
            "SELECT VARIABLE_NAME, GLOBAL_VALUE_ORIGIN, GLOBAL_VALUE_PATH, READ_ONLY, VARIABLE_SCOPE"
            " FROM INFORMATION_SCHEMA.SYSTEM_VARIABLES",
        )
        return {
            str(name).lower(): Reported(
                _MARIADB.get(str(origin)), path or None, read_only == "NO" and scope != "SESSION ONLY"
            )
            for name, origin, path, read_only, scope in rows or ()
        }
    if version.numbers < (8, 0, 0):
        return {}
    rows = asking.rows(
        what,
        "SELECT VARIABLE_NAME, IF(VARIABLE_SOURCE = 'DYNAMIC' AND COALESCE(SET_USER, 'boot') = 'boot', NULL,"
        " VARIABLE_SOURCE), VARIABLE_PATH FROM performance_schema.variables_info",
        "SELECT ON performance_schema.*",
    )
    return {
        name.lower(): Reported(
            None if name.lower() in _OF_THIS_SESSION else _MYSQL.get(str(source)), path or None
        )
        for name, source, path in rows or ()
    }


def origin_of(name: str, value: str, reported: Reported | None, files: OptionFiles | None) -> Origin | None:
    """Where `value` comes from; None when neither the server nor the files show it."""
    lines = files.of(name) if files else ()
    if reported is None or reported.source is None:
        # The files alone know nothing of SET GLOBAL or the command line: what they say has to be in force.
        if not lines or not _means(lines[-1].value, value):
            return None
        return _of_file(lines[-1], lines)
    if reported.source == "set while running" and lines and _means(lines[-1].value, value):
        return _of_file(lines[-1], lines)  # Set, and written down too: a restart does not lose it.
    if reported.source != "file":
        return Origin(
            source=reported.source, file=reported.file, overridden=tuple(line.place for line in lines)
        )
    same_file = [line for line in lines if reported.file is None or line.file == reported.file]
    if not same_file:
        return Origin(source="file", file=reported.file)
    return _of_file(same_file[-1], lines)


def _of_file(line: OptionLine, lines: tuple[OptionLine, ...]) -> Origin:
    return Origin(
        source="file",
        file=line.file,
        line=line.line,
        overridden=tuple(other.place for other in lines if other != line),
    )


def _means(written: str | None, shown: str) -> bool:
    """Whether what a file says is what the server shows."""
    if written is None:
        return same_value("ON", shown)
    return same_meaning(written, shown) or written.rstrip("/") == shown.rstrip("/")
