"""Making the system tables of a new data directory.

MySQL does it itself (`--initialize-insecure`). MariaDB's own tool, mariadb-install-db, is a shell
script that needs helpers from other packages and, run by root, changes files under /usr; what it
does in the end is to feed the scripts of the share folder to `mariadbd --bootstrap`, and that is
done here. The help tables are left out: 2.5 MB of manual text that no benchmark reads.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from mydyno.core.errors import ServerError
from mydyno.core.server_variables import Setting
from mydyno.host.protocol import Host
from mydyno.stack.server.binary import ServerBinary
from mydyno.stack.server.config import render
from mydyno.stack.server.errorlog import hint, telling_lines
from mydyno.stack.site import Site
from mydyno.stack.undo import EndProcesses

_TIME_LIMIT_SECONDS = 300.0

_MARIADB_SCRIPTS = (
    "mysql_system_tables.sql",
    "mysql_performance_tables.sql",
    "mysql_system_tables_data.sql",
    "maria_add_gis_sp_bootstrap.sql",
    "mysql_sys_schema.sql",
)

# Whoever may log in as root of the operating system over the socket, and nobody else.
_MARIADB_PREAMBLE = "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = 'root';\n"

# The settings that the scripts were written for, whatever the experiment wants later.
_MARIADB_BOOTSTRAP: dict[str, Setting] = {
    "enforce_storage_engine": "",
    "log_warnings": 0,
    "max_allowed_packet": 8 * 1024 * 1024,
    "net_buffer_length": 16 * 1024,
}


def initialise(
    site: Site, binary: ServerBinary, *, datadir: Path, scratch: Path, settings: Mapping[str, Setting]
) -> None:
    """Fills the new folder `datadir` with system tables; both folders get the server's owner.

    `settings` are those that the files are born with, like innodb_page_size. Raises ServerError.
    """
    for folder in (datadir, scratch):
        site.host.make_folder(folder, owner=site.host.server_identity)
    private = site.short_folder()
    try:
        config = private.path / "my.cnf"
        own = place_settings(binary, datadir, scratch) | room_settings(binary, site.host)
        if "innodb_buffer_pool_dump_at_shutdown" in binary.options:
            # Its list of pages would be loaded by the first server that starts here.
            own["innodb_buffer_pool_dump_at_shutdown"] = False
        if binary.version.is_mariadb:
            own |= {name: value for name, value in _MARIADB_BOOTSTRAP.items() if name in binary.options}
            arguments, script = ["--bootstrap"], _mariadb_script(binary)
        else:
            arguments, script = ["--initialize-insecure"], b""
        site.host.write_text(config, render(own, settings), owner=site.host.server_identity)
        defaults = f"--defaults-file={config}"
        ending = site.intend(EndProcesses(argument=defaults))
        try:
            finished = site.host.run(
                [str(binary.path), defaults, *arguments],
                identity=site.host.server_identity,
                stdin=script,
                timeout_seconds=_TIME_LIMIT_SECONDS,
            )
        finally:
            site.undo(ending)
    finally:
        site.remove(private)
    if finished.returncode != 0 or not site.host.exists(datadir / "mysql"):
        log = finished.stderr + finished.stdout
        said = "\n".join(f"    {line}" for line in telling_lines(log))
        raise ServerError(f"{binary.path} could not make a data directory in {datadir}:\n{said}", hint(log))


def place_settings(binary: ServerBinary, datadir: Path, scratch: Path) -> dict[str, Setting]:
    """The places that every start of a server needs, whatever it is started for."""
    settings: dict[str, Setting] = {"datadir": str(datadir), "tmpdir": str(scratch)}
    prefix = binary.path.parent.parent
    if binary.share_folder is not None and binary.share_folder.is_relative_to(prefix):
        # The folder compiled in is wrong for an archive that was unpacked elsewhere.
        settings["basedir"] = str(prefix)
    return settings


def room_settings(binary: ServerBinary, host: Host) -> dict[str, Setting]:
    """What makes a server fit into a host with little address space.

    MariaDB sets aside as much as its buffer pool might ever be resized to: 8 TiB unless it is told.
    """
    option, most = "innodb_buffer_pool_size_max", host.reservable_bytes
    return {option: most} if most is not None and option in binary.options else {}


def _mariadb_script(binary: ServerBinary) -> bytes:
    share = binary.share_folder
    missing = [name for name in _MARIADB_SCRIPTS[:3] if share is None or not (share / name).is_file()]
    if share is None or missing:
        raise ServerError(
            f"the scripts {', '.join(missing)} that belong to {binary.path} were not found in "
            f"{share or binary.path.parent.parent / 'share'}",
            "install the whole server package, or unpack the whole archive that the binary came in",
        )
    scripts = [share / name for name in _MARIADB_SCRIPTS]
    return os.linesep.encode().join(
        [_MARIADB_PREAMBLE.encode(), *(script.read_bytes() for script in scripts if script.is_file())]
    )
