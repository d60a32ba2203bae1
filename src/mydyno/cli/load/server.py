"""Which server to load, from the command line and a client option file."""

from __future__ import annotations

from typing import Any

from mydyno.core.errors import UsageError
from mydyno.core.secrets import Secret
from mydyno.load.job import Target
from mydyno.stack.server import credentials


def target(values: dict[str, Any]) -> Target:
    """Where to connect: the options given here win over the option file."""
    socket, host, port, user = (values[name] for name in ("socket", "host", "port", "user"))
    defaults_file = values["defaults_file"]
    file = credentials.read_option_file(defaults_file) if defaults_file else credentials.ClientOptions()
    if socket and (host or port):
        raise UsageError("--socket and --host exclude each other", "give one of them")
    if not (socket or host or port):
        socket, host, port = file.socket, file.host, file.port
        if socket and host in (None, "localhost"):
            host = port = None
    if not socket and not host:
        raise UsageError(
            "which server? neither --socket nor --host is given",
            "for a server on this machine: --socket /run/mysqld/mysqld.sock",
        )
    user = user or file.user or "root"
    return Target(
        user=user,
        password=password(values, file, user),
        database=values["database"],
        socket=socket if not host else None,
        host=host,
        port=(port or 3306) if host else None,
    )


def password(values: dict[str, Any], file: credentials.ClientOptions, user: str) -> Secret:
    """From --password-file, from a prompt, or from the option file; empty without any of them."""
    if values["password_file"]:
        return credentials.read_password_file(values["password_file"])
    if values["ask_password"]:
        return credentials.prompt(user)
    return file.password or Secret("")
