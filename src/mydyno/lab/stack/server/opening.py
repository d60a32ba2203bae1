"""A private server that listens for other machines: on one address, for one account.

The account belongs to the generators of a load. It has a fresh random password at each start, rights on the
schema of the load alone, and is let in from their addresses only, where hosts.yaml names those.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.errors import HostError, ServerError
from mydyno.core.secrets import Secret
from mydyno.core.server_variables import Setting
from mydyno.lab.stack.server.accounts import account
from mydyno.machine.hosts.check import listens_on
from mydyno.machine.protocol import Host
from mydyno.server.access.login import Login
from mydyno.server.access.transport import SslMode, Transport
from mydyno.server.program.binary import ServerBinary

LOAD_USER = "mydyno_load"
ANYWHERE = "%"
"""The host of an account that may come from any address."""

_PORTS = range(20_000, 30_000)
"""Below those that Linux gives to outgoing connections (ip_local_port_range)."""
_TRIES = 50
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


@dataclass(frozen=True)
class Opening:
    """What is opened, and to whom."""

    address: str
    """The IP address that the server listens on."""
    port: int | None
    """None: any free one."""
    clients: tuple[str, ...]
    """Addresses of generators, or ANYWHERE."""
    schema: str

    def settings(self, port: int) -> Mapping[str, Setting]:
        """Names are not resolved: accounts are of addresses, and a slow DNS would delay every connection."""
        return {"port": port, "bind_address": self.address, "skip_name_resolve": True}

    def statements(self, binary: ServerBinary, password: Secret) -> list[str]:
        """What makes the account; the caller gives them to the server's init file."""
        return [
            statement
            for client in dict.fromkeys(self.clients)
            for statement in account(
                binary.version, f"'{LOAD_USER}'@'{client}'", password, on=f"`{self.schema}`.*"
            )
        ]

    def login(self, host: Host, datadir: Path, port: int, password: Secret) -> Login:
        """How generators get in. MySQL's own authentication needs the server's public key without TLS."""
        key = host.read_text(datadir / "public_key.pem")
        transport = Transport(mode=SslMode.DISABLED, public_key=key.encode() if key else None)
        return Login(LOAD_USER, password, host=self.address, port=port, transport=transport)


def usable_port(host: Host, opening: Opening) -> int:
    """A port of `host` on which nothing listens. Raises ServerError, HostError."""
    if opening.port is not None:
        if not _is_free(host, opening.address, opening.port):
            raise ServerError(
                f"port {opening.port} of {opening.address} is in use by another program, or the machine has "
                "not this address",
                "choose another load.port, or leave it out for any free one; load.address is an address of "
                "the server's machine",
            )
        return opening.port
    for _ in range(_TRIES):
        port = secrets.choice(_PORTS)
        if _is_free(host, opening.address, port):
            return port
    raise ServerError(
        f"no port could be opened on {opening.address}",
        "load.address is an address of the server's machine: see `ip address`",
    )


def _is_free(host: Host, address: str, port: int) -> bool:
    """Here it is tried; on another machine the server itself reports an address that the machine has not."""
    if host.work_folder is not None:
        tables = [host.read_text(table) for table in _TABLES]
        if tables[0] is None:
            raise HostError(f"{host.name}: {_TABLES[0]} cannot be read")
        return not listens_on(port, *tables)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        # The server sets the same option, so a connection that lingers in TIME_WAIT stops neither.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
            probe.listen()
        except OSError:
            return False
    return True
