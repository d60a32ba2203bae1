"""What real servers said to a session, and changed copies of it.

    python -m server.access.conversations SOCKET USER PASSWORD_FILE FILE

has a session with the server of a unix socket, as the recordings in `golden/conversations` were made, and
writes what the server said to FILE, byte for byte.
"""

from __future__ import annotations

import random
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mydyno.server.access.client import BoundedConnection
from mydyno.server.access.transport import SslMode, Transport

RECORDINGS = Path(__file__).parent / "golden" / "conversations"
STATEMENTS = (
    "SHOW GLOBAL VARIABLES LIKE 'innodb_b%'",
    "SELECT 1, -1, 1.5, 1e308, NULL, 'é', x'00ff', b'101', DATE'2026-01-02', TIME'-11:22:33', NOW(6)",
    "SELECT",
    "SHOW GLOBAL STATUS LIKE 'Com_s%'",
    "SET SESSION long_query_time = 1",
)
UNBUFFERED = 3
"""The statement whose rows are read one by one."""
_LENGTHS = (b"\xfb", b"\xfc\xff\xff", b"\xfd\xff\xff\xff", b"\xfe" + b"\xff" * 8, b"\xfe", b"\xff", b"\0")
_BYTES = (*_LENGTHS, b"\1\4", b"\xff\x15\x04#28000", b"\xed\xa0\x80", b"9" * 5000, b"\x1b[2J", b"\n")


@dataclass(frozen=True)
class Packet:
    number: int
    payload: bytes

    def __bytes__(self) -> bytes:
        return struct.pack("<I", len(self.payload))[:3] + bytes([self.number % 256]) + self.payload


def recordings() -> list[list[Packet]]:
    return [_packets(path.read_bytes()) for path in sorted(RECORDINGS.glob("*.bin"))]


def hold(connection: BoundedConnection, stream: socket.socket) -> list[object]:
    """A session over the stream with all statements; the rows that it brought. Raises pymysql.Error."""
    import pymysql
    from pymysql.cursors import SSCursor

    rows: list[object] = []
    connection.connect(stream)
    with connection:
        for number, statement in enumerate(STATEMENTS):
            with connection.cursor(SSCursor if number == UNBUFFERED else None) as cursor:
                try:
                    cursor.execute(statement)
                    rows += cursor.fetchall()
                except pymysql.ProgrammingError:
                    pass  # One of them is no statement.
    return rows


def mutations(seconds: float, seed: int = 1) -> Iterator[bytes]:
    """Changed copies of the recordings for so long, the same ones every time."""
    chance = random.Random(seed)
    known = recordings()
    every = [packet.payload for each in known for packet in each]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        packets = list(chance.choice(known))
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            _change(packets, every, chance)
        if chance.random() < 0.8:
            packets = _renumbered(packets)
        data = b"".join(map(bytes, packets))
        yield _in_bytes(data, chance) if chance.random() < 0.1 else data


def _change(packets: list[Packet], every: Sequence[bytes], chance: random.Random) -> None:
    """One packet is another, is there twice, or is not there."""
    if not packets:
        return
    # Half of all changes are in the handshake: a result has many more packets.
    at = chance.randrange(len(packets) if chance.random() < 0.5 else min(4, len(packets)))
    packet = packets[at]
    match chance.randrange(8):
        case 0:
            del packets[at]
        case 1:
            packets[at:at] = [packet] * chance.choice((1, 1, 300))
        case 2:
            packets[at] = Packet(packet.number, chance.choice(every))
        case 3:
            packets[at] = Packet(chance.randrange(256), packet.payload)
        case _:
            packets[at] = Packet(packet.number, _in_bytes(packet.payload, chance))


def _renumbered(packets: Sequence[Packet]) -> list[Packet]:
    """The numbers of each answer follow each other again."""
    done: list[Packet] = []
    before, number = 256, 0
    for packet in packets:
        # In the handshake the client speaks between the packets, so that two numbers belong to one.
        step = 2 if packet.number == before + 2 else 1
        number = packet.number if packet.number <= before else number + step
        before = packet.number
        done.append(Packet(number, packet.payload))
    return done


def _in_bytes(data: bytes, chance: random.Random) -> bytes:
    start = chance.randint(0, min(len(data), chance.choice((1, 40, len(data)))))
    end = min(len(data), start + chance.choice((0, 1, 1, 2, 8, 50)))
    match chance.randrange(5):
        case 0:
            return data[:start]
        case 1:
            return data[:start] + data[end:]
        case 2:
            return data[:end] + data[start:]
        case 3:
            return data[:start] + bytes(chance.randrange(256) for _ in range(end - start)) + data[end:]
        case _:
            return data[:start] + chance.choice(_BYTES) + data[end:]


def _packets(data: bytes) -> list[Packet]:
    found = []
    while data:
        end = 4 + int.from_bytes(data[:3], "little")
        found.append(Packet(data[3], data[4:end]))
        data = data[end:]
    return found


def record(server: Path, user: str, password: bytes) -> bytes:
    """What the server says in such a session."""
    ours, theirs = socket.socketpair()
    said = bytearray()
    with ours, theirs, socket.socket(socket.AF_UNIX) as upstream:
        upstream.connect(str(server))

        def listen() -> None:
            while data := upstream.recv(65536):
                said.extend(data)
                theirs.sendall(data)

        def speak() -> None:
            while data := theirs.recv(65536):
                upstream.sendall(data)
            upstream.shutdown(socket.SHUT_RDWR)

        threads = [threading.Thread(target=each) for each in (listen, speak)]
        for thread in threads:
            thread.start()
        hold(BoundedConnection(server, user=user, password=password), ours)
        for thread in threads:
            thread.join()
    return bytes(said)


def replayed(data: bytes, connection: BoundedConnection) -> list[object]:
    """The session with a server that says this, whatever it hears, and goes."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setblocking(False)  # What does not fit into the buffer is not said.
        try:
            theirs.send(data)
        finally:
            theirs.shutdown(socket.SHUT_WR)
        return hold(connection, ours)


def connections(password: bytes, public_key: bytes) -> list[BoundedConnection]:
    """Over a unix socket, over plain TCP, and over plain TCP with the server's key."""
    plain = Transport(SslMode.DISABLED)
    with_key = Transport(SslMode.DISABLED, public_key=public_key)
    tcp = ("127.0.0.1", 1)
    return [
        BoundedConnection(Path("/nowhere.sock"), user="u", password=password),
        BoundedConnection(tcp, user="u", password=password, transport=plain),
        BoundedConnection(tcp, user="u", password=password, transport=with_key),
    ]


if __name__ == "__main__":
    place, account, word, target = sys.argv[1:]
    Path(target).write_bytes(record(Path(place), account, Path(word).read_bytes().strip()))
