"""Secrets among a server's variables: hidden before a fact is made of them. Pure."""

import re
from collections.abc import Mapping

from mydyno.core.secrets import masked
from mydyno.core.server_variables import OFF_WORDS, ON_WORDS
from mydyno.core.words import words

HIDDEN = "****"

_SECRET = re.compile(r"(passw(or)?d|passphrase|pwd|secret|token|credentials?|_auth|filekey)$")
"""How the name of a secret ends, which may be a number, too."""
_SUSPICIOUS = re.compile(r"passw|passphrase|pwd|secret|token|credential|auth|private|api_?key|_key$")
_HARMLESS = words(
    """
    authentication_policy authentication_windows_log_level caching_sha2_password_private_key_path
    caching_sha2_password_public_key_path caching_sha2_password_storage_format
    default_authentication_plugin disconnect_on_expired_password sha256_password_private_key_path
    sha256_password_public_key_path sql_require_primary_key ssl_key admin_ssl_key mysqlx_ssl_key
    secure_auth validate_password.dictionary_file validate_password.policy
    validate_password_dictionary_file validate_password_policy
    """
)
"""Names that look like a secret's and hold a word or a path."""
_STATEMENTS = frozenset({"init_connect", "init_replica", "init_slave"})
"""SQL of the user's own, which may hold anything."""
_COMMANDS = frozenset({"wsrep_notify_cmd"})
"""A program and its arguments, which may hold anything."""
_PARTS = re.compile(
    r"(?P<name>[\w.]*(?:passw|pwd|secret|token|credential)[\w.]*)\s*=\s*[^;\s]+", re.IGNORECASE
)
"""`socket.ssl_password=word` in wsrep_provider_options and its like."""
_PLAIN = re.compile(r"[+-]?\d+(?:\.\d+)?")


def without_secrets(variables: Mapping[str, str]) -> dict[str, str]:
    """The same variables; what may be a password or holds one is `****`."""
    return {name: _shown(name, value) for name, value in variables.items()}


def is_secret(name: str, value: str) -> bool:
    """Whether the value of a variable of this name may be a secret."""
    if not value or name in _HARMLESS:
        return False
    if name in _STATEMENTS or _SECRET.search(name):
        return True
    plain = _PLAIN.fullmatch(value) is not None or value.casefold() in ON_WORDS | OFF_WORDS
    return not plain and _SUSPICIOUS.search(name) is not None


def _shown(name: str, value: str) -> str:
    if is_secret(name, value):
        return HIDDEN
    program, _, arguments = value.partition(" ")
    if name in _COMMANDS and arguments:
        return f"{program} {HIDDEN}"
    return _PARTS.sub(rf"\g<name>={HIDDEN}", masked(value))
