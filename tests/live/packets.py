"""Files of packets as tcpdump writes them, of what clients and servers send each other."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

CLIENT, SERVER = (bytes([127, 0, 0, 1]), 40000), (bytes([127, 0, 0, 1]), 3306)
_RAW_IP = 101
_ACK = 16
_MOST = 1400
"""Bytes of a segment."""


@dataclass(frozen=True)
class Sent:
    """Bytes that one side of a connection has sent at a moment."""

    us: int
    """Microseconds since 1970."""
    connection: int
    by_client: bool
    data: bytes


def pcap(commands: Sequence[bytes]) -> bytes:
    """Commands of one client, each of which the server answers with OK."""
    sent = []
    for place, command in enumerate(commands):
        at = 1_795_316_400_000_000 + place * 1000
        sent.append(Sent(at, 0, True, _packet(0, command)))
        sent.append(Sent(at + 500, 0, False, _packet(1, b"\0\0\0\2\0\0\0")))
    return pcap_of(sent)


def pcap_of(sent: Iterable[Sent], *, whole: bool = False) -> bytes:
    """A pcap file of raw IP packets. `whole`: each connection begins with a handshake of TCP."""
    numbers: dict[tuple[int, bool], int] = {}
    file = bytearray(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, _RAW_IP))
    for each in sent:
        if whole and (each.connection, True) not in numbers:
            for by_client, flags in ((True, 2), (False, 18)):
                numbers[each.connection, by_client] = 1
                first = Sent(each.us, each.connection, by_client, b"")
                file += _record(first.us, _segment(first, 0, flags))
        for at in range(0, len(each.data), _MOST):
            data = each.data[at : at + _MOST]
            key = (each.connection, each.by_client)
            number = numbers.get(key, 1)
            numbers[key] = number + len(data)
            file += _record(each.us, _segment(each, number, _ACK, data))
    return bytes(file)


@contextmanager
def recorded(server: Path) -> Iterator[tuple[int, list[Sent]]]:
    """A port of this machine that leads to the socket of a server, and what is sent through it.

    Complete once the block has ended; clients have closed their connections by then.
    """
    sent: list[Sent] = []
    pumps: list[threading.Thread] = []
    lock = threading.Lock()

    def pump(source: socket.socket, target: socket.socket, connection: int, by_client: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                with lock:
                    # Recorded before it is passed on: an answer comes behind its question.
                    sent.append(Sent(time.time_ns() // 1000, connection, by_client, data))
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def serve(listener: socket.socket) -> None:
        connections = 0
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                behind = socket.socket(socket.AF_UNIX)
                behind.connect(str(server))
                for pair, by_client in (((client, behind), True), ((behind, client), False)):
                    pumps.append(
                        threading.Thread(target=pump, args=(*pair, connections, by_client), daemon=True)
                    )
                    pumps[-1].start()
                connections += 1

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        yield listener.getsockname()[1], sent
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        for each in pumps:
            each.join(60)


def _record(us: int, packet: bytes) -> bytes:
    seconds, us = divmod(us, 1_000_000)
    return struct.pack("<IIII", seconds, us, len(packet), len(packet)) + packet


def _packet(number: int, payload: bytes) -> bytes:
    return struct.pack("<I", len(payload))[:3] + bytes([number]) + payload


def _segment(sent: Sent, number: int, flags: int, data: bytes = b"") -> bytes:
    client, server = (CLIENT[0], CLIENT[1] + sent.connection), SERVER
    source, target = (client, server) if sent.by_client else (server, client)
    tcp = struct.pack(">HHIIBBHHH", source[1], target[1], number, 0, 0x50, flags, 0xFFFF, 0, 0) + data
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0)
    return head + source[0] + target[0] + tcp
