"""Which files of a server go where, and the settings that say so to each release."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from lab.stack.builders import mariadb, mysql, options_of

from mydyno.core.server_files import HOMES, VOLUMES, FileKind, home_of, kinds_on
from mydyno.lab.stack.server.placement import misplaced
from mydyno.server.program.file_places import KINDS, Place, has_binary_log, place_settings_of, undo_settings

DATA = Path("/run/mydyno/data/mydyno/data")
PLACES = {kind.name: Place(Path(f"/run/mydyno/{home_of(kind.name, VOLUMES)}/mydyno"), DATA) for kind in KINDS}


def test_every_kind_of_files_has_its_home_and_every_volume_something_to_hold() -> None:
    assert [kind.name for kind in KINDS] == list(HOMES)
    assert all(kinds_on(name) for name in VOLUMES)
    assert [home_of("binary log", there) for there in (("data",), ("data", "log"), VOLUMES)] == [
        "data",
        "log",
        "binlog",
    ]


def test_each_release_is_reported_by_the_variables_that_it_has() -> None:
    common = {
        "innodb_log_group_home_dir": "/run/mydyno/log/mydyno",
        "log_bin": "/run/mydyno/binlog/mydyno/binlog",
        "log_bin_index": "/run/mydyno/binlog/mydyno/binlog.index",
        "innodb_undo_directory": "/run/mydyno/undo/mydyno",
        "tmpdir": "/run/mydyno/tmp/mydyno/scratch",
        "innodb_temp_data_file_path": "../../../tmp/mydyno/ibtmp1:12M:autoextend",
    }
    assert place_settings_of(mariadb(), PLACES, {"log_bin": True}) == common
    assert place_settings_of(mysql(), PLACES, {}) == {
        **common,
        "innodb_temp_tablespaces_dir": "/run/mydyno/tmp/mydyno/sessions",
    }


@pytest.mark.parametrize(
    ("release", "temporary", "undo_tablespaces", "binary_log"),
    [
        ("mysql-5.6.24", [], 3, False),
        ("mariadb-10.5.29", ["innodb_temp_data_file_path"], 3, False),
        ("mariadb-10.11.19", ["innodb_temp_data_file_path"], 3, False),
        ("mariadb-11.8.6", ["innodb_temp_data_file_path"], None, False),
        ("mysql-9.7.4", ["innodb_temp_data_file_path", "innodb_temp_tablespaces_dir"], None, True),
    ],
)
def test_what_the_binary_shows_of_itself_decides(
    release: str, temporary: list[str], undo_tablespaces: int | None, binary_log: bool
) -> None:
    binary = replace(mariadb(), options=options_of(release))
    result = place_settings_of(binary, {"temporary files": PLACES["temporary files"]}, {})
    assert list(result) == ["tmpdir", *temporary]
    assert undo_settings(binary, {}).get("innodb_undo_tablespaces") == undo_tablespaces
    assert has_binary_log(binary, {}) is binary_log
    common = {"innodb_log_group_home_dir", "innodb_undo_directory", "log_bin", "log_bin_index"}
    assert common <= place_settings_of(binary, PLACES, {"log_bin": True}).keys()


def test_a_place_of_the_binary_log_does_not_turn_it_on() -> None:
    assert "log_bin" not in place_settings_of(mariadb(), PLACES, {})
    assert "log_bin_index" not in place_settings_of(mysql(), PLACES, {"log_bin": "OFF"})
    assert [has_binary_log(binary, {}) for binary in (mariadb(), mysql())] == [False, True]


def test_a_release_without_undo_tablespaces_is_given_some() -> None:
    assert undo_settings(mariadb(), {}) == {"innodb_undo_tablespaces": 3}
    assert undo_settings(mariadb(), {"innodb_undo_tablespaces": 4}) == {}
    assert undo_settings(mysql(), {}) == {}


@pytest.mark.parametrize(
    ("name", "moved"),
    [
        ("ib_logfile0", "redo log"),
        ("ib_logfile101", "redo log"),
        ("#innodb_redo", "redo log"),
        ("undo001", "undo tablespaces"),
        ("undo_002", "undo tablespaces"),
        ("ibdata1", None),
        ("ib_buffer_pool", None),
        ("undo", None),
        ("mysql", None),
    ],
)
def test_what_is_moved_out_of_a_data_directory_at_rest(name: str, moved: str | None) -> None:
    assert [kind.name for kind in KINDS if re.fullmatch(kind.at_rest, name)] == ([moved] if moved else [])


SEEN = [
    "/run/mydyno/data/mydyno/data/ibdata1",
    "/run/mydyno/log/mydyno/#innodb_redo/#ib_redo9",
    "/run/mydyno/binlog/mydyno/binlog.000001",
    "/run/mydyno/binlog/mydyno/binlog.index",
    "/run/mydyno/undo/mydyno/undo_001",
    "/run/mydyno/tmp/mydyno/ibtmp1",
    "/run/mydyno/tmp/mydyno/sessions/temp_1.ibt",
    "/run/mydyno/tmp/mydyno/scratch/ibXY12ab (deleted)",
]


@pytest.mark.parametrize("name", PLACES)
def test_files_that_are_open_on_their_volume_are_right(name: FileKind) -> None:
    assert list(misplaced(name, PLACES[name], SEEN)) == []


def test_files_that_are_open_elsewhere_are_reported() -> None:
    undo = "/run/mydyno/data/mydyno/data/undo_002"
    assert list(misplaced("undo tablespaces", PLACES["undo tablespaces"], [*SEEN, undo])) == [
        f"undo tablespaces: {undo} is open, and should be in /run/mydyno/undo/mydyno"
    ]
    sorting = "/tmp/mydyno-x/ML1 (deleted)"
    assert list(misplaced("temporary files", PLACES["temporary files"], [*SEEN, sorting])) == [
        f"temporary files: {sorting} is open, and should be in /run/mydyno/tmp/mydyno"
    ]


def test_files_of_which_none_is_open_are_reported() -> None:
    assert list(misplaced("redo log", PLACES["redo log"], SEEN[:1])) == [
        "redo log: the server has none of its files open, and they should be in /run/mydyno/log/mydyno"
    ]
