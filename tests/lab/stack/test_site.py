import os
import tempfile
from pathlib import Path

import pytest

from lab.stack.builders import site_in
from mydyno.core.errors import LabError
from mydyno.lab.stack.site import LONGEST_SOCKET_PATH
from mydyno.lab.stack.undo import PRIVATE_NAME, RemoveTree


def test_a_private_folder_is_in_the_journal_and_closed_to_others(open_folder: Path) -> None:
    site = site_in(open_folder / "lab")
    folder = site.roomy_folder()
    assert folder.path.parent == open_folder / "lab" / "run"
    assert PRIVATE_NAME.fullmatch(folder.path.name)
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert site.journal.outstanding() == [RemoveTree(path=folder.path)]
    site.remove(folder)
    assert not folder.path.exists()
    assert site.journal.outstanding() == []


def test_private_folders_belong_to_the_user_that_servers_run_as(open_folder: Path) -> None:
    site = site_in(open_folder / "lab")
    identity = site.host.server_identity
    assert site.roomy_folder().path.stat().st_uid == (identity.uid if identity else os.geteuid())


def test_a_folder_for_sockets_is_made_where_the_path_is_short_enough(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = site_in(open_folder / "lab")
    for length in range(20, 120, 7):
        deep = open_folder / ("d" * length)
        deep.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(deep))
        folder = site.short_folder()
        fits = len(os.fsencode(deep / "mydyno-0123456789ab" / "s.sock")) <= LONGEST_SOCKET_PATH
        assert (folder.path.parent == deep) == fits
        assert len(os.fsencode(folder.path / "s.sock")) <= LONGEST_SOCKET_PATH
        site.remove(folder)


def test_a_folder_that_cannot_be_made_is_named_and_forgotten(open_folder: Path) -> None:
    site = site_in(open_folder / "lab")
    with pytest.raises(LabError, match="missing/mydyno-"):
        site.folder_in(open_folder / "missing")
    assert site.journal.outstanding() == []
