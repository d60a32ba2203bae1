from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mydyno.core.errors import LabError
from mydyno.lab.stack.datadir import clone_tree
from mydyno.machine.environment import shares_blocks
from mydyno.machine.local import LocalHost

MIB = 1 << 20


def dataset(folder: Path, size: int) -> Path:
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "ibdata1").write_bytes(os.urandom(size))
    return folder / "data"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MiB, with which nothing shares blocks."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a small disk")
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_clone_is_the_same_bytes_and_says_how_it_was_made(tmp_path: Path) -> None:
    source = dataset(tmp_path, MIB)
    done = clone_tree(LocalHost(), source, tmp_path / "clone", MIB)
    assert (tmp_path / "clone" / "ibdata1").read_bytes() == (source / "ibdata1").read_bytes()
    assert done.how == ("reflink" if shares_blocks(tmp_path, tmp_path) else "copy")


def test_a_copy_that_cannot_fit_is_reported_with_numbers_before_it_is_begun(
    tmp_path: Path, small_disk: Path
) -> None:
    source = dataset(tmp_path, 4096)
    with pytest.raises(LabError, match=r"takes 20M, and .*small has 8M free") as caught:
        clone_tree(LocalHost(), source, small_disk / "data", 20 * MIB)
    assert "mydyno datasets list" in (caught.value.hint or "")
    assert list(small_disk.iterdir()) == []


def test_a_disk_that_fills_up_in_the_midst_is_left_as_it_was(tmp_path: Path, small_disk: Path) -> None:
    source = dataset(tmp_path, 12 * MIB)
    with pytest.raises(LabError, match="No space left on device"):
        clone_tree(LocalHost(), source, small_disk / "data", 4 * MIB)
    assert list(small_disk.iterdir()) == []


def test_trying_whether_blocks_are_shared_leaves_no_trace(tmp_path: Path, small_disk: Path) -> None:
    shares_blocks(tmp_path, tmp_path)
    assert not shares_blocks(tmp_path, small_disk)
    assert not shares_blocks(tmp_path, tmp_path / "nowhere")
    assert [path.name for path in tmp_path.iterdir()] == ["small"]
    assert list(small_disk.iterdir()) == []
