"""Releases come whole, stay while they are used, and go whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mydyno.core.errors import MissingToolError, ServerError, UsageError
from mydyno.server.releases import ReleaseStore, binary_of, install
from mydyno.server.releases.directory import Directory
from mydyno.server.releases.store import servers_folder
from server.releases.builders import program, says


def add(store: ReleaseStore, name: str, folder: Path) -> None:
    install(store, name, Directory(folder), lambda text: None)


@pytest.fixture
def build(open_folder: Path) -> Path:
    """A user's own build."""
    program(open_folder / "build" / "bin" / "mariadbd")
    return open_folder / "build"


def test_an_installed_release_is_found_by_its_name(store: ReleaseStore, build: Path) -> None:
    add(store, "mine", build)
    binary = binary_of("mine")
    assert binary.path == build / "bin" / "mariadbd"
    assert str(binary.version) == "MariaDB 10.11.19"
    (installed,) = store.all()
    assert (installed.name, installed.manifest.version) == ("mine", "MariaDB 10.11.19")
    assert (installed.manifest.provider, installed.manifest.source) == ("directory", str(build))


def test_two_builds_of_one_version_are_two_builds(
    store: ReleaseStore, build: Path, open_folder: Path
) -> None:
    program(open_folder / "patched" / "bin" / "mariadbd", says() + "# patched\n")
    add(store, "mine", build)
    add(store, "patched", open_folder / "patched")
    mine, patched = binary_of("mine"), binary_of("patched")
    assert mine.version == patched.version
    assert mine.build != patched.build


def test_a_directory_is_used_where_it_is_so_what_is_built_again_there_counts(
    store: ReleaseStore, build: Path
) -> None:
    add(store, "mine", build)
    before = binary_of("mine").build
    program(build / "bin" / "mariadbd", says("mariadbd  Ver 10.11.20-MariaDB for Linux on x86_64"))
    assert str(binary_of("mine").version) == "MariaDB 10.11.20"
    assert binary_of("mine").build != before


def test_a_directory_that_has_gone_is_reported_with_the_release(store: ReleaseStore, build: Path) -> None:
    add(store, "mine", build)
    (build / "bin" / "mariadbd").unlink()
    with pytest.raises(
        MissingToolError, match=f"release mine: the server binary {build}/bin/mariadbd does not"
    ):
        binary_of("mine")


def test_what_is_not_a_server_is_not_installed(store: ReleaseStore, open_folder: Path) -> None:
    program(open_folder / "odd" / "bin" / "mysqld", "#!/bin/sh\necho sleep 9.1\n")
    with pytest.raises(ServerError, match="not a MySQL or MariaDB server"):
        add(store, "odd", open_folder / "odd")
    assert store.names() == []
    assert [path.name for path in store.folder.iterdir()] == ["lock"]


def test_an_install_that_is_interrupted_leaves_nothing(store: ReleaseStore, build: Path) -> None:
    def interrupt(text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        install(store, "mine", Directory(build), interrupt)
    assert [path.name for path in store.folder.iterdir()] == ["lock"]


def test_what_a_killed_install_left_is_not_a_release_and_is_swept(store: ReleaseStore, build: Path) -> None:
    (store.folder / ".partial-dead" / "release").mkdir(parents=True)
    assert store.names() == []
    add(store, "mine", build)
    assert sorted(path.name for path in store.folder.iterdir()) == ["lock", "mine"]


def test_a_release_that_is_removed_is_gone_and_the_users_directory_stays(
    store: ReleaseStore, build: Path
) -> None:
    add(store, "mine", build)
    assert store.remove("mine")
    assert not store.remove("mine")
    assert store.installed("mine") is None
    assert (build / "bin" / "mariadbd").exists()
    assert [path.name for path in store.folder.iterdir()] == ["lock"]


def test_a_release_in_use_is_not_removed(store: ReleaseStore, build: Path) -> None:
    add(store, "mine", build)
    with (
        store.in_use(["mine"]),
        store.in_use(["mine"]),
        pytest.raises(UsageError, match="mine is in use by a mydyno that is running"),
    ):
        store.remove("mine")
    assert store.remove("mine")


def test_a_release_that_is_gone_cannot_be_used(store: ReleaseStore) -> None:
    with pytest.raises(UsageError, match="the release mine is not here any more"), store.in_use(["mine"]):
        pytest.fail("it was used")


def test_a_release_of_another_mydyno_is_named_and_can_be_removed(store: ReleaseStore) -> None:
    (store.folder / "old").mkdir(parents=True)
    (store.folder / "old" / "manifest.json").write_text('{"format": 99}')
    assert (store.names(), store.all()) == (["old"], [])
    assert store.remove("old")


def test_a_release_that_can_be_had_but_is_not_here_says_how_to_get_it(store: ReleaseStore) -> None:
    with pytest.raises(MissingToolError, match=r"mysql-5.6 \(MySQL 5.6.24\) is not installed") as caught:
        binary_of("mysql-5.6")
    assert caught.value.hint == "install it: mydyno servers add mysql-5.6"


def test_an_unknown_release_names_the_nearest(store: ReleaseStore) -> None:
    with pytest.raises(UsageError, match=r"unknown server release 'mysql-5.8' \(did you mean 'mysql-5.\d'"):
        binary_of("mysql-5.8")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's servers run as another user")
def test_releases_of_root_lie_where_the_servers_user_may_enter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MYDYNO_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    tmp_path.chmod(0o700)
    assert servers_folder() == Path("/var/cache/mydyno/servers")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert servers_folder() == tmp_path / "xdg" / "mydyno" / "servers"
