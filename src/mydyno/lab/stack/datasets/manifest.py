"""The manifest of a frozen dataset: enough to identify it, to check it, and to refuse it elsewhere.

A newer server would change the files on its way up, and none goes back. The redo log's header holds who
made it, 32 bytes at offset 16 of the first file (LOG_HEADER_CREATOR in the sources of InnoDB, since MySQL
5.7.9 and MariaDB 10.2.2); the tools that upgrade system tables leave their release in a separate file.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from mydyno.core.errors import LabError
from mydyno.core.manifest import FILE_NAME, Manifest
from mydyno.server.program.config import refusal
from mydyno.server.variables import catalogue

_CREATOR = slice(16, 48)
_RELEASE = re.compile(r"(\d+\.\d+(?:\.\d+)?)")
_MARKS = ("mysql_upgrade_info", "mariadb_upgrade_info")


class TableContent(BaseModel):
    """One table as the server that loaded it saw it at the freeze."""

    model_config = ConfigDict(frozen=True)

    rows: int
    checksum: int | None
    """CHECKSUM TABLE; None when the server gives none. It depends on the row format and on the release."""


class DatasetManifest(Manifest):
    """Format 1 had no more than `seconds`; what came later is None there."""

    model_config = ConfigDict(extra="ignore")

    format: Literal[1, 2]
    fingerprint: str
    """Of all that shapes its bytes; the name of its folder."""
    release: str
    """Of the server that made it, as `MariaDB 10.11.6`: no other may be started on it."""
    settings: Mapping[str, Any]
    """Those that shape files, as innodb_page_size."""
    contents: Mapping[str, Any]
    facts: Mapping[str, Any]
    """What the load reported."""
    size_bytes: int
    """On disk."""
    seconds: float
    """From nothing to frozen."""
    workload: str | None = None
    """The generator that it was first made for; others with the same tables share it."""
    options: Mapping[str, Any] | None = None
    """Of that generator."""
    binary: str | None = None
    """The program that made it."""
    made: str | None = None
    """UTC, ISO 8601."""
    tables: Mapping[str, TableContent] | None = None
    """`schema.table` -> its content; empty for a dataset without tables of a workload."""
    checksum: str | None = None
    """One number over rows and checksums of all tables."""
    listed_pages: int | None = None
    """How many pages the list of the buffer pool has; None: there is no list."""

    @property
    def rows(self) -> int | None:
        """Of all tables; None when they were not counted."""
        if self.tables is not None:
            return sum(table.rows for table in self.tables.values())
        counts = self.facts.get("tables")
        return sum(counts.values()) if isinstance(counts, dict) else None


def read_manifest(folder: Path) -> DatasetManifest:
    """Raises LabError that says why it cannot be read, or that its settings are none of a dataset.

    A server is started with the settings, so a foreign lab may have only those that shape files.
    """
    try:
        manifest = DatasetManifest.model_validate_json((folder / FILE_NAME).read_bytes())
    except OSError as error:
        raise LabError(f"its manifest cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise LabError(_trouble(error)) from error
    for name, value in manifest.settings.items():
        if name not in catalogue().shaping or refusal(name, value) is not None:
            raise LabError(f"its manifest has the setting {name}, which does not affect the data files")
    return manifest


def _trouble(error: ValidationError) -> str:
    first = error.errors()[0]
    if first["loc"] == ("format",):
        return f"it was made by another version of mydyno (format {first['input']})"
    where = ".".join(map(str, first["loc"]))
    return f"its manifest is damaged{f' at {where}' if where else ''}: {first['msg']}"


def refuse_another_release(data: Path, release: str) -> None:
    """Raises LabError when the files in `data` say that they are not of `release` (`MariaDB 10.11.6`)."""
    for where, other in recorded_releases(data).items():
        if _meaning(other) != _meaning(release):
            raise LabError(
                f"{data} is recorded as {release}, but its {where} is of {other}: it is not started, since "
                "another release would change its files",
                f"remove it, and the next run makes it again: mydyno datasets remove {data.parent.name}",
            )


def recorded_releases(data: Path) -> dict[str, str]:
    """Source -> the release that it names; empty when nothing does (MySQL 5.6 and older)."""
    releases = {}
    for log in (data / "ib_logfile0", *sorted((data / "#innodb_redo").glob("#ib_redo*"))[:1]):
        creator = _creator(log)
        if creator is not None:
            releases["redo log"] = creator
    for mark in _MARKS:
        try:
            text = (data / mark).read_text(errors="replace").strip("\0\n ")
        except OSError:
            continue
        if _RELEASE.search(text):
            releases[mark] = text
    return releases


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
