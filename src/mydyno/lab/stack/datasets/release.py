"""Which release a data directory says that it is of: no server but that one may be started on it.

A newer server would change the files on its way up, and none goes back. The redo log's header holds who
made it, 32 bytes at offset 16 of the first file (LOG_HEADER_CREATOR in the sources of InnoDB, since MySQL
5.7.9 and MariaDB 10.2.2); the tools that upgrade system tables leave their release in a separate file.
"""

from __future__ import annotations

import re
from pathlib import Path

from mydyno.core.errors import LabError

_CREATOR = slice(16, 48)
_RELEASE = re.compile(r"(\d+\.\d+(?:\.\d+)?)")
_MARKS = ("mysql_upgrade_info", "mariadb_upgrade_info")


def refuse_another_release(data: Path, release: str) -> None:
    """Raises LabError when the files in `data` say that they are not of `release` (`MariaDB 10.11.6`)."""
    for where, told in recorded_releases(data).items():
        if _meaning(told) != _meaning(release):
            raise LabError(
                f"{data} is recorded as {release}, but its {where} is of {told}: it is not started, since "
                "another release would change its files",
                f"remove it, and the next run makes it again: mydyno datasets remove {data.parent.name}",
            )


def recorded_releases(data: Path) -> dict[str, str]:
    """Source -> the release that it names; empty when nothing does (MySQL 5.6 and older)."""
    told = {}
    for log in (data / "ib_logfile0", *sorted((data / "#innodb_redo").glob("#ib_redo*"))[:1]):
        creator = _creator(log)
        if creator is not None:
            told["redo log"] = creator
    for mark in _MARKS:
        try:
            text = (data / mark).read_text(errors="replace").strip("\0\n ")
        except OSError:
            continue
        if _RELEASE.search(text):
            told[mark] = text
    return told


def _creator(log: Path) -> str | None:
    try:
        with log.open("rb") as file:
            written = file.read(_CREATOR.stop)[_CREATOR]
    except OSError:
        return None
    text = written.partition(b"\0")[0].decode("ascii", errors="replace")
    return text if re.match(r"(MySQL|MariaDB|Percona)", text) and _RELEASE.search(text) else None


def _meaning(text: str) -> tuple[bool, str]:
    """MariaDB or not, and the numbers. MySQL and Percona Server of one number have one format."""
    match = _RELEASE.search(text)
    return "mariadb" in text.lower(), match[1] if match else text
