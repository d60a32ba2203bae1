"""A full cache costs the release that was being installed and nothing else. On a real, small tmpfs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from mydyno.core.errors import LabError
from mydyno.machine.images.build import Progress, watch
from mydyno.server.releases import ReleaseStore, install
from mydyno.server.releases.archive import Archive
from mydyno.server.releases.provider import Provided, Provider, ProviderName
from server.releases.builders import archive, says


@pytest.fixture
def small(open_folder: Path) -> Iterator[ReleaseStore]:
    """A store with room for 2 MiB."""
    folder = open_folder / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m,mode=755", "mydyno-test", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"mounting a small tmpfs needs root: {mounted.stderr.strip()}")
    yield ReleaseStore(folder)
    subprocess.run(["umount", str(folder)], check=True)


@dataclass(frozen=True)
class Fetched:
    """Something that a program fetches, and that is too large."""

    name: ProviderName = "npm"

    def install(self, staging: Path, progress: Progress) -> Provided:
        large = ["dd", "if=/dev/zero", f"of={staging}/package", "bs=1M", "count=8"]
        watch(large, staging / "log", progress, what="fetching")
        raise AssertionError("there was room for it")


@pytest.mark.parametrize("fetched", [False, True], ids=["archive", "program"])
def test_a_full_cache_is_reported_and_left_as_it_was(
    small: ReleaseStore, open_folder: Path, fetched: bool
) -> None:
    large = archive(open_folder / "large.tar.xz", {"bin/mysqld": says(), "x": "x" * 4_000_000}, mode="w:xz")
    provider: Provider = Fetched() if fetched else Archive(large)
    with pytest.raises(LabError, match="the disk is full") as caught:
        install(small, "large", provider, lambda text: None)
    assert "MYDYNO_CACHE" in str(caught.value.hint)
    assert [path.name for path in small.folder.iterdir()] == ["lock"]
