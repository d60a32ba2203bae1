"""Making the system tables of a new data directory.

MySQL does it itself (`--initialize-insecure`); MariaDB, and MySQL before 5.7, is fed its own scripts.

MariaDB's mariadb-install-db and the mysql_install_db of MySQL before 5.7 are scripts that need helpers
from elsewhere and, run by root, change files under /usr; what they do in the end is this. The help tables
are left out: 2.5 MB of manual text that no benchmark reads.
"""

from collections.abc import Mapping
from pathlib import Path

from mydyno.core.errors import ServerError
from mydyno.core.server_variables import Setting
from mydyno.core.server_version import Version
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.undo import EndProcesses
from mydyno.machine.protocol import Host
from mydyno.server.program.binary import ServerBinary
from mydyno.server.program.command import refuse_covered, server_command
from mydyno.server.program.config import render
from mydyno.server.program.errorlog import hint, telling_lines

_TIME_LIMIT_SECONDS = 300.0

# MySQL's second protocol would open a port of its own; its packaged default for file exports is a
# folder that need not exist, and then it does not start.
_MYSQL_ONLY: dict[str, Setting] = {"mysqlx": False, "secure_file_priv": ""}
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


def initialise(
    site: Site, binary: ServerBinary, *, datadir: Path, scratch: Path, settings: Mapping[str, Setting]
) -> None:
    """Fills the new folder `datadir` with system tables; both folders get the server's owner.

    `settings` are those that the files are born with, like innodb_page_size. Raises ServerError.
    """
    refuse_covered(binary.root, (datadir, scratch))
    for folder in (datadir, scratch):
        site.host.make_folder(folder, owner=site.host.server_identity)
    with site.temporary(site.short_folder()) as private:
        config = private / "my.cnf"
        own = place_settings(binary, datadir, scratch) | room_settings(binary, site.host)
        if "innodb_buffer_pool_dump_at_shutdown" in binary.options:
            # Its list of pages would be loaded by the first server that starts here.
            own["innodb_buffer_pool_dump_at_shutdown"] = False
        if bootstraps(binary.version):
            own |= {name: value for name, value in SETTINGS.items() if name in binary.options}
            arguments, script = ["--bootstrap"], bootstrap_script(binary)
        else:
            arguments, script = ["--initialize-insecure"], b""
        site.host.write_text(config, render(own, settings), owner=site.host.server_identity)
        defaults = f"--defaults-file={config}"
        ending = site.intend(EndProcesses(argument=defaults))
        try:
            command = server_command(site.host, binary.path, [defaults, *arguments], root=binary.root)
            finished = site.host.run(
                command.argv, identity=command.identity, stdin=script, timeout_seconds=_TIME_LIMIT_SECONDS
            )
        finally:
            site.undo(ending)
    if finished.returncode != 0 or not site.host.exists(datadir / "mysql"):
        log = finished.stderr + finished.stdout
        text = "\n".join(f"    {line}" for line in telling_lines(log))
        raise ServerError(f"{binary.path} could not create a data directory in {datadir}:\n{text}", hint(log))


def place_settings(binary: ServerBinary, datadir: Path, scratch: Path) -> dict[str, Setting]:
    """The places that every start of a server needs, whatever it is started for."""
    settings: dict[str, Setting] = {"datadir": str(datadir), "tmpdir": str(scratch)}
    share = binary.share_folder
    for prefix in (binary.path.parent.parent, binary.path.parent):
        if share is not None and share.is_relative_to(prefix / "share"):
            # The folder compiled in is wrong for an archive that was unpacked elsewhere.
            settings["basedir"] = str(prefix)
            if not binary.outside(share / "charsets").is_dir():
                # Character sets that are compiled in need no file, but the folder has to be there.
                settings |= {"character_sets_dir": str(share), "lc_messages_dir": str(share)}
            break
    if not binary.version.is_mariadb:
        settings |= {name: value for name, value in _MYSQL_ONLY.items() if name in binary.options}
    return settings


def room_settings(binary: ServerBinary, host: Host) -> dict[str, Setting]:
    """What makes a server fit into a host with little address space.

    MariaDB reserves as much as its buffer pool might ever be resized to: 8 TiB by default.
    """
    option, most = "innodb_buffer_pool_size_max", host.reservable_bytes
    return {option: most} if most is not None and option in binary.options else {}
