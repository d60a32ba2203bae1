"""Who to be on a server that mydyno does not own: from a client option file, a password file or a prompt.

A password is never taken from the command line or the environment, where other users can see it.
"""

import configparser
import getpass
import sys
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.errors import UsageError
from mydyno.core.secrets import Secret
from mydyno.core.visible import visible
from mydyno.server.access.address import External
from mydyno.server.access.transport import SslMode, Transport, transport

_SECTIONS = ("client", "mysql", "mariadb", "client-mariadb", "mydyno")


@dataclass(frozen=True)
class ClientOptions:
    """What a client option file says; None where it is silent. The socket's path is absolute."""

    user: str | None = None
    password: Secret | None = None
    socket: Path | None = None
    host: str | None = None
    port: int | None = None
    ssl_mode: str | None = None
    ssl_ca: Path | None = None
    ssl_cert: Path | None = None
    ssl_key: Path | None = None
    server_public_key: Path | None = None
    compression_algorithms: str | None = None
    zstd_compression_level: int | None = None


def transport_of(options: ClientOptions | External) -> Transport:
    """What they say of how connections are protected and compressed. Raises UsageError."""
    ca, cert, key, public_key = (
        None if path is None else Path(path)
        for path in (options.ssl_ca, options.ssl_cert, options.ssl_key, options.server_public_key)
    )
    protected = transport(options.ssl_mode, ca=ca, cert=cert, key=key, public_key=public_key)
    return protected.compressed(options.compression_algorithms, options.zstd_compression_level)


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
    values: dict[str, str] = {}
    for section in _SECTIONS if group is None else (group,):
        if parser.has_section(section):
            values |= {_name(k): _unquote(v or "") for k, v in parser.items(section)}
    port, level = _number(path, values, "port"), _number(path, values, "zstd_compression_level")
    return ClientOptions(
        user=values.get("user"),
        password=Secret(values["password"]) if values.get("password") else None,
        socket=Path(values["socket"]).absolute() if values.get("socket") else None,
        host=values.get("host") or None,
        port=port or None,
        ssl_mode=_ssl_mode(values),
        ssl_ca=_file(values, "ssl_ca"),
        ssl_cert=_file(values, "ssl_cert"),
        ssl_key=_file(values, "ssl_key"),
        server_public_key=_file(values, "server_public_key_path"),
        compression_algorithms=_compression(values),
        zstd_compression_level=level,
    )


def _number(path: Path, options: dict[str, str], name: str) -> int | None:
    value = options.get(name)
    if value is not None and not value.isdigit():
        raise UsageError(f"{path}: {name.replace('_', '-')} is not a number: {value!r}")
    return None if value is None else int(value)


def _name(option: str) -> str:
    return option.replace("-", "_").removeprefix("loose_")


def _file(options: dict[str, str], name: str) -> Path | None:
    return Path(options[name]).expanduser().absolute() if options.get(name) else None


def _ssl_mode(options: dict[str, str]) -> str | None:
    """ssl-mode of MySQL's clients, or what MariaDB's say in its place; None where neither does."""
    if options.get("ssl_mode"):
        return options["ssl_mode"]
    if _is_on(options.get("ssl_verify_server_cert")):
        return SslMode.VERIFY_IDENTITY
    if _is_on(options.get("skip_ssl")) or _is_on(options.get("disable_ssl")) or _is_off(options.get("ssl")):
        return SslMode.DISABLED
    # Whether MariaDB's clients check a certificate when an authority is named depends on their release.
    return SslMode.REQUIRED if _is_on(options.get("ssl")) and not options.get("ssl_ca") else None


def _compression(options: dict[str, str]) -> str | None:
    """compression-algorithms of MySQL's clients, or the older `compress`, which MariaDB's have."""
    if options.get("compression_algorithms"):
        return options["compression_algorithms"]
    if _is_on(options.get("skip_compress")) or not _is_on(options.get("compress")):
        return None
    return "zlib,uncompressed"


def _is_on(value: str | None) -> bool:
    """An option without a value is on."""
    return value is not None and value.lower() in ("", "1", "on", "true", "yes")


def _is_off(value: str | None) -> bool:
    return value is not None and value.lower() in ("0", "off", "false", "no")


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
