"""Certificates and keys for tests: an authority, and a server's certificate that it has signed."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from cryptography.x509.oid import NameOID


def make_certificates(folder: Path, name: str = "ca") -> Path:
    """`NAME.pem`, the authority, and what it has signed: `NAME-server.pem`, which is for 127.0.0.1,
    `NAME-client.pem`, and `NAME-nameless.pem`, which has a common name only, each with its key
    (`NAME-server-key.pem`).
    """
    authority = _key()
    issuer = _name(f"authority {name}")
    ca = _builder(issuer, issuer, authority)
    ca = ca.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    path = folder / f"{name}.pem"
    path.write_bytes(ca.sign(authority, hashes.SHA256()).public_bytes(Encoding.PEM))
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    for role, subject in (("server", "db1"), ("client", "bench"), ("nameless", "127.0.0.1")):
        key = _key()
        own = _builder(issuer, _name(subject), key)
        if role != "nameless":
            own = own.add_extension(address, critical=False)
        signed = own.sign(authority, hashes.SHA256())
        (folder / f"{name}-{role}.pem").write_bytes(signed.public_bytes(Encoding.PEM))
        (folder / f"{name}-{role}-key.pem").write_bytes(
            key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        )
    for made in folder.glob(f"{name}*.pem"):
        made.chmod(0o644)  # The servers of tests run as a user of their own.
    return path


def make_public_key(path: Path, bits: int = 2048) -> Path:
    path.write_bytes(_key(bits).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return path


def _key(bits: int = 2048) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, bits)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(issuer: x509.Name, subject: x509.Name, key: rsa.RSAPrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .issuer_name(issuer)
        .subject_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
    )
