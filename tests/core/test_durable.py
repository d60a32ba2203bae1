import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mydyno.core.durable import SyncedLog, replace_file, replacing


def test_replacing_follows_a_link_and_keeps_the_permissions(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    with replacing(link) as file:
        file.write(b"new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_failed_replacement_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("old")
    with suppress(KeyboardInterrupt), replacing(target) as file:
        file.write(b"new")
        raise KeyboardInterrupt
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_replace_file_replaces_a_link_and_writes_over_what_a_kill_has_left(tmp_path: Path) -> None:
    precious, name = tmp_path / "precious", tmp_path / "plan.json"
    precious.write_text("precious")
    name.symlink_to(precious)
    (tmp_path / ".plan.json.partial").symlink_to(precious)
    replace_file(name, "new")
    assert (name.read_text(), name.is_symlink(), precious.read_text()) == ("new", False, "precious")
    assert sorted(tmp_path.iterdir()) == [name, precious]


@given(cut=st.integers(min_value=0, max_value=30))
def test_a_log_cut_at_any_byte_keeps_its_whole_lines_and_goes_on_after_them(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("log")
    log = SyncedLog(folder, folder / "log")
    assert log.lines() == []
    lines = [b"first", b"", b"a third line"]
    for line in lines:
        log.append(line)
    assert log.lines() == lines
    content = log.path.read_bytes()
    log.path.write_bytes(content[:cut])
    whole = lines[: content[:cut].count(b"\n")]
    assert log.lines() == whole
    log.append(b"last")
    assert log.lines() == [*whole, b"last"]


def test_a_line_and_the_name_of_a_new_log_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    log = SyncedLog(tmp_path, tmp_path / "log")
    log.append(b"one")
    log.append(b"two")
    assert synced == [str(tmp_path), str(log.path), str(log.path)]


def test_a_log_follows_no_link(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (tmp_path / "log").symlink_to(precious)
    log = SyncedLog(tmp_path, tmp_path / "log")
    with pytest.raises(OSError, match="symbolic link"):
        log.lines()
    with pytest.raises(OSError, match="symbolic links"):
        log.append(b"line")
    assert precious.read_text() == "precious"
