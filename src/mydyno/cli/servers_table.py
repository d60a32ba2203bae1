"""The table of releases: what is here, what can be had, as rows, JSON and text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mydyno.cli.shown import aligned
from mydyno.core.errors import MydynoError
from mydyno.core.server_release import SYSTEM
from mydyno.core.units import format_bytes
from mydyno.machine.local import LocalHost
from mydyno.server.releases import KNOWN, Installed, Known, ReleaseStore, binary_of
from mydyno.server.releases.find import binary_of_installed


@dataclass(frozen=True)
class Row:
    """One release. `problem` says why it cannot be started as it is."""

    name: str
    installed: bool
    provider: str
    version: str | None
    source: str | None
    size_bytes: int | None = None
    download_bytes: int | None = None
    licence: str | None = None
    binary: str | None = None
    since: str | None = None
    problem: str | None = None
    manifest: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The manifest's fields, and over them what is true now."""
        return self.manifest | {name: value for name, value in vars(self).items() if name != "manifest"}


def every_release(store: ReleaseStore) -> list[Row]:
    """The system's own, what is installed, and what can be had besides."""
    names = store.names()
    rows = [_system()]
    for name in names:
        installed = store.installed(name)
        rows.append(_installed(installed) if installed else _unreadable(name))
    for name, known in KNOWN.items():
        if name not in names:
            rows.append(_available(name, known))
    return rows


def render(rows: Sequence[Row], folder: Path) -> str:
    """Two tables: installed, and to be had, there with the sizes of the download and in the cache."""
    here = [row for row in rows if row.installed]
    others = [row for row in rows if not row.installed]
    lines = [f"installed (in {folder})", *_table(here, exact=True)]
    if others:
        lines += [
            "",
            "can be had: mydyno servers add NAME (download -> in the cache)",
            *_table(others, exact=False),
        ]
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[Row], *, exact: bool) -> list[str]:
    cells = [
        (
            row.name,
            row.version or "",
            _size(row, exact),
            row.provider,
            (row.since or "")[:10] or row.licence or "",
            row.problem or row.source or "",
        )
        for row in rows
    ]
    return [f"  {line}" for line in aligned(cells)]


def _size(row: Row, exact: bool) -> str:
    if row.size_bytes is None:
        return ""
    if row.provider == "directory":
        return "in place"
    if exact or row.download_bytes is None:
        return format_bytes(row.size_bytes)
    return f"{format_bytes(row.download_bytes)} -> {format_bytes(row.size_bytes)}"


def _available(name: str, known: Known) -> Row:
    return Row(
        name=name,
        installed=False,
        provider=known.provider.name,
        version=known.version,
        source=known.source,
        size_bytes=known.size_bytes,
        download_bytes=known.download_bytes,
        licence=known.licence,
    )


def _system() -> Row:
    try:
        binary = binary_of(SYSTEM)
    except MydynoError as error:
        return Row(SYSTEM, True, SYSTEM, None, None, problem=error.message)
    return Row(SYSTEM, True, SYSTEM, str(binary.version), str(binary.path), binary=str(binary.path))


def _installed(installed: Installed) -> Row:
    """A folder of the user may have another version than when it was added: its binary is read."""
    manifest = installed.manifest
    version, problem = manifest.version, None
    if manifest.provider == "directory":
        try:
            version = str(binary_of_installed(installed, LocalHost()).version)
        except MydynoError as error:
            problem = error.message
    return Row(
        name=installed.name,
        installed=True,
        provider=manifest.provider,
        version=version,
        source=manifest.source,
        size_bytes=manifest.size_bytes,
        binary=str(installed.binary),
        since=manifest.installed,
        problem=problem,
        manifest=manifest.model_dump(mode="json", exclude={"installed"}),
    )


def _unreadable(name: str) -> Row:
    problem = "was installed by another version of mydyno: remove it and add it again"
    return Row(name, True, "unknown", None, None, problem=problem)
