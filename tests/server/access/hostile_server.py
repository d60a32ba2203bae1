"""A server that does everything wrong that a client must live through: a thread on 127.0.0.1 that speaks the
protocol up to a point, and there does what one of `MODES` says.

Source of the packets: MySQL Internals, "Client/Server Protocol".
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import repeat

SALT = b"12345678abcdefghijkl"
OK = b"\0\0\0\2\0\0\0"
EOF = b"\xfe\0\0\2\0"
ACCESS_DENIED = b"\xff\x15\x04#28000Access denied"
_CAPABILITIES = 0x000FF7FF & ~0x800 | 0x200000  # No TLS.
_TEXT, _NUMBER = 0xFD, 0x08
VARIABLES = {
    "version": "8.0.40",
    "version_comment": "MySQL Community Server",
    "socket": "/nowhere.sock",
    "hostname": "db1",
    "datadir": "/var/lib/mysql/",
    "slow_query_log_file": "slow.log",
    "performance_schema": "ON",
    "performance_schema_digests_size": "10000",
    "long_query_time": "10.000000",
    "innodb_buffer_pool_size": "134217728",
    "max_connections": "151",
}


class GoneError(Exception):
    """The client has closed the connection."""


@dataclass
class Client:
    """One connection as the server sees it."""

    stream: socket.socket
    sequence: int = 0

    def send(self, payload: bytes, sequence: int | None = None) -> None:
        """One packet."""
        number = self.sequence if sequence is None else sequence
        self.raw(struct.pack("<I", len(payload))[:3] + bytes([number % 256]) + payload)
        self.sequence = number + 1

    def raw(self, data: bytes) -> None:
        try:
            self.stream.sendall(data)
        except OSError:
            raise GoneError from None

    def read(self) -> bytes:
        header = self._exactly(4)
        self.sequence = header[3] + 1
        return self._exactly(int.from_bytes(header[:3], "little"))

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            try:
                part = self.stream.recv(count - len(data))
            except OSError:
                raise GoneError from None
            if not part:
                raise GoneError
            data += part
        return data

    def wait(self) -> None:
        """Says nothing more, until the client has gone."""
        while True:
            self._exactly(1)

    def drip(self, data: bytes) -> None:
        """A byte each fifth of a second."""
        for byte in data:
            self.raw(bytes([byte]))
            time.sleep(0.2)


def text(value: bytes | None) -> bytes:
    if value is None:
        return b"\xfb"
    length = len(value)
    if length < 251:
        return bytes([length]) + value
    return (
        b"\xfc" + struct.pack("<H", length) if length < 65536 else b"\xfe" + struct.pack("<Q", length)
    ) + value


def column(name: str, kind: int = _TEXT, charset: int = 45) -> bytes:
    names = b"".join(map(text, (b"def", b"", b"t", b"t", name.encode(), name.encode())))
    return names + b"\x0c" + struct.pack("<HIBHBxx", charset, 1020, kind, 0, 0)


def table(
    client: Client, rows: Sequence[Sequence[bytes | None]], *, kind: int = _TEXT, charset: int = 45
) -> None:
    """A whole answer; its columns are those of the first row."""
    client.send(bytes([len(rows[0])]))
    for number in range(len(rows[0])):
        client.send(column(f"c{number}", kind, charset))
    client.send(EOF)
    for row in rows:
        client.send(b"".join(map(text, row)))
    client.send(EOF)


def greeting(
    *,
    protocol: int = 10,
    plugin: bytes = b"mysql_native_password",
    charset: int = 45,
    version: bytes = b"8.0.40",
) -> bytes:
    low, high = struct.pack("<H", _CAPABILITIES & 0xFFFF), struct.pack("<H", _CAPABILITIES >> 16)
    return (
        bytes([protocol]) + version + b"\0" + struct.pack("<I", 7) + SALT[:8] + b"\0" + low
        + bytes([charset]) + b"\2\0" + high + b"\x15" + b"\0" * 10 + SALT[8:] + b"\0" + plugin + b"\0"
    )  # fmt: skip


Act = Callable[[Client], None]


@dataclass(frozen=True)
class Mode:
    """Where the server leaves the protocol: what it does in place of one of these, None: as it should."""

    greets: Act | None = None
    authenticates: Act | None = None
    answers: Act | None = None
    slow: bool = False
    """Whether only the deadline ends it."""


def _then(*payloads: bytes) -> Act:
    def act(client: Client) -> None:
        for payload in payloads:
            client.send(payload)
        client.wait()

    return act


def _packets(*payloads: bytes) -> Act:
    """An answer, after which the next statement is heard."""

    def act(client: Client) -> None:
        for payload in payloads:
            client.send(payload)

    return act


def _cut(data: bytes) -> Act:
    def act(client: Client) -> None:
        client.raw(data)
        client.stream.shutdown(socket.SHUT_RDWR)
        raise GoneError

    return act


def _silent(client: Client) -> None:
    client.wait()


def _drip(data: bytes) -> Act:
    return lambda client: client.drip(data)


def _chain(client: Client) -> None:
    """Packets of the greatest length, each of which says that the next belongs to it."""
    part = b"x" * 0xFFFFFF
    for number in range(200):
        client.raw(b"\xff\xff\xff" + bytes([(client.sequence + number) % 256]) + part)


def _endless(packet: bytes, *before: bytes) -> Act:
    def act(client: Client) -> None:
        for payload in before:
            client.send(payload)
        while True:
            many = b"".join(
                struct.pack("<I", len(packet))[:3] + bytes([(client.sequence + number) % 256]) + packet
                for number in range(256)
            )
            client.raw(many)

    return act


def _answer(*rows: Sequence[bytes | None], kind: int = _TEXT, charset: int = 45) -> Act:
    return lambda client: table(client, rows, kind=kind, charset=charset)


def _long_error(client: Client) -> None:
    whole = b"\xff\x15\x04#28000" + b"A" * (40 * 2**20)
    for number, start in enumerate(range(0, len(whole), 0xFFFFFF)):
        part = whole[start : start + 0xFFFFFF]
        client.raw(struct.pack("<I", len(part))[:3] + bytes([client.sequence + number]) + part)


def _switches(client: Client) -> None:
    while True:
        client.send(b"\xfemysql_native_password\0" + SALT + b"\0")
        client.read()


def _switch(plugin: bytes, *more: bytes) -> Act:
    def act(client: Client) -> None:
        client.send(b"\xfe" + plugin + b"\0" + SALT + b"\0")
        client.read()
        for payload in more:
            client.send(payload)
            client.read()
        client.send(OK)
        client.wait()

    return act


def _parsec(salted: bytes) -> Act:
    def act(client: Client) -> None:
        client.send(b"\xfeparsec\0" + b"r" * 32)
        client.read()
        client.send(salted)
        client.read()
        client.send(OK)
        client.wait()

    return act


_ONE = (b"\1", column("c0"), EOF)
_HUGE = b"\xfe" + b"\xff" * 8

MODES: dict[str, Mode] = {
    "silent after connect": Mode(greets=_silent, slow=True),
    "greeting cut": Mode(greets=_cut(b"\x4a\0\0\0\x0a8.0")),
    "greeting empty": Mode(greets=_then(b"")),
    "greeting of one byte": Mode(greets=_then(b"\x0a")),
    "greeting without version's end": Mode(greets=_then(b"\x0a" + b"8" * 200), slow=True),
    "protocol 9": Mode(greets=_then(greeting(protocol=9))),
    "version that is no number": Mode(greets=_then(greeting(version=b"\xff\xfe;rm"))),
    "unknown character set": Mode(greets=lambda client: client.send(greeting(charset=254))),
    "greeting by the byte": Mode(greets=_drip(b"\x4a\0\0\0" + greeting() * 9), slow=True),
    "greeting of 3 GB": Mode(greets=_chain),
    "HTTP": Mode(greets=_cut(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")),
    "too many connections": Mode(greets=_cut(b"\x17\0\0\0\xff\x10\x04#08004Too many conns")),
    "error without text": Mode(greets=_then(b"\xff\x15")),
    "error of blanks": Mode(authenticates=_then(b"\xff\x15\x04#28000\n\n\n")),
    "silent after the greeting": Mode(authenticates=_silent, slow=True),
    "access denied": Mode(authenticates=_then(ACCESS_DENIED)),
    "access denied in 40 MB": Mode(authenticates=_long_error),
    "access denied in escape codes": Mode(authenticates=_then(b"\xff\x15\x04#28000\x1b[2J\x1b]0;x\7\x9b31m")),
    "endless authentication switches": Mode(authenticates=_switches),
    "unknown plugin": Mode(authenticates=_switch(b"\x1b[31mplugin")),
    "switch without a plugin": Mode(authenticates=_then(b"\xfe")),
    "clear text": Mode(authenticates=_switch(b"mysql_clear_password")),
    "dialog": Mode(authenticates=_switch(b"dialog", b"\2Password: ")),
    "sha256 with its own key": Mode(authenticates=_switch(b"sha256_password", b"\1-----BEGIN")),
    "caching_sha2 wants all": Mode(authenticates=_switch(b"caching_sha2_password", b"\1\4")),
    "caching_sha2 says 9": Mode(authenticates=_switch(b"caching_sha2_password", b"\1\x09")),
    "ed25519 with a short salt": Mode(authenticates=_then(b"\xfeclient_ed25519\0"), slow=True),
    "parsec with a short random": Mode(authenticates=_switch(b"parsec", b"P\0" + b"s" * 18)),
    "parsec of 2^255 iterations": Mode(authenticates=_parsec(b"P\xff" + b"s" * 18)),
    "parsec of another function": Mode(authenticates=_parsec(b"X\0" + b"s" * 18)),
    "parsec without a salt": Mode(authenticates=_parsec(b"P\0")),
    "more data for native": Mode(authenticates=_then(b"\1\4")),
    "authentication by the byte": Mode(authenticates=_drip(b"\xff\0\0\2" + b"\0" * 300), slow=True),
    "silent after authentication": Mode(answers=_silent, slow=True),
    "closed": Mode(answers=_cut(b"")),
    "wrong sequence": Mode(answers=lambda client: client.send(OK, sequence=77)),
    "sequence 0": Mode(answers=lambda client: client.send(OK, sequence=0)),
    "empty packet": Mode(answers=_then(b"")),
    "answer of 3 GB": Mode(answers=_chain),
    "answer by the byte": Mode(answers=_drip(b"\1\0\0\1\1" + b"\x40\0\0\2" * 99), slow=True),
    "columns beyond number": Mode(answers=_endless(column("c"), _HUGE)),
    "columns NULL": Mode(answers=_then(b"\xfb/etc/passwd")),
    "endless columns": Mode(answers=_endless(column("c"), b"\xfc\xff\x0f")),
    "column cut": Mode(answers=_then(b"\1", column("c")[:9], EOF, EOF)),
    "column of NULLs": Mode(answers=_then(b"\1", b"\xfb" * 20, EOF, EOF)),
    "column with a huge length": Mode(answers=_then(b"\1", _HUGE + b"x", EOF, EOF)),
    "columns without an end": Mode(answers=_then(b"\1", column("c"), column("d"), EOF)),
    "endless rows": Mode(answers=_endless(text(b"v" * 1000), *_ONE)),
    "endless empty rows": Mode(answers=_endless(text(None), *_ONE), slow=True),
    "row with a huge length": Mode(answers=_then(*_ONE, _HUGE + b"x", EOF)),
    "row that grows in memory": Mode(answers=_packets(*_ONE, text("😀".encode() + b"a" * (15 * 2**20)), EOF)),
    "row too short": Mode(answers=_then(b"\2", column("a"), column("b"), EOF, text(b"v"), EOF)),
    "silent in a row": Mode(answers=_then(*_ONE, text(b"v")), slow=True),
    "NULL everywhere": Mode(answers=_answer([None] * 2)),
    "one NULL": Mode(answers=_answer([None])),
    "text for numbers": Mode(answers=_answer([b"x", b"y"], kind=_NUMBER)),
    "numbers without end": Mode(answers=_answer([b"9" * 5000, b"9" * 5000], kind=_NUMBER)),
    "no UTF-8": Mode(answers=_answer([b"\xff\xfe", b"\xff"])),
    "binary text": Mode(answers=_answer([b"\xff\xfe", b"\xff"], charset=63)),
    "no rows": Mode(answers=_packets(*_ONE, EOF)),
    "answer without columns": Mode(answers=lambda client: client.send(OK)),
    "many columns": Mode(answers=_answer([b"1"] * 40)),
    "EOF for an answer": Mode(answers=_then(EOF)),
    "more and more results": Mode(answers=_endless(b"\0\0\0\x0a\0\0\0")),
    "OK with a huge number": Mode(answers=_then(b"\0" + _HUGE + _HUGE)),
    "error without a number": Mode(answers=_then(b"\xff")),
    "error without a state": Mode(answers=_then(b"\xff\x28\x04")),
    "error with a wild state": Mode(answers=_then(b"\xff\x28\x04#\xff\xff\xff\xff\xffx")),
}  # fmt: skip


def refusal(version: str, error: str) -> Mode:
    """Greets as a server of this version, and refuses everybody with this error."""
    refused = b"\xff\x15\x04#28000" + error.encode()
    return Mode(lambda client: client.send(greeting(version=version.encode())), _then(refused))


@dataclass
class HostileServer:
    port: int
    mode: Mode
    good_answers: int
    """So many statements are answered as a server would, before `mode.answers`."""
    heard: list[bytes] = field(default_factory=list)
    """What clients sent, a packet each."""

    def serve(self, stream: socket.socket) -> None:
        client = Client(stream)
        try:
            self._speak(client)
        except GoneError:
            pass
        finally:
            stream.close()

    def _speak(self, client: Client) -> None:
        if self.mode.greets:
            self.mode.greets(client)
        else:
            client.send(greeting())
        self.heard.append(client.read())
        if self.mode.authenticates:
            self.mode.authenticates(client)
        else:
            client.send(OK)
        for left in repeat(None):
            del left
            statement = client.read()
            self.heard.append(statement)
            client.sequence = 1
            if statement[:1] == b"\x01":
                raise GoneError
            if statement[1:4] in (b"SET", b"set") and b"GLOBAL" not in statement:
                client.send(OK)
            elif self.good_answers > 0 or self.mode.answers is None:
                self.good_answers -= 1
                _plausible(client, statement)
            else:
                self.mode.answers(client)


def _plausible(client: Client, statement: bytes) -> None:
    if b"VARIABLES" in statement:
        table(client, [(name.encode(), value.encode()) for name, value in VARIABLES.items()])
    elif b"STATUS" in statement:
        table(client, [(b"Questions", b"100"), (b"Threads_running", b"1"), (b"Uptime", b"1000")])
    elif b"CURRENT_USER" in statement:
        table(client, [(b"root@localhost",)])
    elif statement[1:4] == b"SET" and b"(1, 2)" not in statement:
        client.send(OK)
    elif statement[1:4] == b"SET":
        client.send(b"\xff\xd0\x04#42000Incorrect argument type to variable")
    else:
        table(client, [(b"1",)], kind=_NUMBER)


@contextmanager
def hostile_server(mode: Mode, good_answers: int = 0) -> Iterator[HostileServer]:
    """Listens on a port of 127.0.0.1 until the end; each connection gets the mode."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = HostileServer(listener.getsockname()[1], mode, good_answers)

        def accept() -> None:
            while True:
                try:
                    stream, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=server.serve, args=(stream,), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
