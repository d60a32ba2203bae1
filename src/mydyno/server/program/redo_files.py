"""Redo log files of a size that an old server refuses: which they are, and their removal.

MySQL before 5.6.8 and MariaDB before 10.0 do not start where the files that they find are of another size or
number than their settings say. Later ones replace them by themselves. Without any file each of them makes new
ones, and nothing is lost when the server before has shut down cleanly: then no redo record is needed.
Sources: MySQL 5.5 Reference Manual, "Changing the Number or Size of InnoDB Redo Log Files"; MySQL 5.6 Release
Notes, 5.6.8.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mydyno.core.errors import LabError
from mydyno.core.server_variables import Setting
from mydyno.core.server_version import Version
from mydyno.machine.protocol import Host
from mydyno.server.program.binary import ServerBinary
from mydyno.server.variables.settings import number

_REPLACES_THEM = {"mysql": (5, 6, 8), "mariadb": (10, 0, 0)}
"""The first releases that do it by themselves."""

_SIZE, _FILES = "innodb_log_file_size", "innodb_log_files_in_group"


def remove_refused_redo_files(
    host: Host, binary: ServerBinary, folder: Path, config: Mapping[str, Setting]
) -> tuple[str, ...]:
    """Removes from `folder` the redo log files that `binary` with `config` would not start on; their names.

    The folder must be of a data directory whose server has shut down cleanly. `config` has the names that
    the binary lists. Raises LabError.
    """
    if replaces_redo_files(binary.version):
        return ()
    refused = refused_redo_files(
        _sizes(host, folder), size=_value(binary, config, _SIZE), files=_value(binary, config, _FILES)
    )
    for name in refused:
        host.remove_tree(folder / name)
    return refused


def replaces_redo_files(version: Version) -> bool:
    """Whether this release replaces redo log files of another size by itself."""
    return version.numbers >= _REPLACES_THEM["mariadb" if version.is_mariadb else "mysql"]


def refused_redo_files(sizes: Mapping[str, int], *, size: int | None, files: int | None) -> tuple[str, ...]:
    """All of the files, or none when each is of `size` bytes and there are as many as `files`.

    `sizes` are bytes by the files' names. None: the server has no such setting, and any will do.
    """
    same_size = size is None or set(sizes.values()) <= {size}
    same_number = files is None or len(sizes) == files
    return () if same_size and same_number else tuple(sorted(sizes))


def _value(binary: ServerBinary, config: Mapping[str, Setting], name: str) -> int | None:
    value = config.get(name, binary.options.get(name))
    read = None if value is None else number(str(value))
    return read if isinstance(read, int) else None


def _sizes(host: Host, folder: Path) -> dict[str, int]:
    names = ["-maxdepth", "1", "-type", "f", "-name", "ib_logfile[0-9]*"]
    listed = host.run(["find", str(folder), *names, "-printf", r"%s %f\n"])
    if listed.returncode != 0:
        raise LabError(f"the redo log files in {folder} could not be listed: {listed.stderr.strip()}")
    lines = (line.split(" ", 1) for line in listed.stdout.splitlines())
    return {name: int(size) for size, name in lines}
