from __future__ import annotations

import os
from pathlib import Path

import pytest

from mydyno.lab.stack.cache import PageCache, drop, look, read_fincore
from mydyno.machine.local import LocalHost

MIB = 1 << 20


def on_a_disk(folder: Path) -> bool:
    """Whether its files are anywhere but in the page cache."""
    kinds = LocalHost().run(["stat", "--file-system", "--format=%T", str(folder)]).stdout.strip()
    return kinds not in ("tmpfs", "ramfs")


def test_only_the_files_below_the_folders_are_dropped_and_what_stayed_is_read_back(tmp_path: Path) -> None:
    if not on_a_disk(tmp_path):
        pytest.skip("the temporary folder is in memory: nothing of it can be dropped")
    host = LocalHost()
    ours, other = tmp_path / "ours", tmp_path / "other"
    for folder in (ours, other):
        (folder / "deep").mkdir(parents=True)
        (folder / "deep" / "a file").write_bytes(os.urandom(4 * MIB))
        (folder / "empty").touch()
        assert host.run(["sync", "--file-system", str(folder)]).returncode == 0
    # A kernel that is short of memory takes pages away at any time: never more are there than should be.
    for folder in (ours, other):
        assert (folder / "deep" / "a file").read_bytes()
        assert (look(host, [folder]).cached_bytes or 0) > 0
    drop(host, [ours])
    assert look(host, [ours]) == PageCache(4 * MIB, 0)
    kept = look(host, [other, ours])
    assert kept.file_bytes == 8 * MIB
    assert 0 < (kept.cached_bytes or 0) <= 4 * MIB


def test_several_documents_of_fincore_are_summed() -> None:
    one = '{"fincore": [{"res": 4096, "size": 5000},\n{"res": 0, "size": 1},{"res": 4096, "size": 4}]}\n'
    assert read_fincore(one + one) == PageCache(10_010, 8200)
    assert read_fincore("") == PageCache(0, 0)
