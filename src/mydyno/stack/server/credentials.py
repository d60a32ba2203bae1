"""Who to be on a server that mydyno does not own: from a client option file, a password file or a prompt.

A password is never taken from the command line or the environment, where other users can see it.
"""

from __future__ import annotations

import configparser
import getpass
import sys
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.errors import UsageError
from mydyno.core.secrets import Secret
from mydyno.core.visible import visible

_SECTIONS = ("client", "mysql", "mariadb", "client-mariadb", "mydyno")


@dataclass(frozen=True)
class ClientOptions:
    """What a client option file says; None where it is silent. The socket's path is absolute."""

    user: str | None = None
    password: Secret | None = None
    socket: Path | None = None
    host: str | None = None
    port: int | None = None


def read_option_file(path: Path, group: str | None = None) -> ClientOptions:
    """The [client] options of a my.cnf-like file (MySQL Reference Manual, "Using Option Files").

    `group` alone is read when it is given, else those of the usual clients. Raises UsageError when the file
    cannot be read or understood, or has no such group.
    """
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, comment_prefixes=("#", ";"))
    try:
        # `!include` lines are the one part of the format that configparser does not know.
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("!")]
        parser.read_string("\n".join(lines), source=str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}", "give a client option file like ~/.my.cnf") from None
    except configparser.Error as error:
        raise UsageError(f"{path} is not a client option file: {error}") from None
    if group is not None and not parser.has_section(group):
        there = ", ".join(parser.sections()) or "none"
        raise UsageError(f"{path} has no group [{group}]; there is {there}")
    found: dict[str, str] = {}
    for section in _SECTIONS if group is None else (group,):
        if parser.has_section(section):
            found |= {k: _unquote(v) for k, v in parser.items(section) if v is not None}
    port = found.get("port")
    if port is not None and not port.isdigit():
        raise UsageError(f"{path}: port is not a number: {port!r}")
    return ClientOptions(
        user=found.get("user"),
        password=Secret(found["password"]) if "password" in found else None,
        socket=Path(found["socket"]).absolute() if "socket" in found else None,
        host=found.get("host"),
        port=int(port) if port else None,
    )


def _unquote(value: str) -> str:
    return value[1:-1] if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"" else value


def read_password_file(path: Path) -> Secret:
    """The first line of the file. Raises UsageError when it cannot be read."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the password file {path}: {error}") from None
    return Secret(lines[0] if lines else "")


def prompt(user: str) -> Secret:
    """Ask on the terminal without echo. Raises UsageError when there is no terminal."""
    if not sys.stdin.isatty():
        raise UsageError(
            "--ask-password needs a terminal", "use --password-file or --defaults-file in scripts"
        )
    return Secret(getpass.getpass(f"Password of {visible(user)}: "))
