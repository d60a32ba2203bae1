"""Where in a folder the server program is: an installation, an unpacked archive, a build tree."""

import os
from pathlib import Path

from mydyno.core.errors import UsageError

_NAMES = ("mariadbd", "mysqld")

_FOLDERS = (
    *("bin", "sbin", "libexec", "usr/sbin", "usr/bin", "usr/libexec", "usr/local/mysql/bin"),
    "runtime_output_directory",  # where MySQL's cmake puts programs
    "sql",  # where MariaDB's does
    ".",
)

_LOADERS = ("lib*/ld-*.so*", "lib/*/ld-*.so*", "usr/lib*/ld-*.so*", "usr/lib/*/ld-*.so*")
"""Where systems have the program that loads shared libraries (ld.so(8))."""

_CLIENTS = ("mariadb", "mysql", "mariadb-admin", "mysqladmin", "mysqldump")


def server_in(folder: Path) -> Path:
    """The server program in `folder`, or in the only folder that is in it, as archives are packed.

    Raises UsageError that lists the places searched, and the clients when there are only those.
    """
    inside = [each for each in folder.iterdir() if each.is_dir()] if folder.is_dir() else []
    tops = [folder, *(inside if len(inside) == 1 else ())]
    for top in tops:
        programs = _programs(top, _NAMES)
        if programs:
            return programs[0]
    if plain := [path for top in tops for path in _files(top, _NAMES)]:
        raise UsageError(
            f"{plain[0]} is not executable, so it cannot be started",
            f"some archives (zip, jar) do not keep the permissions of programs: chmod +x {plain[0]}",
        )
    clients = [program for top in tops for program in _programs(top, _CLIENTS)]
    only = f": only a client, {clients[0].relative_to(folder)}" if clients else ""
    raise UsageError(
        f"{folder} holds no server{only}; looked for {' or '.join(_NAMES)} in {', '.join(_FOLDERS)}",
        "give the top folder of a whole server: of an installation, an unpacked archive or a build tree",
    )


def is_system(folder: Path) -> bool:
    """Whether a whole system is in `folder`, other than this machine's: its programs have a loader there."""
    loaders = [loader for place in _LOADERS for loader in folder.glob(place)]
    whole = all((folder / name).is_dir() for name in ("usr", "etc"))
    return folder != Path("/") and whole and bool(loaders)


def _programs(top: Path, names: tuple[str, ...]) -> list[Path]:
    return [path for path in _files(top, names) if os.access(path, os.X_OK)]


def _files(top: Path, names: tuple[str, ...]) -> list[Path]:
    candidates = [top / folder / name for name in names for folder in _FOLDERS]
    return [path for path in candidates if path.is_file()]
