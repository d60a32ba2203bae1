"""Names that another user has chosen lead to regular files below their folder, or nowhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mydyno.core.beneath import BeneathError, exists_below, read_below, write_below


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    (inside / "sub").mkdir(parents=True)
    (inside / "sub" / "words").write_bytes(b"a\nb\n")
    (tmp_path / "secret").write_text("geheim")
    return inside


def test_a_file_below_the_folder_is_read_and_made(folder: Path) -> None:
    assert read_below(folder, folder / "sub//./words", 4) == b"a\nb\n"
    assert not exists_below(folder, folder / "sub/more")
    write_below(folder, folder / "sub/more", b"x")
    assert exists_below(folder, folder / "sub/more")
    assert (folder / "sub" / "more").read_bytes() == b"x"
    assert len(list((folder / "sub").iterdir())) == 2


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret", "sub/../../secret", "..", "", ".", "a\0b"])
def test_a_name_that_leads_out_is_refused(folder: Path, name: str) -> None:
    for use in (
        lambda: read_below(folder, folder / name, 99),
        lambda: write_below(folder, folder / name, b""),
    ):
        with pytest.raises(BeneathError, match=r"the path (is absolute|leads out)"):
            use()


def test_links_are_not_followed(folder: Path) -> None:
    (folder / "file").symlink_to("../secret")
    (folder / "up").symlink_to("..")
    for name in ("file", "up/secret"):
        with pytest.raises(BeneathError, match="symbolic link"):
            read_below(folder, folder / name, 99)
    with pytest.raises(BeneathError, match="symbolic link"):
        write_below(folder, folder / "up/made", b"x")
    assert exists_below(folder, folder / "file")


def test_only_a_regular_file_of_a_reasonable_size_is_read(folder: Path) -> None:
    os.mkfifo(folder / "fifo")
    for name in ("fifo", "sub"):
        with pytest.raises(BeneathError, match="it is not a regular file"):
            read_below(folder, folder / name, 99)
    with pytest.raises(BeneathError, match="it is not a regular file"):
        read_below(Path("/dev"), Path("/dev/zero"), 99)
    with pytest.raises(BeneathError, match="it is larger than 3 bytes"):
        read_below(folder, folder / "sub/words", 3)


def test_a_file_that_is_there_is_not_overwritten(folder: Path) -> None:
    with pytest.raises(FileExistsError):
        write_below(folder, folder / "sub/words", b"other")
    assert [path.name for path in (folder / "sub").iterdir()] == ["words"]
    assert (folder / "sub" / "words").read_bytes() == b"a\nb\n"
