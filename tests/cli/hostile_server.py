"""A server on 127.0.0.1 that greets and refuses: a thread that speaks so much of the MySQL protocol.

Source: MySQL Internals, "Protocol::HandshakeV10" and "ERR_Packet".
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

_CAPABILITIES = 0x000FF7FF
_ACCESS_DENIED = 1045


@contextmanager
def refusing_server(version: str, error: str) -> Iterator[int]:
    """Its port. Every client is greeted with `version` and refused with the message `error`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=_serve, args=(listener, version, error), daemon=True).start()
        yield listener.getsockname()[1]


def _serve(listener: socket.socket, version: str, error: str) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        with client:
            try:
                client.sendall(_packet(0, _greeting(version)))
                client.recv(65536)
                client.sendall(_packet(2, _refusal(error)))
            except OSError:
                continue


def _packet(number: int, content: bytes) -> bytes:
    return len(content).to_bytes(3, "little") + bytes([number]) + content


def _greeting(version: str) -> bytes:
    low, high = _CAPABILITIES & 0xFFFF, _CAPABILITIES >> 16
    return (
        b"\x0a"
        + version.encode()
        + b"\0"
        + struct.pack("<I8sxHBHHB10x", 1, b"a" * 8, low, 45, 2, high, 21)
        + b"b" * 12
        + b"\0mysql_native_password\0"
    )


def _refusal(error: str) -> bytes:
    return b"\xff" + struct.pack("<H", _ACCESS_DENIED) + b"#28000" + error.encode()
