"""A proxy between clients and a real server that behaves as ProxySQL documents, for tests.

It greets with a version, a number of the connection and a certificate of its own. A few connections to the
server serve all clients: each statement takes the one that has waited longest, unless a transaction is open
or a SET was sent. Prepared statements are the proxy's, and are prepared on a connection of the server when
they first run there. LOAD DATA LOCAL is refused.

Sources: ProxySQL documentation, "Multiplexing", "Prepared Statements"; its issues 833 and 3500.
"""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from queue import SimpleQueue

import pymysql

from mydyno.lab.stack import RunningServer

QUIT, INIT_DB, QUERY, PING, PREPARE, EXECUTE, CLOSE, RESET = 1, 2, 3, 14, 22, 23, 25, 26
OK = b"\0\0\0\2\0\0\0"
_SSL, _IN_TRANSACTION = 0x800, 1
# LONG_PASSWORD, CONNECT_WITH_DB, PROTOCOL_41, SSL, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH
_CAPABILITIES = 0x1 | 0x8 | 0x200 | _SSL | 0x2000 | 0x8000 | 0x80000
_NONCE = b"abcdefghijklmnopqrst"


def receive(stream: socket.socket) -> tuple[int, bytes]:
    """The number and the payload of the next packet. Raises EOFError."""

    def exactly(length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            if not (part := stream.recv(length - len(data))):
                raise EOFError
            data += part
        return bytes(data)

    head = exactly(4)
    return head[3], exactly(int.from_bytes(head[:3], "little"))


def send(stream: socket.socket, number: int, payload: bytes) -> None:
    stream.sendall(len(payload).to_bytes(3, "little") + bytes([number % 256]) + payload)


def refusal(text: str) -> bytes:
    """An error packet, 1047 (08S01)."""
    return b"\xff" + struct.pack("<H", 1047) + b"#08S01" + text.encode()


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A length-encoded number, and where it ends."""
    width = {0xFC: 2, 0xFD: 3, 0xFE: 8}.get(data[at], 0)
    return (
        (int.from_bytes(data[at + 1 : at + 1 + width], "little"), at + 1 + width)
        if width
        else (data[at], at + 1)
    )


def _status(payload: bytes) -> int:
    """Of an OK or EOF packet; 0 of an error."""
    if payload[0] == 0:
        at = _number(payload, _number(payload, 1)[1])[1]
        return int.from_bytes(payload[at : at + 2], "little")
    return 0 if payload[0] == 0xFF else int.from_bytes(payload[3:5], "little")


def _is_end(payload: bytes) -> bool:
    return payload[0] == 0xFF or (payload[0] == 0xFE and len(payload) < 9)


@dataclass(frozen=True)
class Prepared:
    number: int
    parameters: int
    answer: tuple[bytes, ...]
    """The server's packets."""


@dataclass(eq=False)
class Behind:
    """A connection to the server."""

    login: pymysql.Connection
    database: bytes = b""
    in_transaction: bool = False
    is_set: bool = False
    """A SET was sent: it stays with its client."""
    statements: dict[bytes, Prepared] = field(default_factory=dict)
    """Those that were prepared here, by their SQL."""

    @property
    def stream(self) -> socket.socket:
        return self.login._sock  # type: ignore[attr-defined,no-any-return]

    def run(self, command: bytes, client: socket.socket | None) -> int:
        """Sends a command and passes its answer on; returns the status at its end."""
        send(self.stream, 0, command)

        def take() -> bytes:
            number, payload = receive(self.stream)
            if client is not None:
                send(client, number, payload)
            return payload

        first = take()
        if first[0] in (0, 0xFF):
            return _status(first)
        for _ in range(2):  # Definitions, then rows.
            while not _is_end(payload := take()):
                pass
            if payload[0] == 0xFF:
                break
        return _status(payload)

    def use(self, database: bytes) -> None:
        if database and database != self.database:
            self.run(bytes([INIT_DB]) + database, None)
            self.database = database

    def prepared(self, sql: bytes) -> Prepared | bytes:
        """The statement, or the server's error."""
        if sql not in self.statements:
            send(self.stream, 0, bytes([PREPARE]) + sql)
            _, first = receive(self.stream)
            if first[0] == 0xFF:
                return first
            number, columns, parameters = struct.unpack("<IHH", first[1:9])
            more = sum(each + 1 for each in (parameters, columns) if each)
            answer = (first, *(receive(self.stream)[1] for _ in range(more)))
            self.statements[sql] = Prepared(number, parameters, answer)
        return self.statements[sql]


def _ours(first: bytes, number: int) -> bytes:
    """The beginning of the answer to PREPARE with another number."""
    return first[:1] + struct.pack("<I", number) + first[5:]


class Proxy:
    def __init__(self, server: RunningServer, certificates: Path, connections: int) -> None:
        self._server = server
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(certificates / "ca-server.pem", certificates / "ca-server-key.pem")
        self._idle: SimpleQueue[Behind] = SimpleQueue()
        for _ in range(connections):
            self._idle.put(self._dial())
        self._numbers = count(1000)
        self.refused = self.moved = self.encrypted = 0
        """Refused statements; statements that ran on another connection than the one before; TLS sessions."""

    def _dial(self) -> Behind:
        login = self._server.login.user, self._server.login.password.reveal()
        return Behind(
            pymysql.connect(
                user=login[0], password=login[1], unix_socket=str(self._server.socket), autocommit=True
            )
        )

    def _greet(self, client: socket.socket) -> tuple[socket.socket, bytes]:
        """The stream that follows, and the database."""
        low, high = struct.pack("<I", _CAPABILITIES)[:2], struct.pack("<I", _CAPABILITIES)[2:]
        head = (
            b"\x0a8.0.27\0" + struct.pack("<I", next(self._numbers)) + _NONCE[:8] + b"\0" + low + b"\x2d\2\0"
        )
        send(client, 0, head + high + b"\x15" + b"\0" * 10 + _NONCE[8:] + b"\0mysql_native_password\0")
        number, response = receive(client)
        if int.from_bytes(response[:4], "little") & _SSL:
            client = self._tls.wrap_socket(client, server_side=True)
            self.encrypted += 1
            number, response = receive(client)
        rest = response[32:].partition(b"\0")[2]
        database = rest[1 + rest[0] :].partition(b"\0")[0] if response[0] & 8 else b""
        send(client, number + 1, OK)
        return client, database

    def serve(self, client: socket.socket) -> None:
        held: Behind | None = None
        last: Behind | None = None
        statements: dict[int, tuple[bytes, bytes]] = {}  # The proxy's number -> SQL, and types of parameters.
        try:
            client, database = self._greet(client)
            while True:
                _, command = receive(client)
                kind, body = command[0], command[1:]
                if kind == QUIT:
                    return
                if kind == CLOSE:
                    statements.pop(int.from_bytes(body[:4], "little"), None)
                    continue
                if kind == QUERY and body.startswith(b"USE "):
                    kind, body = INIT_DB, body[4:].strip(b"` ;")
                if kind in (PING, INIT_DB, RESET):
                    database = body if kind == INIT_DB else database
                    send(client, 1, OK)
                    continue
                if kind == QUERY and b"LOAD DATA LOCAL" in body.upper():
                    self.refused += 1
                    send(client, 1, refusal("Unsupported 'LOAD DATA LOCAL INFILE' command"))
                    continue
                behind = held or self._idle.get()
                self.moved += last not in (None, behind)
                last = held = behind
                behind.use(database)
                status = 0
                if kind == PREPARE:
                    prepared = behind.prepared(body)
                    if isinstance(prepared, bytes):
                        send(client, 1, prepared)
                    else:
                        own = next(self._numbers)
                        statements[own] = body, b""
                        first, *more = prepared.answer
                        for place, packet in enumerate([_ours(first, own), *more], 1):
                            send(client, place, packet)
                    status = _IN_TRANSACTION * behind.in_transaction
                elif kind == EXECUTE:
                    own = int.from_bytes(body[:4], "little")
                    sql, types = statements[own]
                    prepared = behind.prepared(sql)
                    assert not isinstance(prepared, bytes), prepared
                    values = 9 + (prepared.parameters + 7) // 8
                    if prepared.parameters and body[values]:
                        types = body[values + 1 : values + 1 + 2 * prepared.parameters]
                        statements[own] = sql, types
                    elif prepared.parameters:
                        body = body[:values] + b"\1" + types + body[values + 1 :]
                    status = behind.run(
                        bytes([EXECUTE]) + struct.pack("<I", prepared.number) + body[4:], client
                    )
                else:
                    status = behind.run(command, client)
                behind.in_transaction = bool(status & _IN_TRANSACTION)
                behind.is_set = behind.is_set or (kind == QUERY and body.lstrip().upper().startswith(b"SET"))
                if not behind.in_transaction and not behind.is_set:
                    held = None
                    self._idle.put(behind)
        except (EOFError, OSError):
            pass
        finally:
            with suppress(OSError):
                client.close()
            if held is not None:
                held.login.close()
                self._idle.put(self._dial())


@contextmanager
def proxy(server: RunningServer, certificates: Path, connections: int) -> Iterator[tuple[Proxy, int]]:
    """One that listens on a port of this machine."""
    made = Proxy(server, certificates, connections)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    threading.Thread(target=made.serve, args=(client,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield made, listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
