"""The queue of a device, changed and put back."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lab.stack.builders import site_in
from lab.stack.loops import attached, needs_loops, sparse_file
from mydyno.core.errors import StorageError
from mydyno.lab.stack.storage.queues import queue_of, restore, set_number
from mydyno.machine.local import LocalHost

pytestmark = needs_loops


def test_a_partitions_queue_is_that_of_its_disk(tmp_path: Path) -> None:
    with attached(sparse_file(tmp_path / "disk")) as disk:
        subprocess.run(["addpart", str(disk), "1", "2048", "20480"], check=True)
        try:
            part = disk.with_name(f"{disk.name}p1")
            assert queue_of(LocalHost(), part) == Path(f"/sys/block/{disk.name}/queue")
            assert queue_of(LocalHost(), disk) == Path(f"/sys/block/{disk.name}/queue")
        finally:
            subprocess.run(["delpart", str(disk), "1"], check=True)


def test_a_change_is_journalled_until_it_is_restored(tmp_path: Path) -> None:
    site = site_in(tmp_path / "lab")
    with attached(sparse_file(tmp_path / "disk")) as disk:
        file = queue_of(site.host, disk) / "read_ahead_kb"
        before = file.read_text()
        changed = set_number(site, file, 64)
        assert changed is not None
        assert (file.read_text(), len(site.journal.outstanding())) == ("64\n", 1)
        restore(site, changed)
        assert (file.read_text(), site.journal.outstanding()) == (before, [])


def test_a_value_that_is_already_set_is_not_written(tmp_path: Path) -> None:
    site = site_in(tmp_path / "lab")
    with attached(sparse_file(tmp_path / "disk")) as disk:
        file = queue_of(site.host, disk) / "nr_requests"
        assert set_number(site, file, int(file.read_text())) is None
        assert site.journal.outstanding() == []


def test_a_value_that_the_kernel_refuses_leaves_nothing_in_the_journal(tmp_path: Path) -> None:
    site = site_in(tmp_path / "lab")
    with attached(sparse_file(tmp_path / "disk")) as disk:
        file = queue_of(site.host, disk) / "nr_requests"
        before = file.read_text()
        with pytest.raises(StorageError, match=r"nr_requests does not take '-1' \(it says '\d+'\): "):
            set_number(site, file, -1)
        assert (file.read_text(), site.journal.outstanding()) == (before, [])


def test_a_device_that_has_gone_has_nothing_to_restore(tmp_path: Path) -> None:
    site = site_in(tmp_path / "lab")
    with attached(sparse_file(tmp_path / "disk")) as disk:
        changed = set_number(site, queue_of(site.host, disk) / "read_ahead_kb", 64)
    assert changed is not None
    gone = changed.path.with_name("no_such_file")
    restore(site, type(changed)(gone, changed.before, changed.undo))
    assert site.journal.outstanding() == []
