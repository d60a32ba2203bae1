"""What only a running server reports of its variables: type, bounds, choices, and what may be changed live.

MariaDB reports all of it (INFORMATION_SCHEMA.SYSTEM_VARIABLES). MySQL 8.0 and later report the bounds
(performance_schema.variables_info) and no MySQL reports which variables can be changed while it runs: that is
found out by setting each to the value that it has.
"""

import shutil
import tempfile
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.sql_names import quote
from mydyno.lab.stack.journal import Journal
from mydyno.lab.stack.server.initialise import initialise
from mydyno.lab.stack.server.sandbox import start_server
from mydyno.lab.stack.site import Site
from mydyno.machine.local import LocalHost
from mydyno.server.access import dbapi
from mydyno.server.program.binary import ServerBinary

_READ_ONLY, _SESSION_ONLY = 1238, 1228
"""ER_INCORRECT_GLOBAL_LOCAL_VAR and ER_LOCAL_VARIABLE (MySQL Server Error Message Reference)."""


@dataclass(frozen=True)
class RunningVariable:
    """Of one variable. None: the server does not report it."""

    dynamic: bool | None = None
    """Whether SET GLOBAL can change it."""
    kind: str | None = None
    """As the server calls its type."""
    least: str | None = None
    most: str | None = None
    choices: tuple[str, ...] = ()


def ask_running(binary: ServerBinary, names: Collection[str]) -> Mapping[str, RunningVariable]:
    """Starts a throw-away server of this binary, reads it, and leaves nothing behind.

    Takes some seconds. Raises ServerError when it does not start.
    """
    lab = Path(tempfile.mkdtemp(prefix="mydyno-variables-"))
    lab.chmod(0o755)
    try:
        site = Site(lab, LocalHost(), Journal(lab))
        with site.temporary(site.roomy_folder()) as work:
            data, scratch = work / "data", work / "scratch"
            initialise(site, binary, datadir=data, scratch=scratch, settings={})
            server = start_server(site, binary, datadir=data, scratch=scratch, config={}, folder=lab)
            try:
                with server.connect() as connection, connection.cursor() as cursor:
                    return _of_mariadb(cursor) if binary.version.is_mariadb else _of_mysql(cursor, names)
            finally:
                server.stop(patience_seconds=10.0)
    finally:
        shutil.rmtree(lab)


def _of_mariadb(cursor: dbapi.Cursor) -> dict[str, RunningVariable]:
    cursor.execute(
        "SELECT VARIABLE_NAME, VARIABLE_TYPE, NUMERIC_MIN_VALUE, NUMERIC_MAX_VALUE, ENUM_VALUE_LIST,"
        " READ_ONLY, VARIABLE_SCOPE FROM INFORMATION_SCHEMA.SYSTEM_VARIABLES"
    )
    return {
        str(name).lower(): RunningVariable(
            dynamic=read_only == "NO" and scope != "SESSION ONLY",
            kind=str(kind),
            least=least,
            most=most,
            choices=tuple(choices.split(",")) if choices else (),
        )
        for name, kind, least, most, choices, read_only, scope in cursor.fetchall()
    }


def _of_mysql(cursor: dbapi.Cursor, names: Collection[str]) -> dict[str, RunningVariable]:
    bounds: dict[str, tuple[str, str]] = {}
    with suppress(dbapi.Error):  # MySQL 5.6 and 5.7 have no such table.
        cursor.execute("SELECT VARIABLE_NAME, MIN_VALUE, MAX_VALUE FROM performance_schema.variables_info")
        bounds = {str(name): (str(least), str(most)) for name, least, most in cursor.fetchall()}
    cursor.execute("SHOW GLOBAL VARIABLES")
    shown = {str(name).lower() for name, _ in cursor.fetchall()}
    variables = {}
    for name in sorted(shown.intersection(names)):
        least, most = bounds.get(name, ("0", "0"))
        bounded = (least, most) != ("0", "0")
        variables[name] = RunningVariable(
            dynamic=_can_be_set(cursor, name),
            least=least if bounded else None,
            most=most if bounded else None,
        )
    return variables


def _can_be_set(cursor: dbapi.Cursor, name: str) -> bool:
    """Whether the server takes the value that it has; any other refusal than "read only" is of the value."""
    try:
        cursor.execute(f"SET GLOBAL {quote(name)} = @@GLOBAL.{quote(name)}")
    except dbapi.Error as error:
        return dbapi.number_of(error) not in (_READ_ONLY, _SESSION_ONLY)
    return True
