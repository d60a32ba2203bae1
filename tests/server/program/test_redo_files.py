"""Which redo log files an old server would not start on."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.core.server_variables import Setting
from mydyno.core.server_version import parse_version
from mydyno.machine.local import LocalHost
from mydyno.server.program.binary import ServerBinary
from mydyno.server.program.file_places import (
    refused_redo_files,
    remove_refused_redo_files,
    replaces_redo_files,
)

MIB = 1024 * 1024
TWO_OF_5M = {"ib_logfile0": 5 * MIB, "ib_logfile1": 5 * MIB}
ALL = ("ib_logfile0", "ib_logfile1")


def server(version: str) -> ServerBinary:
    options = {"innodb_log_file_size": str(5 * MIB), "innodb_log_files_in_group": "2"}
    return ServerBinary(Path("/opt/mysqld"), parse_version(f"mysqld  Ver {version} for Linux"), options)


@pytest.mark.parametrize(
    ("sizes", "size", "files", "refused"),
    [
        (TWO_OF_5M, 5 * MIB, 2, ()),
        (TWO_OF_5M, 64 * MIB, 2, ALL),
        (TWO_OF_5M, 5 * MIB, 3, ALL),
        ({"ib_logfile0": 5 * MIB, "ib_logfile1": 8 * MIB}, 5 * MIB, 2, ALL),
        (TWO_OF_5M, None, None, ()),
        ({}, 64 * MIB, 2, ()),
    ],
)
def test_all_files_are_refused_or_none(
    sizes: dict[str, int], size: int | None, files: int | None, refused: tuple[str, ...]
) -> None:
    assert refused_redo_files(sizes, size=size, files=files) == refused


@pytest.mark.parametrize(
    ("version", "replaces"),
    [
        *(("5.1.73", False), ("5.5.62", False), ("5.6.7", False), ("5.6.8", True), ("5.7.44", True)),
        *(("5.5.68-MariaDB", False), ("10.0.38-MariaDB", True), ("10.11.19-MariaDB", True)),
    ],
)
def test_newer_releases_replace_the_files_by_themselves(version: str, replaces: bool) -> None:
    assert replaces_redo_files(server(version).version) is replaces


@pytest.mark.parametrize(
    ("version", "config", "left"),
    [
        ("5.5.62", {"innodb_log_file_size": "64M"}, ["ibdata1"]),
        ("5.5.62", {"innodb_log_files_in_group": 3}, ["ibdata1"]),
        ("5.5.62", {"innodb_log_file_size": "5M"}, [*ALL, "ibdata1"]),
        ("5.5.62", {}, [*ALL, "ibdata1"]),
        ("5.6.24", {"innodb_log_file_size": "64M"}, [*ALL, "ibdata1"]),
    ],
)
def test_the_files_are_removed_only_where_an_old_server_would_refuse_them(
    tmp_path: Path, version: str, config: dict[str, Setting], left: list[str]
) -> None:
    (tmp_path / "ibdata1").touch()
    for name, size in TWO_OF_5M.items():
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    remove_refused_redo_files(LocalHost(), server(version), tmp_path, config)
    assert sorted(path.name for path in tmp_path.iterdir()) == left
