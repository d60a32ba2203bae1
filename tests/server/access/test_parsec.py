"""The answer of MariaDB's plugin parsec: what it proves, and what of the server's it does not take."""

from __future__ import annotations

import hashlib

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mydyno.server.access.dbapi import OperationalError
from mydyno.server.access.parsec import answer

SERVER, CLIENT, SALT = b"s" * 32, b"c" * 32, b"salt of 18 bytes.."


@pytest.mark.parametrize(("doublings", "iterations"), [(0, 1024), (3, 8192)])
def test_both_random_numbers_are_signed_with_the_key_of_the_password(doublings: int, iterations: int) -> None:
    proof = answer(b"word", SERVER, b"P" + bytes([doublings]) + SALT, CLIENT)
    assert proof[:32] == CLIENT
    assert len(proof) == 96
    secret = hashlib.pbkdf2_hmac("sha512", b"word", SALT, iterations, 32)
    public = Ed25519PrivateKey.from_private_bytes(secret).public_key()
    public.verify(proof[32:], SERVER + CLIENT)
    with pytest.raises(InvalidSignature):
        public.verify(answer(b"other", SERVER, b"P\0" + SALT, CLIENT)[32:], SERVER + CLIENT)


@pytest.mark.parametrize(
    ("server_random", "salted"),
    [
        (SERVER[1:], b"P\0" + SALT),
        (SERVER + b"\0", b"P\0" + SALT),
        (SERVER, b""),
        (SERVER, b"P\0" + SALT[1:]),
        (SERVER, b"P\0" + SALT + b"\0"),
        (SERVER, b"Q\0" + SALT),
        (SERVER, b"P\4" + SALT),
        (SERVER, b"P\xff" + SALT),
    ],
)
def test_what_is_not_of_the_plugin_is_refused_before_anything_is_derived(
    server_random: bytes, salted: bytes
) -> None:
    with pytest.raises(OperationalError, match="parsec"):
        answer(b"word", server_random, salted, CLIENT)
