"""Where the pages are served, and by which names a browser may reach them."""

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from mydyno.core.errors import UsageError

DEFAULT = "127.0.0.1:8080"
_HINT = f"--listen ADDRESS:PORT, as {DEFAULT}; port 0 takes a free one"

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True)
class Listen:
    """An address of this machine and a port; port 0 is any free one."""

    address: Address
    port: int

    @property
    def loopback(self) -> bool:
        return self.address.is_loopback

    @property
    def host(self) -> str:
        """As it is written in a URL: `127.0.0.1:8080`, `[::1]:8080`."""
        return f"{_literal(self.address)}:{self.port}"


def parse_listen(text: str) -> Listen:
    """`127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `:8080`, `8080`. Raises UsageError."""
    name, _, port = text.rpartition(":")
    bracketed = name.startswith("[") and name.endswith("]")
    if not port.isascii() or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"--listen {text}: {port or 'nothing'} is not a port", _HINT)
    try:
        if (":" in name) != bracketed:
            raise ValueError("an IPv6 address is in brackets")
        address = ipaddress.ip_address("127.0.0.1" if name in ("", "localhost") else name.strip("[]"))
    except ValueError as error:
        raise UsageError(f"--listen {text}: {name} is not an IP address", _HINT) from error
    return Listen(address, int(port))


def bind(listen: Listen) -> tuple[socket.socket, Listen]:
    """A socket that listens there, and where that is. Raises UsageError."""
    family = socket.AF_INET6 if listen.address.version == 6 else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((str(listen.address), listen.port))
        bound.listen(256)
    except OSError as error:
        bound.close()
        raise UsageError(f"cannot listen on {listen.host}: {error.strerror}", _HINT) from error
    return bound, Listen(listen.address, bound.getsockname()[1])


@dataclass(frozen=True)
class Names:
    """The Host headers that are answered.

    A page of an attacker may have its name resolve to this machine (DNS rebinding): its requests come with
    that name, and are refused. Numbers cannot be rebound.
    """

    listen: Listen
    more: Sequence[str] = ()
    """Names behind a reverse proxy, as `lab.example.org` or `lab.example.org:8443`."""

    def answer(self, host: str) -> bool:
        name, port = _divided(host.lower())
        if any(host.lower() == one or name == one for one in map(str.lower, self.more)):
            return True
        if port != self.listen.port:
            return False
        try:
            address = ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return name == "localhost" and (self.listen.loopback or self.listen.address.is_unspecified)
        if self.listen.address.is_unspecified:
            return True
        return address.is_loopback if self.listen.loopback else address == self.listen.address


def _divided(host: str) -> tuple[str, int | None]:
    """A Host header as name and port; 80 where none is given, None where it is not a number."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        return host, 80
    return name, int(port) if port.isascii() and port.isdecimal() and len(port) <= 5 else None


def _literal(address: Address) -> str:
    return f"[{address}]" if address.version == 6 else str(address)
