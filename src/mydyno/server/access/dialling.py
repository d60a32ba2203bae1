"""A stream to where a server listens, within the time that is left."""

import socket
from collections.abc import Callable
from pathlib import Path

from mydyno.server.access.dbapi import CR, OperationalError


def dial(address: Path | tuple[str, int], seconds_left: Callable[[], float]) -> socket.socket:
    """A connected stream: to a unix socket, or to the first address of the host that answers.

    Raises OperationalError, and what `seconds_left` raises when nothing is left.
    """
    if isinstance(address, Path):
        return _connected(socket.AF_UNIX, str(address), seconds_left(), CR.CR_CONNECTION_ERROR, str(address))
    host, port = address
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise OperationalError(CR.CR_UNKNOWN_HOST, f"{host} has no address: {error}") from error
    failure: OperationalError | None = None
    for family, _, _, _, place in addresses:
        try:
            stream = _connected(family, place, seconds_left(), CR.CR_CONN_HOST_ERROR, f"{host}:{port}")
        except OperationalError as error:
            if error.args[0] != CR.CR_CONN_HOST_ERROR:
                raise
            failure = error
            continue
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return stream
    raise failure or OperationalError(CR.CR_UNKNOWN_HOST, f"{host} has no address")


def _connected(family: int, place: object, seconds: float, number: int, name: str) -> socket.socket:
    stream = socket.socket(family, socket.SOCK_STREAM)
    try:
        stream.settimeout(seconds)
        stream.connect(place)  # type: ignore[arg-type]
    except OSError as error:
        stream.close()
        why = f"no answer within {seconds:.0f} s" if isinstance(error, TimeoutError) else error.strerror
        raise OperationalError(number, f"cannot connect to {name}: {why or error}") from error
    except BaseException:
        stream.close()
        raise
    return stream
