"""Which server to load, from the command line and a client option file."""

from __future__ import annotations

from typing import Any

from mydyno.cli.options import SSL_HELP
from mydyno.cli.server_login import login_of, password_of
from mydyno.core.errors import UsageError
from mydyno.core.secrets import Secret
from mydyno.lab.load.job import Target
from mydyno.server.access import credentials
from mydyno.server.access.session import refuse_encryption

_OPTIONS = ("socket", "host", "port", "user", "defaults_file", "password_file", "ask_password", *SSL_HELP)


def target(values: dict[str, Any]) -> Target:
    """Where to connect: the options given here win over the option file."""
    login = login_of(**{name: values[name] for name in _OPTIONS})
    if login is None:
        raise UsageError(
            "which server? neither --socket nor --host is given",
            "for a server on this machine: --socket /run/mysqld/mysqld.sock",
        )
    refuse_encryption(login)
    return Target.of(login, values["database"])


def password(values: dict[str, Any], file: credentials.ClientOptions, user: str) -> Secret:
    """From --password-file, from a prompt, or from the option file; empty without any of them."""
    return password_of(values["password_file"], values["ask_password"], file, user)
