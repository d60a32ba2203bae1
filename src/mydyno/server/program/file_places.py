"""The files of a server that may lie on a separate volume: which they are, and the settings that say so.

Every fact is read from the binary where it knows it: a variable that it does not list is not set, and whether
it makes undo tablespaces or a binary log by itself shows in its defaults. Sources: MySQL Reference Manual,
"InnoDB Startup Options and System Variables", "Undo Tablespaces", "Moving Tablespace Files While the Server
is Offline" (an undo tablespace that was moved is looked for in innodb_undo_directory), "Redo Log" (the folder
#innodb_redo since 8.0.30), "Temporary Tablespaces"; MariaDB Knowledge Base, "InnoDB System Variables".

MySQL before 5.6.8 and MariaDB before 10.0 do not start where the files that they find are of another size or
number than their settings say. Later ones replace them by themselves. Without any file each of them makes new
ones, and nothing is lost when the server before has shut down cleanly: then no redo record is needed.
Sources: MySQL 5.5 Reference Manual, "Changing the Number or Size of InnoDB Redo Log Files"; MySQL 5.6 Release
Notes, 5.6.8.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.errors import LabError
from mydyno.core.server_files import FileKind
from mydyno.core.server_variables import OFF_WORDS, Setting
from mydyno.core.server_version import Version
from mydyno.machine.protocol import Host
from mydyno.server.program.binary import ServerBinary
from mydyno.server.variables.settings import number

UNDO_TABLESPACES = 3
"""As many as MariaDB makes by itself since 11.0. Truncation needs two (MariaDB Knowledge Base, MySQL 5.7)."""
_REPLACES_THEM = {"mysql": (5, 6, 8), "mariadb": (10, 0, 0)}
"""The first releases that do it by themselves."""

_SIZE, _FILES = "innodb_log_file_size", "innodb_log_files_in_group"


@dataclass(frozen=True)
class Place:
    """Where one kind of files lies: `folder` is on its volume, `data` is the data directory."""

    folder: Path
    data: Path

    @property
    def from_data(self) -> str:
        """The folder for variables before whose value a server puts innodb_data_home_dir."""
        return os.path.relpath(self.folder, self.data)

    @property
    def scratch(self) -> Path:
        """The server's tmpdir, on a volume for temporary files."""
        return self.folder / "scratch"

    @property
    def sessions(self) -> Path:
        """MySQL's temporary tablespaces of sessions."""
        return self.folder / "sessions"


@dataclass(frozen=True)
class Kind:
    """One kind of files."""

    name: FileKind
    opened: str
    """A regular expression for the names of those that a running server holds open."""
    settings: Callable[[Place], Mapping[str, Setting]]
    """The settings that name the place. Of these, those that the binary knows."""
    at_rest: str = "(?!)"
    """One for the names in a data directory at rest that are moved; none for what a start creates again."""
    folders: Callable[[Place], tuple[Path, ...]] = lambda place: ()
    """What has to be there before the server starts, below the folder."""


KINDS = (
    Kind(
        "redo log",
        at_rest=r"ib_logfile\d+|#innodb_redo",
        opened=r"ib_logfile\d+|#ib_redo\d+(_tmp)?",
        settings=lambda place: {"innodb_log_group_home_dir": str(place.folder)},
    ),
    Kind(
        "binary log",
        opened=r"binlog\.(\d+|index)",
        settings=lambda place: {
            "log_bin": str(place.folder / "binlog"),
            "log_bin_index": str(place.folder / "binlog.index"),
        },
    ),
    Kind(
        "undo tablespaces",
        at_rest=r"undo_?\d{3}",
        opened=r"undo_?\d{3}",
        settings=lambda place: {"innodb_undo_directory": str(place.folder)},
    ),
    Kind(
        "temporary files",
        # What is open and has no name any more is a temporary file, whatever it was called.
        opened=r"ibtmp\d+|temp_\d+\.ibt|.* \(deleted\)",
        settings=lambda place: {
            "tmpdir": str(place.scratch),
            "innodb_temp_data_file_path": f"{place.from_data}/ibtmp1:12M:autoextend",
            "innodb_temp_tablespaces_dir": str(place.sessions),
        },
        folders=lambda place: (place.scratch, place.sessions),
    ),
)


def place_settings_of(
    binary: ServerBinary, places: Mapping[FileKind, Place], config: Mapping[str, Setting]
) -> dict[str, Setting]:
    """The settings that name to `binary` where its files lie; `config` is the experiment's, in listed names.

    A place of the binary log would turn it on, so it is set only where there is one.
    """
    settings: dict[str, Setting] = {}
    for kind in KINDS:
        if kind.name in places and (kind.name != "binary log" or has_binary_log(binary, config)):
            settings |= kind.settings(places[kind.name])
    return {name: value for name, value in settings.items() if name in binary.options}


def has_binary_log(binary: ServerBinary, config: Mapping[str, Setting]) -> bool:
    """Whether the server keeps one: as the experiment asks, else as is its default (MySQL since 8.0)."""
    configured = config.get("log_bin")
    if configured is None:
        return binary.options.get("log_bin") is not None
    return str(configured).lower() not in OFF_WORDS


def undo_settings(binary: ServerBinary, config: Mapping[str, Setting]) -> dict[str, Setting]:
    """What gives a dataset undo tablespaces for a volume of theirs; empty where it has some anyway.

    The same has to be said at every start. MySQL 8.0 made two of them the rule and 9 dropped the variable,
    MariaDB 11.0 made three the rule.
    """
    name = "innodb_undo_tablespaces"
    without = binary.options.get(name) == "0" and name not in config
    return {name: UNDO_TABLESPACES} if without else {}


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
