"""Debian's packages, unpacked and not installed."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest


def unpacked(packages: Sequence[str], folder: Path) -> Path:
    """Their files, in a folder below `folder`; skips the test, aloud, where they cannot be had."""
    fetched = subprocess.run(
        ["apt-get", "download", "-q", *packages], cwd=folder, capture_output=True, text=True, check=False
    )
    if fetched.returncode != 0:
        pytest.skip(f"{', '.join(packages)} cannot be had: {fetched.stderr.strip()}")
    root = folder / "root"
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "--extract", package, root], check=True)
    return root
