"""A dump of a live server by its family's own program: a consistent snapshot, the password in no argv.

`--single-transaction` gives the state of one instant for InnoDB without locking; tables of other engines may
change meanwhile (MySQL Reference Manual, "mysqldump"; MariaDB documentation, "mariadb-dump").
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from mydyno.core.durable import sync
from mydyno.core.errors import MissingToolError, ServerError
from mydyno.core.sql_names import SYSTEM_SCHEMAS
from mydyno.core.writing import writing
from mydyno.machine.local import MemoryFile
from mydyno.server.access.login import Login
from mydyno.server.access.session import session

_PROGRAMS = ("mariadb-dump", "mysqldump")
_OPTIONS = ("--single-transaction", "--quick", "--routines", "--triggers", "--hex-blob", "--skip-lock-tables")
_OWN = {"--column-statistics": "--column-statistics=0", "--set-gtid-purged": "--set-gtid-purged=OFF"}
"""Options of MySQL's program alone, which older servers do not answer."""


def dump(login: Login, target: Path) -> Path:
    """Writes all schemas but the server's own to `target`, whole or not at all; one that is there stays.

    Raises MissingToolError, ServerError.
    """
    if target.exists():
        return target
    program = next((found for name in _PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        raise MissingToolError(
            "mariadb-dump or mysqldump is needed to dump a server", "apt-get install mariadb-client"
        )
    with session(login) as cursor:
        cursor.execute("SHOW DATABASES")
        schemas = [str(name) for (name,) in cursor.fetchall() if str(name).lower() not in SYSTEM_SCHEMAS]
    if not schemas:
        raise ServerError(f"{login.address} has no schema that this account may read", "GRANT SELECT ON *.*")
    partial = target.with_suffix(".partial")
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.unlink(missing_ok=True)
        partial.touch(mode=0o600)
    try:
        _run(program, login, schemas, partial)
        with writing(target):
            sync(partial)
            partial.rename(target)
    finally:
        partial.unlink(missing_ok=True)
    return target


def _run(program: str, login: Login, schemas: Sequence[str], partial: Path) -> None:
    listed = subprocess.run([program, "--help"], capture_output=True, text=True, check=False).stdout
    options = [*_OPTIONS, *(value for name, value in _OWN.items() if name in listed)]
    secret = MemoryFile("\n".join(["[client]", *_login_lines(login), ""]).encode())
    try:
        with partial.open("wb") as file:
            done = subprocess.run(
                [program, f"--defaults-file={secret.path}", *options, "--databases", *schemas],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.PIPE,
                pass_fds=[secret.descriptor],
                check=False,
            )
    finally:
        secret.wipe()
    if done.returncode != 0:
        errors = done.stderr.decode(errors="replace").strip().splitlines()
        says = errors[-1] if errors else f"exit code {done.returncode}"
        raise ServerError(
            f"{login.address} could not be dumped: {says}",
            "the account needs SELECT, SHOW VIEW, TRIGGER, EVENT and, for routines, rights on them",
        )


def _login_lines(login: Login) -> list[str]:
    """An option file's lines; values in quotes, as passwords may hold a `#`."""
    password = login.password.reveal().replace("\\", "\\\\").replace('"', '\\"')
    lines = [f'user="{login.user}"', f'password="{password}"']
    if login.socket is not None:
        lines.append(f'socket="{login.socket}"')
    else:
        lines += [f'host="{login.host}"', f"port={login.port or 3306}", "protocol=TCP"]
    transport = login.transport
    for name in ("ssl_ca", "ssl_cert", "ssl_key"):
        if value := getattr(transport, name, None):
            lines.append(f'{name.replace("_", "-")}="{value}"')
    return lines
