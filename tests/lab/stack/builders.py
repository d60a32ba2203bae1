"""Helpers that the tests of the stack share."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from mydyno.core.server_version import parse_version
from mydyno.lab.stack.journal import Journal
from mydyno.lab.stack.site import Site
from mydyno.machine.local import LocalHost
from mydyno.server.program.binary import ServerBinary, parse_options

GOLDEN = Path(__file__).parents[2] / "server" / "program" / "golden"

MARIADB_VERSION = "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)"
MYSQL_VERSION = "/usr/sbin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))"


def options_of(release: str) -> Mapping[str, str | None]:
    return parse_options((GOLDEN / f"{release}-help.txt").read_text())


def mariadb() -> ServerBinary:
    """MariaDB 10.11.19 as its own help describes it; nothing is run."""
    return ServerBinary(
        Path("/usr/sbin/mariadbd"), parse_version(MARIADB_VERSION), options_of("mariadb-10.11.19")
    )


def mysql() -> ServerBinary:
    """MySQL 9.7.4 as its own help describes it; nothing is run."""
    return ServerBinary(Path("/usr/sbin/mysqld"), parse_version(MYSQL_VERSION), options_of("mysql-9.7.4"))


def site_in(lab: Path) -> Site:
    lab.mkdir(exist_ok=True)
    return Site(lab, LocalHost(), Journal(lab))


def folder_for_servers() -> Iterator[Path]:
    """For a fixture: a new folder that every user may enter, removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="mydyno-test-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
