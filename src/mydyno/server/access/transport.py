"""How a connection to a server is protected and compressed, and what may be sent over it: the one policy of
all clients.

A password itself (mysql_clear_password, PAM, the full exchange of sha256_password and caching_sha2_password)
is sent over a private channel only: a unix socket, or TLS whose certificate was checked. Over plain TCP it
goes encrypted with the server's RSA key, and only when that key was named: one that the server itself sends
may be anybody's. What proves the password without sending it (mysql_native_password, the quick exchange of
caching_sha2_password, MariaDB's ed25519 and parsec) is allowed everywhere.

The modes are those of the MySQL clients (MySQL Reference Manual, "Command Options for Encrypted
Connections").
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from mydyno.core.errors import UsageError

LEAST_RSA_BITS = 2048
"""A shorter key is refused (NIST SP 800-131A: below 112 bits of strength)."""


class SslMode(StrEnum):
    DISABLED = "DISABLED"
    PREFERRED = "PREFERRED"
    """TLS where the server offers it, without a check of its certificate. Never counted as verified."""
    REQUIRED = "REQUIRED"
    """TLS, without a check of the certificate. Never counted as verified."""
    VERIFY_CA = "VERIFY_CA"
    """TLS with a certificate that the named authority has signed."""
    VERIFY_IDENTITY = "VERIFY_IDENTITY"
    """The same, and the certificate is the host's."""


_ALGORITHMS = ("zlib", "zstd", "uncompressed")
DEFAULT_ZSTD_LEVEL = 3


@dataclass(frozen=True)
class Compression:
    """What the load's connections may be compressed with. mydyno's own statements are not compressed."""

    algorithms: tuple[str, ...]
    zstd_level: int = DEFAULT_ZSTD_LEVEL

    @property
    def is_required(self) -> bool:
        return "uncompressed" not in self.algorithms

    def to_wire(self) -> dict[str, Any]:
        """The key `compression` of a job of mydyno-engine."""
        return {"algorithms": list(self.algorithms), "zstd_level": self.zstd_level}


@dataclass(frozen=True)
class Transport:
    """The options of one login. `transport` makes one of what a user gave."""

    mode: SslMode = SslMode.PREFERRED
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    public_key: bytes | None = None
    """The server's RSA key (PEM), for passwords over plain TCP."""
    compression: Compression | None = None

    @property
    def requires_tls(self) -> bool:
        return self.mode not in (SslMode.DISABLED, SslMode.PREFERRED)

    @property
    def verifies(self) -> bool:
        return self.mode in (SslMode.VERIFY_CA, SslMode.VERIFY_IDENTITY)

    def to_wire(self) -> dict[str, Any]:
        """The keys `tls`, `server_public_key` and `compression` of a job of mydyno-engine."""
        files = {
            name: None if path is None else str(path.absolute())
            for name, path in (("ca", self.ca), ("cert", self.cert), ("key", self.key))
        }
        tls = {"mode": self.mode.lower().replace("_", "-"), **files}
        return {
            "tls": None if self.mode is SslMode.DISABLED else tls,
            "server_public_key": None if self.public_key is None else self.public_key.decode(),
            "compression": self.compression and self.compression.to_wire(),
        }

    def compressed(self, algorithms: str | None, zstd_level: int | None) -> Transport:
        """The same with these options of compression. Raises UsageError."""
        return replace(self, compression=compression(algorithms, zstd_level))

    def context(self, *, over_socket: bool) -> ssl.SSLContext | None:
        """What TLS is spoken with; None: it is not offered. A unix socket has TLS only where it is required.

        Raises UsageError when a file cannot be used.
        """
        if self.mode is SslMode.DISABLED or (over_socket and not self.requires_tls):
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = self.mode is SslMode.VERIFY_IDENTITY
        context.verify_mode = ssl.CERT_REQUIRED if self.verifies else ssl.CERT_NONE
        try:
            if self.verifies and self.ca is not None:
                context.load_verify_locations(self.ca)
            elif self.verifies:
                context.load_default_certs()
            if self.cert is not None:
                # A key with a passphrase is refused: OpenSSL would ask for it on the terminal.
                context.load_cert_chain(self.cert, self.key, password=_no_passphrase)
        except (OSError, ValueError) as error:
            files = ", ".join(str(path) for path in (self.ca, self.cert, self.key) if path)
            raise UsageError(
                f"TLS cannot be set up with {files or 'the certificates of this system'}: {error}",
                "certificates and keys are PEM files; a key has no passphrase",
            ) from None
        return context


def transport(
    mode: str | None = None,
    *,
    ca: Path | None = None,
    cert: Path | None = None,
    key: Path | None = None,
    public_key: Path | None = None,
) -> Transport:
    """The options as given. Without a mode `ca` means VERIFY_CA, as with the MySQL clients.

    Raises UsageError.
    """
    try:
        chosen = SslMode(mode.upper()) if mode else SslMode.VERIFY_CA if ca else SslMode.PREFERRED
    except ValueError:
        raise UsageError(f"ssl-mode {mode} is not known", f"one of {', '.join(SslMode)}") from None
    if chosen is SslMode.VERIFY_CA and ca is None:
        raise UsageError(
            "ssl-mode VERIFY_CA checks against an authority, and none is named",
            "--ssl-ca FILE; or VERIFY_IDENTITY, which takes the authorities of this system",
        )
    if ca is not None and chosen not in (SslMode.VERIFY_CA, SslMode.VERIFY_IDENTITY):
        raise UsageError(
            f"ssl-ca is given, but ssl-mode {chosen} checks no certificate",
            "ssl-mode VERIFY_CA or VERIFY_IDENTITY",
        )
    if key is not None and cert is None:
        raise UsageError("ssl-key is given without ssl-cert", "both of them, or none")
    return Transport(chosen, ca, cert, key, None if public_key is None else read_public_key(public_key))


def compression(algorithms: str | None, zstd_level: int | None = None) -> Compression | None:
    """Of a list as the MySQL clients have it; None without one, and where it is `uncompressed` alone.

    Raises UsageError.
    """
    if algorithms is None:
        return None
    names = tuple(name.strip().lower() for name in algorithms.split(","))
    unknown = [name for name in names if name not in _ALGORITHMS]
    if unknown:
        raise UsageError(
            f"compression-algorithms: unknown algorithm '{unknown[0]}'",
            f"one or more of {', '.join(_ALGORITHMS)}, separated by commas",
        )
    level = DEFAULT_ZSTD_LEVEL if zstd_level is None else zstd_level
    if level not in range(1, 23):
        raise UsageError(f"zstd-compression-level {level} is out of range", "from 1 to 22")
    return None if set(names) == {"uncompressed"} else Compression(names, level)


def read_public_key(path: Path) -> bytes:
    """The server's RSA key of a PEM file. Raises UsageError when it is none, or too short."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        pem = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the public key {path}: {error.strerror}") from None
    try:
        key = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, RSAPublicKey):
        raise UsageError(
            f"{path} is not an RSA public key in PEM", "the server's public_key.pem, copied from there"
        )
    if key.key_size < LEAST_RSA_BITS:
        raise UsageError(
            f"{path}: an RSA key of {key.key_size} bits is too short for a password",
            f"{LEAST_RSA_BITS} bits or more: mysql_ssl_rsa_setup and MySQL 5.7 or newer make such keys",
        )
    return pem


def _no_passphrase() -> str:
    raise ValueError("the key has a passphrase")
