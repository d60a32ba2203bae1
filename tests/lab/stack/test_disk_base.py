"""The bases of a lab, as folders: which can be used, and what is removed."""

from __future__ import annotations

from pathlib import Path

from mydyno.lab.stack.disk_base import (
    FORMAT,
    BaseManifest,
    bases,
    bases_folder,
    read_base,
    remove_base,
    remove_useless,
)
from mydyno.server.program.file_places import Place

REDO = Place(Path("/run/mydyno/log/mydyno"), Path("/run/mydyno/data/mydyno/data"))


def base(lab: Path, name: str, number: int = FORMAT) -> Path:
    folder = bases_folder(lab) / name
    folder.mkdir(parents=True)
    image = folder / "data-0.img"
    image.write_bytes(b"bytes")
    image.chmod(0o444)
    manifest = BaseManifest(
        format=number,
        shaped_by={"storage": {"data": {"raid": 10}}},
        dataset="0123456789abcdef",
        data=Path("/run/mydyno/data/mydyno/data"),
        scratch=Path("/run/mydyno/data/mydyno/scratch"),
        places={"redo log": REDO},
        settings={"innodb_data_home_dir": "", "innodb_data_file_path": "/dev/vdb:128Mraw"},
        size_bytes=4096,
        seconds=20.5,
    )
    manifest.write(folder)
    return folder


def test_a_base_is_read_as_it_was_written(tmp_path: Path) -> None:
    folder = base(tmp_path, "aaaa")
    [found] = bases(tmp_path)
    assert (found.name, found.folder) == ("aaaa", folder)
    assert found.manifest.places == {"redo log": REDO}
    assert found.manifest.settings["innodb_data_file_path"] == "/dev/vdb:128Mraw"
    assert found.manifest.data == Path("/run/mydyno/data/mydyno/data")


def test_a_lab_without_bases_has_none(tmp_path: Path) -> None:
    assert bases(tmp_path) == []
    remove_useless(tmp_path)


def test_a_base_of_another_format_is_none_and_makes_room(tmp_path: Path) -> None:
    old, new = base(tmp_path, "aaaa", FORMAT + 1), base(tmp_path, "bbbb")
    assert read_base(old) is None
    remove_useless(tmp_path)
    assert not old.exists()
    assert read_base(new) is not None


def test_what_a_kill_left_of_a_removed_base_is_none(tmp_path: Path) -> None:
    folder = base(tmp_path, "aaaa")
    (folder / "manifest.json").unlink()
    assert bases(tmp_path) == []
    remove_useless(tmp_path)
    assert not folder.exists()


def test_a_base_that_is_being_made_is_neither_shown_nor_removed(tmp_path: Path) -> None:
    staging = bases_folder(tmp_path) / "mydyno-0123456789ab"
    staging.mkdir(parents=True)
    assert bases(tmp_path) == []
    remove_useless(tmp_path)
    assert staging.exists()


def test_a_removed_base_is_gone(tmp_path: Path) -> None:
    remove_base(base(tmp_path, "aaaa"))
    assert bases(tmp_path) == []
    assert list(bases_folder(tmp_path).iterdir()) == []
