"""The way into a server, from the command line and a client option file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from mydyno.core.errors import UsageError
from mydyno.core.secrets import Secret
from mydyno.server.access import credentials
from mydyno.server.access.address import DEFAULT_PORT
from mydyno.server.access.login import Login, socket_path


def login_of(
    *,
    socket: Path | None,
    host: str | None,
    port: int | None,
    user: str | None,
    defaults_file: Path | None,
    password_file: Path | None,
    ask_password: bool,
    ssl_mode: str | None = None,
    ssl_ca: Path | None = None,
    ssl_cert: Path | None = None,
    ssl_key: Path | None = None,
    server_public_key: Path | None = None,
) -> Login | None:
    """Where to connect and who to be: the options given here win over the option file.

    None when neither says which server. Raises UsageError.
    """
    file = credentials.read_option_file(defaults_file) if defaults_file else credentials.ClientOptions()
    if socket and (host or port):
        raise UsageError("--socket and --host exclude each other", "give one of them")
    if not (socket or host or port):
        socket, host, port = file.socket, file.host, file.port
        if socket and host in (None, "localhost"):
            host = port = None
    if not socket and not host:
        return None
    user = user or file.user or "root"
    given: dict[str, Any] = {
        "ssl_mode": ssl_mode,
        "ssl_ca": ssl_ca,
        "ssl_cert": ssl_cert,
        "ssl_key": ssl_key,
        "server_public_key": server_public_key,
    }
    return Login(
        user,
        password_of(password_file, ask_password, file, user),
        socket=socket_path(socket) if socket and not host else None,
        host=host,
        port=(port or DEFAULT_PORT) if host else None,
        transport=replace(file, **{name: value for name, value in given.items() if value}).transport(),
    )


def password_of(
    password_file: Path | None, ask_password: bool, file: credentials.ClientOptions, user: str
) -> Secret:
    """From --password-file, from a prompt, or from the option file; empty without any of them."""
    if password_file:
        return credentials.read_password_file(password_file)
    if ask_password:
        return credentials.prompt(user)
    return file.password or Secret("")
