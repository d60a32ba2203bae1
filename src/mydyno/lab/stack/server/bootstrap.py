"""What `--bootstrap` is fed: a server's own scripts for its system tables.

MariaDB's mariadb-install-db and the mysql_install_db of MySQL before 5.7 are scripts that need helpers
from elsewhere and, run by root, change files under /usr; what they do in the end is this. The help tables
are left out: 2.5 MB of manual text that no benchmark reads.
"""

from __future__ import annotations

from mydyno.core.errors import ServerError
from mydyno.core.server_variables import Setting
from mydyno.core.server_version import Version
from mydyno.server.program.binary import ServerBinary

SETTINGS: dict[str, Setting] = {
    "enforce_storage_engine": "",
    "log_warnings": 0,
    "max_allowed_packet": 8 * 1024 * 1024,
    "net_buffer_length": 16 * 1024,
}
"""Those that the scripts were written for, whatever the experiment wants later."""

_INITIALISES_ITSELF = (5, 7, 6)
"""The first MySQL that takes --initialize (MySQL 5.7 Reference Manual, "Initializing the Data Directory")."""

# Each under its names, newest first: MariaDB 11 has renamed what was named after mysql.
_MARIADB = (
    ("mariadb_system_tables.sql", "mysql_system_tables.sql"),
    ("mariadb_performance_tables.sql", "mysql_performance_tables.sql"),
    ("mariadb_system_tables_data.sql", "mysql_system_tables_data.sql"),
)
_MARIADB_FURTHER = (("maria_add_gis_sp_bootstrap.sql",), ("mariadb_sys_schema.sql", "mysql_sys_schema.sql"))
_MYSQL = (("mysql_system_tables.sql",), ("mysql_system_tables_data.sql",))

_PREAMBLE = b"CREATE DATABASE mysql;\nUSE mysql;\n"

# Whoever may log in as root of the operating system over the socket, and nobody else. The script before
# MariaDB 10.4 would add the accounts without a password, one of them the same again.
_MARIADB_ACCOUNTS = (
    b"SET @auth_root_socket = 'root', @skip_auth_root_nopasswd = 1, @skip_auth_anonymous = 1;\n"
)

# Its script makes accounts without a password, for everybody and for root under the names of this machine.
_MYSQL_ACCOUNTS = (
    b"DELETE FROM mysql.user WHERE NOT (User = 'root' AND Host = 'localhost');\nDELETE FROM mysql.db;\n"
)


def bootstraps(version: Version) -> bool:
    """Whether this release needs it; others make their tables by themselves."""
    return version.is_mariadb or version.numbers < _INITIALISES_ITSELF


def bootstrap_script(binary: ServerBinary) -> bytes:
    """Raises ServerError when the scripts are not where the binary has its files."""
    if binary.version.is_mariadb:
        scripts = [
            *_scripts(binary, _MARIADB, needed=True),
            *_scripts(binary, _MARIADB_FURTHER, needed=False),
        ]
        return b"\n".join([_PREAMBLE, _MARIADB_ACCOUNTS, *scripts])
    return b"\n".join([_PREAMBLE, *_scripts(binary, _MYSQL, needed=True), _MYSQL_ACCOUNTS])


def _scripts(binary: ServerBinary, names: tuple[tuple[str, ...], ...], *, needed: bool) -> list[bytes]:
    share = binary.share_folder
    scripts, missing = [], []
    for alternatives in names:
        files = [binary.outside(share / name) for name in alternatives] if share is not None else []
        file = next((file for file in files if file.is_file()), None)
        if file is not None:
            scripts.append(file.read_bytes())
        else:
            missing.append(" or ".join(alternatives))
    if missing and needed:
        raise ServerError(
            f"the scripts {', '.join(missing)} that belong to {binary.file} were not found in "
            f"{binary.outside(share or binary.path.parent.parent / 'share')}",
            "install the whole server package, or unpack the whole archive that the binary came in",
        )
    return scripts
