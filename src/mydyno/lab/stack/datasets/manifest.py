"""The manifest of a frozen dataset: enough to identify it, to check it, and to refuse it elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from mydyno.core.errors import LabError
from mydyno.core.writing import writing
from mydyno.server.program.config import refusal
from mydyno.server.variables import catalogue

FILE_NAME = "manifest.json"


class TableContent(BaseModel):
    """One table as the server that loaded it saw it at the freeze."""

    model_config = ConfigDict(frozen=True)

    rows: int
    checksum: int | None
    """CHECKSUM TABLE; None when the server gives none. It depends on the row format and on the release."""


class DatasetManifest(BaseModel):
    """Format 1 had no more than `seconds`; what came later is None there."""

    model_config = ConfigDict(frozen=True)

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
        if name not in catalogue().shaping() or refusal(name, value) is not None:
            raise LabError(f"its manifest has the setting {name}, which does not affect the data files")
    return manifest


def write_manifest(folder: Path, manifest: DatasetManifest) -> None:
    """Raises LabError."""
    path = folder / FILE_NAME
    with writing(path):
        path.write_text(manifest.model_dump_json(indent=2) + "\n")


def _trouble(error: ValidationError) -> str:
    first = error.errors()[0]
    if first["loc"] == ("format",):
        return f"it was made by another version of mydyno (format {first['input']})"
    where = ".".join(map(str, first["loc"]))
    return f"its manifest is damaged{f' at {where}' if where else ''}: {first['msg']}"
