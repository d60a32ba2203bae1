"""Making the system tables of a new data directory.

MySQL does it itself (`--initialize-insecure`); MariaDB, and MySQL before 5.7, is fed its own scripts.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mydyno.core.errors import ServerError
from mydyno.core.server_variables import Setting
from mydyno.lab.stack.server.bootstrap import SETTINGS, bootstrap_script, bootstraps
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


def initialise(
    site: Site, binary: ServerBinary, *, datadir: Path, scratch: Path, settings: Mapping[str, Setting]
) -> None:
    """Fills the new folder `datadir` with system tables; both folders get the server's owner.

    `settings` are those that the files are born with, like innodb_page_size. Raises ServerError.
    """
    refuse_covered(binary.root, (datadir, scratch))
    for folder in (datadir, scratch):
        site.host.make_folder(folder, owner=site.host.server_identity)
    private = site.short_folder()
    try:
        config = private.path / "my.cnf"
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
    finally:
        site.remove(private)
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
