"""A system's texts in memory."""

from __future__ import annotations

from collections.abc import Mapping

from mydyno.apply.edits.option_file import Reading
from mydyno.apply.edits.texts import Texts
from mydyno.core.server_version import parse_version

MARIADB = parse_version("Ver 10.11.19-MariaDB")
MYSQL = parse_version("Ver 8.4.3")


def texts(files: Mapping[str, str], links: Mapping[str, str] | None = None) -> Texts:
    """These files; `links`: a path and where it leads."""
    leads = links or {}

    def names(folder: str) -> list[str] | None:
        prefix = folder.rstrip("/") + "/"
        found = [path.removeprefix(prefix) for path in (*files, *leads) if path.startswith(prefix)]
        return sorted({name.split("/")[0] for name in found}) or None

    def read(path: str) -> bytes | None:
        return files[path].encode() if path in files else None

    return Texts(read, names, lambda path: leads.get(path, path))


def reading(*starts: str, version: str = "MariaDB", **more: frozenset[str]) -> Reading:
    known = frozenset(
        {"innodb_io_capacity", "innodb_io_capacity_max", "skip_name_resolve", "max_connections"}
    )
    release = MARIADB if version == "MariaDB" else MYSQL
    return Reading(release, starts or ("/etc/mysql/my.cnf",), known, **more)


def new_text(changed: Texts, path: str) -> str:
    return changed.changed()[path][1]
