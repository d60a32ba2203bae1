"""What a command line says of a machine, checked before it goes into any file."""

from __future__ import annotations

import re
from ipaddress import ip_network

from mydyno.core.errors import UsageError

_PUBLIC = re.compile(
    r"((?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)"
    r" [A-Za-z0-9+/]{40,}={0,3})(?:\s.*)?"
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


def public_key(text: str, file: str) -> str:
    """Type and key of the one line of a public key file, without its comment. Raises UsageError."""
    if "PRIVATE KEY" in text:
        raise UsageError(
            f"--ssh-key {file} is a private key: it does not leave this machine", f"--ssh-key {file}.pub"
        )
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    match = _PUBLIC.fullmatch(lines[0]) if len(lines) == 1 else None
    if match is None:
        raise UsageError(
            f"--ssh-key {file} is not one public key of OpenSSH",
            "a file such as ~/.ssh/id_ed25519.pub; `ssh-keygen -t ed25519` makes one",
        )
    return match[1]


def network(text: str) -> str:
    """A network that may use ssh, `203.0.113.7` as well. Raises UsageError."""
    try:
        return str(ip_network(text))
    except ValueError as error:
        raise UsageError(
            f"--ssh-from {text} is not a network: {error}", "your own address with /32, as 203.0.113.7/32"
        ) from None


def plain_name(option: str, text: str | None) -> str | None:
    """A name of a provider's. Raises UsageError."""
    if text is not None and not _NAME.fullmatch(text):
        raise UsageError(f"{option} {text!r} is not a name", "letters, digits, dots, dashes and underscores")
    return text
