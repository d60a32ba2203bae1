"""The root account of a private server: closed at rest, opened with a fresh random password at each start.

A data directory at rest holds a root account that cannot be used over a network (MariaDB: bound to
the operating system's root; MySQL: without a password and for localhost alone, but no server serves
it). Each start hands the server an init file, which it runs before it takes its first connection. The
file is held in memory by the host (`Host.hold`), so the password is never on a disk, in argv or in the
environment; it is wiped once the server is up. MariaDB and MySQL before 5.7 are given only the
password's hash, so that not even their logs contain it.
"""

import hashlib

from mydyno.core.secrets import Secret
from mydyno.core.server_version import Version

ADMIN_USER = "root"

_ALTER_USER_MYSQL = (5, 7, 6)
_ALTER_USER_MARIADB = (10, 2, 0)
"""The first whose ALTER USER sets a password (MySQL 5.7 Reference Manual, "ALTER USER Statement"; MariaDB
Knowledge Base, "ALTER USER")."""


def init_file(statements: list[str]) -> bytes:
    """The content of an init file: the server reads one statement a line."""
    return "".join(f"{statement};\n" for statement in statements).encode()


def set_password(version: Version, password: Secret, *, over_network: bool, adopt: bool = False) -> list[str]:
    """SQL statements that give root `password` over the socket and, where requested, over 127.0.0.1.

    `adopt`: the accounts are those of another server, which may have no root.

    A separate account for 127.0.0.1 is needed since a server that skips name resolution does not
    take that address for localhost.
    """
    hosts = ["localhost", "127.0.0.1"] if over_network else ["localhost"]
    statements = ["SET SESSION sql_log_bin = 0"]
    for host in hosts:
        statements += _admin(version, host, password, is_new=adopt or host != "localhost")
    return statements


def account(version: Version, name: str, password: Secret, *, on: str) -> list[str]:
    """SQL statements that make an account with all rights `on` a schema; `name` as 'USER'@'HOST'."""
    by_hash = f"IDENTIFIED BY PASSWORD '{native_hash(password)}'"
    granted = f"GRANT ALL PRIVILEGES ON {on} TO {name}"
    if version.numbers < (_ALTER_USER_MARIADB if version.is_mariadb else _ALTER_USER_MYSQL):
        return [f"{granted} {by_hash}"]
    proof = by_hash if version.is_mariadb else f"IDENTIFIED BY '{password.reveal()}'"
    return [f"CREATE USER IF NOT EXISTS {name} {proof}", granted, f"ALTER USER {name} {proof}"]


def _admin(version: Version, host: str, password: Secret, *, is_new: bool) -> list[str]:
    account = f"'{ADMIN_USER}'@'{host}'"
    everything = f"GRANT ALL PRIVILEGES ON *.* TO {account}"
    by_hash = f"IDENTIFIED BY PASSWORD '{native_hash(password)}'"
    alter_user = _ALTER_USER_MARIADB if version.is_mariadb else _ALTER_USER_MYSQL
    if version.numbers < alter_user:
        # There GRANT makes the account and sets its password, and ALTER USER does neither.
        return [f"{everything} {by_hash} WITH GRANT OPTION"]
    proof = by_hash if version.is_mariadb else f"IDENTIFIED BY '{password.reveal()}'"
    change = f"ALTER USER {account} {proof}"
    if not is_new:
        return [change]
    return [f"CREATE USER IF NOT EXISTS {account} {proof}", f"{everything} WITH GRANT OPTION", change]


def native_hash(password: Secret) -> str:
    """What mysql_native_password stores: `*` and SHA1(SHA1(password)) in capitals."""
    once = hashlib.sha1(password.reveal().encode(), usedforsecurity=False).digest()
    return "*" + hashlib.sha1(once, usedforsecurity=False).hexdigest().upper()
