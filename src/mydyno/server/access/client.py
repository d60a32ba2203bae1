"""A connection to a server that may be anybody: PyMySQL within bounds.

PyMySQL trusts a server: it reads what comes for as long as it comes, and ends in whatever exception its
parser meets. Here connecting and each statement have a deadline, an answer has a most, the password goes by
the policy of `transport`, and whatever a server does otherwise is an OperationalError of one line.

Source of the protocol: MySQL Internals, "Client/Server Protocol"; packets of PyMySQL 1.2.
"""

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mydyno.core.units import format_bytes
from mydyno.core.visible import one_line
from mydyno.server.access import parsec
from mydyno.server.access.answer import Answer, AnyPacket
from mydyno.server.access.dbapi import CR, Error, MysqlPacket, OperationalError
from mydyno.server.access.dialling import dial
from mydyno.server.access.pymysql_internals import Packet, Session
from mydyno.server.access.transport import Transport

CONNECT_SECONDS = 10.0
"""Until a session can be used: all of connecting, TLS, authentication and its first settings."""
PACKET_BYTES = 4 * 2**20
"""The most of one row or message."""
LONG_ROW_BYTES = 17 * 2**20
"""The most of one where an answer is read row by row: more than a MEDIUMTEXT, which is what a slow log's
statement is kept as."""
ANSWER_BYTES = 128 * 2**20
"""The most memory that the rows of one answer take; what is read row by row has it for each row."""
_AUTHENTICATION_BYTES = 2**20
_PACKET_COST = 64
_RESULT_COST = 65536
"""No statement of ours has more than one result, and a server may send them without end."""
_PROTOCOL = 10
_CHUNK = 65536
_TIMER_SECONDS = 0.1
"""How exact a deadline is: the socket's timeout is set again after so long."""

_PROVING = frozenset(
    {"mysql_native_password", "caching_sha2_password", "sha256_password", "client_ed25519", parsec.PLUGIN}
)
_REVEALING = frozenset({"mysql_clear_password", "dialog"})
"""Those that send the password itself."""

REFUSED = CR.CR_AUTH_PLUGIN_ERR
"""The number of an error by the policy of `transport`; the same as libmysqlclient's."""
BROKEN = CR.CR_MALFORMED_PACKET


class BoundedConnection(Session):
    """An autocommit session in utf8mb4. Raises Error, and nothing else, for whatever a server does.

    `address`: the path of a unix socket, or host and port. `connect` opens it; its `stream`, when given,
    is one that leads to such a socket.
    """

    def __init__(
        self,
        address: Path | tuple[str, int],
        *,
        user: str,
        password: bytes,
        database: str | None = None,
        transport: Transport | None = None,
        connect_seconds: float = CONNECT_SECONDS,
        answer_seconds: float = 30.0,
    ) -> None:
        transport = transport or Transport()
        self._address = address
        self._transport = transport
        self._connect_seconds, self._answer_seconds = connect_seconds, answer_seconds
        self._deadline = self._timer_set_at = 0.0
        self._seconds, self._most, self._spent, self._packet_spent = 0.0, 0, 0, 0
        self._most_of_packet = PACKET_BYTES
        self._is_connecting = False
        self._end: OperationalError | None = None
        """What ended the connection: for a caller that goes on after an error."""
        host, port = ("localhost", 0) if isinstance(address, Path) else address
        super().__init__(
            user=user,
            password=password,
            host=host,
            port=port,
            database=database,
            charset="utf8mb4",
            autocommit=True,
            ssl_disabled=True,
            auth_plugin_map={parsec.PLUGIN: lambda _: parsec.Parsec(self)},
            defer_connect=True,
        )
        context = transport.context(over_socket=isinstance(address, Path))
        # What PyMySQL's own options would set; they know no mode PREFERRED with a client certificate.
        self.ssl, self.ctx, self._ssl_required = context is not None, context, transport.requires_tls

    @property
    def is_private(self) -> bool:
        """Whether what is sent cannot be read on its way: a unix socket, or TLS that was verified."""
        if isinstance(self._address, Path):
            return True
        return isinstance(self._sock, ssl.SSLSocket) and self._transport.verifies

    # PyMySQL asks `_secure` before it sends a password in clear text, and sets it after any TLS.
    @property
    def _secure(self) -> bool:
        return self.is_private

    @_secure.setter
    def _secure(self, value: bool) -> None:
        pass

    # PyMySQL reads this before it asks the server for its key, and would put the server's answer there.
    @property
    def server_public_key(self) -> bytes | None:
        if not self.password:
            return None
        if isinstance(self._sock, ssl.SSLSocket):
            raise _refused("the server asks for the password, and its certificate was not checked")
        if self._transport.public_key is None:
            raise _refused("the server asks for the password over a connection that others can read")
        return self._transport.public_key

    @server_public_key.setter
    def server_public_key(self, value: bytes | None) -> None:
        pass

    def connect(self, sock: socket.socket | None = None) -> None:
        """Raises Error."""
        self._begin(self._connect_seconds, _AUTHENTICATION_BYTES)
        self._is_connecting = True
        self._read_timeout = self._write_timeout = None  # Every reading and writing sets its own.
        try:
            with self._speaking():
                super().connect(sock or dial(self._address, self._left))
        except OperationalError as error:
            cause = getattr(error, "original_exception", None)
            if isinstance(cause, TimeoutError):
                raise self._late() from error
            if isinstance(cause, ssl.SSLError):
                raise OperationalError(CR.CR_SSL_CONNECTION_ERROR, f"TLS: {one_line(str(cause))}") from error
            raise
        finally:
            self._is_connecting = False

    def query(self, sql: str | bytes, unbuffered: bool = False) -> int:
        with self._speaking():
            return super().query(sql, unbuffered)

    def next_result(self, unbuffered: bool = False) -> int:
        with self._speaking():
            self.spend(_RESULT_COST)
            return super().next_result(unbuffered)

    def _read_ok_packet(self) -> Any:
        with self._speaking():
            return super()._read_ok_packet()

    @contextmanager
    def reading_a_row(self) -> Iterator[None]:
        """A row of an answer that is read row by row has the time and the bytes of a whole answer."""
        self._begin(self._answer_seconds, ANSWER_BYTES)
        self._most_of_packet = LONG_ROW_BYTES
        try:
            with self._speaking():
                yield
        finally:
            self._most_of_packet = PACKET_BYTES

    def spend(self, count: int) -> None:
        """Counts memory that an answer takes. Raises OperationalError when that is too much."""
        self.must_have_room(count)
        self._spent += count

    def must_have_room(self, count: int) -> None:
        """Raises OperationalError when an answer would take too much memory with so many bytes more."""
        if self._spent + count > self._most:
            self._force_close()
            raise OperationalError(
                BROKEN, f"an answer of more than {format_bytes(self._most)} was not read to its end"
            )

    def _begin(self, seconds: float, most: int) -> None:
        self._seconds, self._most, self._spent = seconds, most, 0
        self._deadline, self._timer_set_at = time.monotonic() + seconds, 0.0

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """What PyMySQL's parser meets in an answer that is none becomes an error of the protocol."""
        try:
            yield
        except Error as error:
            if error.args and isinstance(error.args[0], int):
                if self._sock is None and isinstance(error, OperationalError):
                    self._end = error
                raise
            # PyMySQL's own errors of the protocol have a text alone.
            raise self._broken(" ".join(map(str, error.args))) from error
        except Exception as error:
            name = type(error).__name__
            raise self._broken(f"{name}: {error}" if str(error) else name) from error
        except BaseException:
            # Half an answer is in the stream: nothing that comes after would be understood.
            if self._is_connecting:
                self._force_close()
            raise

    def _broken(self, detail: str) -> OperationalError:
        self._force_close()
        self._end = OperationalError(BROKEN, f"the answer is not of the MySQL protocol ({one_line(detail)})")
        return self._end

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self._late()
        return left

    def _late(self) -> OperationalError:
        self._force_close()
        doing = "connecting did not end" if self._is_connecting else "no whole answer came"
        return OperationalError(CR.CR_SERVER_LOST, f"{doing} within {self._seconds:g} s")

    def _set_timer(self) -> None:
        now = time.monotonic()
        if now >= self._deadline or now - self._timer_set_at > _TIMER_SECONDS:
            assert self._sock is not None
            self._sock.settimeout(self._left())
            self._timer_set_at = now

    def _execute_command(self, command: int, sql: str | bytes) -> None:
        if self._sock is None:
            if self._end is not None:
                raise OperationalError(*self._end.args)
            raise OperationalError(CR.CR_SERVER_GONE_ERROR, "the connection is closed")
        if not self._is_connecting:
            self._begin(self._answer_seconds, ANSWER_BYTES)
        super()._execute_command(command, sql)

    def _write_bytes(self, data: bytes) -> None:
        if self._sock is not None:
            self._timer_set_at = 0.0  # A timeout of a write is for the whole of it.
            self._set_timer()
        try:
            super()._write_bytes(data)
        except OperationalError as error:
            if time.monotonic() >= self._deadline:
                raise self._late() from error
            raise

    def _read_packet(self, packet_type: type[MysqlPacket] = MysqlPacket) -> Packet:
        self._packet_spent = 0
        self.spend(_PACKET_COST)
        try:
            return super()._read_packet(AnyPacket if packet_type is MysqlPacket else packet_type)
        except Error as error:
            # What the server says is shown, logged and kept.
            error.args = tuple(
                one_line(each).strip() or "no reason was given" if isinstance(each, str) else each
                for each in error.args
            )
            raise

    def _read_bytes(self, num_bytes: int) -> bytes:
        self._packet_spent += num_bytes
        if self._packet_spent > self._most_of_packet:
            self._force_close()
            raise OperationalError(
                BROKEN, f"a row or message of more than {format_bytes(self._most_of_packet)} was not read"
            )
        if self._is_connecting:
            self.spend(num_bytes)
        first = self._read_some(num_bytes)
        if len(first) == num_bytes:
            return first
        parts = bytearray(first)
        while len(parts) < num_bytes:
            parts += self._read_some(min(num_bytes - len(parts), _CHUNK))
        return bytes(parts)

    def _read_some(self, most: int) -> bytes:
        """At least a byte, unless none is wanted. At most one reading of the socket."""
        if most == 0:
            return b""
        try:
            if self._rfile is None:
                raise OSError("the connection is closed")
            self._set_timer()
            # peek fills the buffer; read1 alone would make a system call of every header.
            data = self._rfile.read1(min(most, _CHUNK)) if self._rfile.peek(1) else b""
        except TimeoutError as error:
            raise self._late() from error
        except OSError as error:
            self._force_close()
            raise OperationalError(CR.CR_SERVER_LOST, f"the connection was lost ({error})") from error
        except BaseException:
            self._force_close()
            raise
        if not data:
            self._force_close()
            raise OperationalError(CR.CR_SERVER_LOST, "the server closed the connection")
        return bytes(data)

    def _read_query_result(self, unbuffered: bool = False) -> int:
        """As PyMySQL's, with a result of ours."""
        self._result = None
        result = Answer(self)
        if unbuffered:
            result.init_unbuffered_query()
        else:
            result.read()
        self._result = result
        if result.server_status is not None:
            self.server_status = result.server_status
        return int(result.affected_rows or 0)

    def _get_server_information(self) -> None:
        super()._get_server_information()
        if self.protocol_version != _PROTOCOL:
            raise OperationalError(
                CR.CR_VERSION_ERROR,
                f"it speaks protocol {self.protocol_version}, and MySQL and MariaDB speak {_PROTOCOL}",
            )
        # PyMySQL would send the password itself in its first packet, after any TLS.
        if self._auth_plugin_name == "sha256_password":
            self._auth_plugin_name = "caching_sha2_password"

    def _process_auth(self, plugin_name: bytes, auth_packet: Packet, handler: object = None) -> Packet:
        name = plugin_name.decode("ascii", "replace")
        if name in _REVEALING:
            if not self.is_private:
                raise _refused(f"the server asks for the password in clear text ({name})")
        elif name not in _PROVING:
            raise OperationalError(
                CR.CR_AUTH_PLUGIN_CANNOT_LOAD,
                f"the account's authentication plugin {one_line(name)!r} is not supported",
            )
        return super()._process_auth(plugin_name, auth_packet, handler)


def _refused(why: str) -> OperationalError:
    return OperationalError(REFUSED, f"{why}: it was not sent")
