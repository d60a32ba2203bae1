from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from lab.stack.datasets.builders import put, put_old
from mydyno.core.errors import UsageError
from mydyno.lab.stack.datasets import DatasetStore
from mydyno.lab.stack.datasets.store import touch
from mydyno.lab.stack.disk_base import FORMAT, BaseManifest, bases, bases_folder

DAY = 86400.0


def put_base(lab: Path, name: str, dataset: str) -> None:
    folder = bases_folder(lab) / name
    folder.mkdir(parents=True)
    place = Path("/mydyno/data")
    BaseManifest(
        format=FORMAT,
        shaped_by={},
        dataset=dataset,
        data=place,
        scratch=place,
        places={},
        settings={},
        size_bytes=1 << 20,
        seconds=1.0,
    ).write(folder)


def last_used(folder: Path, days_ago: float) -> None:
    then = time.time() - days_ago * DAY
    os.utime(folder / "manifest.json", (then, then))


def test_a_name_is_the_workload_with_as_much_of_the_fingerprint_as_distinguishes_it(tmp_path: Path) -> None:
    put(tmp_path, "aaaaaaaaaaaaaaa1")
    put(tmp_path, "aaaaaaaabbbbbbb2")
    put(tmp_path, "cccccccccccccccc", workload="smack")
    assert sorted(entry.name for entry in DatasetStore(tmp_path).entries()) == [
        "oltp-read-only-aaaaaaaaa",
        "oltp-read-only-aaaaaaaab",
        "smack-cccccc",
    ]


def test_the_last_used_comes_first_and_a_use_makes_it_so(tmp_path: Path) -> None:
    for days, fingerprint in ((3, "a" * 16), (1, "b" * 16), (2, "c" * 16)):
        last_used(put(tmp_path, fingerprint), days)
    store = DatasetStore(tmp_path)
    assert [entry.folder.name[0] for entry in store.entries()] == ["b", "c", "a"]
    touch(store.place("a" * 16))
    assert [entry.folder.name[0] for entry in store.entries()] == ["a", "b", "c"]


def test_a_dataset_is_found_by_its_name_and_by_the_start_of_its_fingerprint(tmp_path: Path) -> None:
    put(tmp_path, "abcdef0000000000")
    put(tmp_path, "abcdef1111111111")
    store = DatasetStore(tmp_path)
    assert store.find("oltp-read-only-abcdef0").folder.name == "abcdef0000000000"
    assert store.find("abcdef1111111111").name == "oltp-read-only-abcdef1"
    with pytest.raises(UsageError, match="unknown dataset oltp") as caught:
        store.find("oltp")
    assert "oltp-read-only-abcdef0" in (caught.value.hint or "")
    with pytest.raises(UsageError, match="more than one dataset matches abcdef"):
        store.find("abcdef")


def test_a_dataset_of_the_first_format_is_read_with_its_rows_and_without_checksums(tmp_path: Path) -> None:
    put_old(tmp_path)
    (entry,) = DatasetStore(tmp_path).entries()
    assert entry.name == "dataset-012345"
    assert entry.manifest is not None
    assert (entry.manifest.rows, entry.manifest.checksum, entry.manifest.workload) == (20_000, None, None)


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        ("", "its manifest is damaged: Invalid JSON"),
        ('{"format": 2}', "its manifest is damaged at fingerprint: Field required"),
        ('{"format": 9}', "made by another version of mydyno (format 9)"),
        (None, "its manifest cannot be read: No such file"),
    ],
)
def test_a_dataset_that_cannot_be_used_says_why_and_can_be_removed(
    tmp_path: Path, manifest: str | None, expected: str
) -> None:
    folder = put(tmp_path, "d" * 16)
    (folder / "manifest.json").unlink()
    if manifest is not None:
        (folder / "manifest.json").write_text(manifest)
    store = DatasetStore(tmp_path)
    (entry,) = store.entries()
    assert entry.manifest is None
    assert expected in (entry.trouble or "")
    store.remove(store.find("dataset-dddddd"))
    assert store.entries() == []


def test_a_dataset_without_its_data_and_one_that_a_kill_left_half_made_are_reported(tmp_path: Path) -> None:
    folder = put(tmp_path, "e" * 16)
    (folder / "data" / "ibdata1").unlink()
    (folder / "data").rmdir()
    (folder.parent / "mydyno-0123456789ab" / "data").mkdir(parents=True)
    troubles = {entry.name: entry.trouble for entry in DatasetStore(tmp_path).entries()}
    assert troubles["dataset-eeeeee"] == "damaged: its data is missing"
    assert (troubles["mydyno-0123456789ab"] or "").startswith("incomplete")


def test_unused_are_those_that_no_run_has_used_for_so_long_and_those_that_none_can_use(
    tmp_path: Path,
) -> None:
    last_used(put(tmp_path, "a" * 16), 40)
    last_used(put(tmp_path, "b" * 16), 20)
    (put(tmp_path, "c" * 16) / "manifest.json").write_text("{")
    unused = DatasetStore(tmp_path).unused_for(30 * DAY)
    assert sorted(entry.folder.name[0] for entry in unused) == ["a", "c"]


def test_the_bases_of_guests_disks_go_with_the_dataset_that_they_hold(tmp_path: Path) -> None:
    for fingerprint in ("a" * 16, "b" * 16):
        put(tmp_path, fingerprint)
        put_base(tmp_path, f"base-of-{fingerprint}", fingerprint)
    store = DatasetStore(tmp_path)
    entry = store.find("a" * 16)
    assert [base.name for base in entry.bases] == ["base-of-" + "a" * 16]
    store.remove(entry)
    assert [base.manifest.dataset for base in bases(tmp_path)] == ["b" * 16]


def test_a_lab_without_datasets_has_none(tmp_path: Path) -> None:
    assert DatasetStore(tmp_path).entries() == []
