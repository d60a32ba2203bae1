"""MariaDB's authentication plugin parsec, which PyMySQL lacks.

The server sends 32 random bytes; the client asks for the account's salt with an empty packet, and signs the
random bytes of both sides with an Ed25519 key that PBKDF2 derives from the password, which is not sent.

Source: MariaDB Server documentation, "Authentication Plugin - PARSEC".
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from mydyno.server.access.dbapi import CR, OperationalError

if TYPE_CHECKING:
    from mydyno.server.access.pymysql_internals import Packet, Session

PLUGIN = "parsec"
_RANDOM_BYTES = 32
_KEY_BYTES = 32
_PBKDF2 = ord("P")
_MOST_DOUBLINGS = 3
_LEAST_ITERATIONS = 1024
_SALT = slice(2, 20)
_MORE_DATA = b"\1"


def answer(password: bytes, server_random: bytes, salted: bytes, client_random: bytes) -> bytes:
    """What proves `password`. `salted`: `P`, the doublings of the iterations, and the salt.

    Raises OperationalError when the server's part is not of the plugin.
    """
    if (
        len(server_random) != _RANDOM_BYTES
        or len(salted) != _SALT.stop
        or salted[0] != _PBKDF2
        or salted[1] > _MOST_DOUBLINGS
    ):
        raise OperationalError(CR.CR_MALFORMED_PACKET, "the server's part of parsec is not of that plugin")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    iterations = _LEAST_ITERATIONS << salted[1]
    secret = hashlib.pbkdf2_hmac("sha512", password, salted[_SALT], iterations, _KEY_BYTES)
    signature = Ed25519PrivateKey.from_private_bytes(secret).sign(server_random + client_random)
    return client_random + signature


class Parsec:
    """A handler of PyMySQL's."""

    def __init__(self, connection: Session) -> None:
        self._connection = connection

    def authenticate(self, packet: Packet) -> Packet:
        """Takes the server's first packet; returns its last one. Raises Error."""
        server_random = packet.read_all()
        salted = self._exchange(b"").read_all()
        # The server marks what follows with a byte where it could be taken for another packet.
        salted = salted.removeprefix(_MORE_DATA)
        client_random = os.urandom(_RANDOM_BYTES)
        return self._exchange(answer(self._connection.password, server_random, salted, client_random))

    def _exchange(self, data: bytes) -> Packet:
        self._connection.write_packet(data)
        return self._connection._read_packet()
