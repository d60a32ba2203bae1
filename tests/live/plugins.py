"""Plugins that MariaDB's core package lacks: from the server package of the same suite, kept in the cache."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from mydyno.core.errors import MydynoError
from mydyno.core.folders import cache_folder
from mydyno.machine.images.apt import PrivateApt
from mydyno.machine.images.suites import sources_of
from mydyno.machine.local import LocalHost

_PACKAGES = {
    "mariadb-10.5": ("bullseye", "mariadb-server-10.5"),
    "mariadb-10.11": ("bookworm", "mariadb-server"),
    "mariadb-11.8": ("trixie", "mariadb-server"),
}


def plugins(release: str) -> Path:
    """The folder of the plugins; skips the test, aloud, when they cannot be had."""
    kept = cache_folder("test-plugins") / release
    if not kept.is_dir():
        suite, package = _PACKAGES[release]
        try:
            _fetch(suite, package, kept)
        except MydynoError as error:
            pytest.skip(f"the plugins of {release} cannot be had here: {error}")
    return kept


def _fetch(suite: str, package: str, kept: Path) -> None:
    host = LocalHost()
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        staging = Path(folder)
        architecture = host.run(["dpkg", "--print-architecture"]).stdout.strip()
        apt = PrivateApt(host, staging, sources_of(host, suite), print, architecture=architecture)
        root = apt.unpack(apt.fetch(package), staging / "root")
        shutil.copytree(root / "usr/lib/mysql/plugin", staging / "plugin")
        if not kept.is_dir():
            (staging / "plugin").rename(kept)
