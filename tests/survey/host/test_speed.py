"""Why a disk was not measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.survey.facts import FileSystem, Storage, Unread, Use
from mydyno.survey.host.machine import LocalMachine
from mydyno.survey.host.speed import measure


def storage(path: str, free: int) -> Storage:
    mount = FileSystem(mount_point=path, kind="ext4", source="/dev/sda", options=(), free_bytes=free)
    return Storage(filesystems=(mount,), uses=(Use(files="data", path=path, mount_point=path),))


def why(given: Storage) -> Unread:
    unread: list[Unread] = []
    assert measure(LocalMachine(), given, lambda text: None, unread) == ()
    (line,) = unread
    return line


def test_a_file_system_without_room_is_left_alone(tmp_path: Path) -> None:
    assert "100M are free" in why(storage(str(tmp_path), 100 << 20)).why
    assert list(tmp_path.iterdir()) == []


def test_data_that_lies_nobody_knows_where_is_not_measured() -> None:
    assert "not known where" in why(Storage()).why


@pytest.mark.parametrize("folder", ["/proc", "/mydyno-no-such-folder"])
def test_a_folder_that_takes_no_file_says_so_in_the_shells_words(folder: str) -> None:
    assert folder in why(storage(folder, 8 << 30)).why
