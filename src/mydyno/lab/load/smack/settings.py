"""What the command line decides about a `.smack` run, and which account each client of the file gets."""

import getpass
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from mydyno.core.errors import UsageError
from mydyno.core.secrets import Secret
from mydyno.lab.load.job import Target
from mydyno.lab.workload.smack.grammar import Section
from mydyno.server.access.transport import Transport

Emit: TypeAlias = Callable[[Literal["output", "note"], str], None]
"""Takes each text as it comes up: `output` is what super-smack would print, `note` is ours."""

_USUAL_SOCKETS = (
    "/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """What replaces the file's own server and account; None leaves the file's."""

    socket: Path | None = None
    host: str | None = None
    port: int | None = None
    user: str | None = None
    password: Secret | None = None
    database: str | None = None
    transport: Transport = field(default_factory=Transport)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """`datadir` holds data files; None is the folder of the `.smack` file. `trust`: its SQL may reach beyond
    its tables (docs/reference/trust.md). `force`: result files that are there are replaced. A statement
    without an answer for `query_timeout_s` fails, and its connection is closed."""

    overrides: Overrides = field(default_factory=Overrides)
    datadir: Path | None = None
    seed: int = 1
    strict: bool = False
    drop_existing: bool = False
    query_timeout_s: float = 60.0
    allow_commands: bool = False
    trust: bool = False
    force: bool = False


def target_of(client: Section, overrides: Overrides) -> Target:
    """Where a client connects, and as whom. Raises UsageError when neither side names a server or schema."""
    database = overrides.database or client.text("db")
    if not database:
        raise UsageError(f"client {client.name} names no db", "add one to the file, or give --database")
    password = overrides.password or Secret(client.text("pass"))
    # The original hands an empty name to the client library, which takes that of the system's user.
    user = overrides.user or client.text("user") or getpass.getuser()
    socket, host = overrides.socket, overrides.host
    if not socket and not host:
        host = client.text("host") if client.text("host") != "localhost" else ""
        socket = None if host else _socket(client)
    return Target(
        user=user,
        password=password,
        database=database,
        socket=socket,
        host=None if socket else host,
        port=None if socket else overrides.port or int(client.text("port", "0")) or 3306,
        transport=overrides.transport,
    )


def _socket(client: Section) -> Path:
    named = client.text("socket")
    if named:
        return Path(named).absolute()
    for usual in map(Path, _USUAL_SOCKETS):
        if usual.exists():
            return usual
    raise UsageError(
        f"client {client.name} wants the server of this machine, and no socket was found"
        f" (looked for {', '.join(_USUAL_SOCKETS)})",
        "give --socket",
    )
